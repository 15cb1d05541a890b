"""Models built with `tvm.relax.frontend.nn`; needs apache-tvm, and runs with 0.25 and 0.27."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyright: reportOperatorIssue=false, reportArgumentType=false, reportAssignmentType=false, reportUntypedBaseClass=false, reportMissingParameterType=false, reportAttributeAccessIssue=false

from collections.abc import Iterator
from itertools import pairwise

from tvm.relax.frontend import nn


class Mlp(nn.Module):
    """A perceptron: `layers` hidden layers with a relu behind each."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(16, 16) for _ in range(layers)])
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        for layer in self.hidden:
            x = nn.op.relu(layer(x))
        return nn.op.softmax(self.last(x))


class ConvNet(nn.Module):
    """Convolutions with group norm and silu, then a mean over the image and a classifier."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        widths = [3, *[8] * layers]
        pairs = pairwise(widths)
        self.convolutions = nn.ModuleList([nn.Conv2D(a, b, 3, padding=1, bias=True) for a, b in pairs])
        self.norms = nn.ModuleList([nn.GroupNorm(2, 8) for _ in range(layers)])
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = nn.op.silu(norm(convolution(x)))
        batch, channels, height, width = x.shape
        x = nn.op.sum(nn.op.reshape(x, (batch, channels, height * width)), axis=2) * (1.0 / (height * width))
        return self.last(x)


class DecoderLayer(nn.Module):
    """Attention over all positions with a causal mask, then a gated feed-forward part, each behind a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.norm_in = nn.RMSNorm(width, -1, 1e-5, bias=False)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm_mid = nn.LayerNorm(width)
        self.gate_up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        qkv = nn.op.reshape(self.qkv(self.norm_in(x)), (batch, length, 3, self.heads, self.head_width))
        q, k, v = (nn.op.squeeze(item, 2) for item in nn.op.split(qkv, 3, axis=2))
        q, k, v = (nn.op.permute_dims(item, [0, 2, 1, 3]) for item in (q, k, v))
        scores = nn.op.matmul(q, nn.op.permute_dims(k, [0, 1, 3, 2])) * (self.head_width**-0.5)
        scores = nn.op.minimum(scores, mask)
        attended = nn.op.matmul(nn.op.softmax(scores, axis=-1), v)
        attended = nn.op.reshape(nn.op.permute_dims(attended, [0, 2, 1, 3]), (batch, length, width))
        x = x + self.out(attended)
        gate, up = nn.op.split(self.gate_up(self.norm_mid(x)), 2, axis=-1)
        return x + self.down(nn.op.silu(gate) * up)


class Decoder(nn.Module):
    """A transformer decoder over token numbers, of symbolic batch and sequence length, without a key-value cache."""

    def __init__(self, layers: int, width: int = 16, heads: int = 2, vocabulary: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([DecoderLayer(width, heads) for _ in range(layers)])
        self.norm = nn.RMSNorm(width, -1, 1e-5, bias=False)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        _, length = tokens.shape
        mask = nn.op.triu(nn.op.full((length, length), nn.Tensor.from_scalar(-10000.0, "float32")), 1)
        mask = nn.op.full((length, length), nn.Tensor.from_scalar(10000.0, "float32")) + mask
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, nn.op.broadcast_to(nn.op.reshape(mask, (1, 1, length, length)), (1, 1, length, length)))
        return self.head(self.norm(x))


def models(layer_counts: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    """Give every model with every number of layers, as a name and a module of TVM."""
    tensor = nn.spec.Tensor
    for layers in layer_counts:
        for name, model, inputs in (
            ("mlp", Mlp(layers), {"x": tensor(("n", 16), "float32")}),
            ("conv", ConvNet(layers), {"x": tensor((1, 3, 8, 8), "float32")}),
            ("decoder", Decoder(layers), {"tokens": tensor(("batch", "length"), "int32")}),
        ):
            module, _ = model.export_tvm(spec={"forward": inputs})
            yield f"{name} of {layers}", module


def transformer(layers: int, width: int, heads: int, vocabulary: int) -> object:
    """Give a decoder whose batch is 1 and whose sequence length is symbolic."""
    tokens = nn.spec.Tensor((1, "length"), "int32")
    module, _ = Decoder(layers, width, heads, vocabulary).export_tvm(spec={"forward": {"tokens": tokens}})
    return module
