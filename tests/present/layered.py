"""Models whose layers are equal up to names and weights, of any number of layers."""

from collections.abc import Collection

_TYPE = 'R.Tensor((4, 8), "float32")'
_LAYER = (
    ("norm", "R.multiply({x}, layers_{n}_norm)"),
    ("wt", "R.permute_dims(layers_{n}_proj)"),
    ("proj", "R.matmul({norm}, {wt})"),
    ("act", "R.nn.{act}({proj})"),
    ("scaled", "R.multiply({act}, mask)"),
    ("twice", "R.add({scaled}, {proj})"),
    ("tanh", "R.tanh({twice})"),
    ("out", "R.add({x}, {tanh})"),
)
LAYER_LENGTH = len(_LAYER)


def layered(count: int, others: Collection[int] = ()) -> str:
    """Write a model of so many layers of 8 bindings, 2 weights each; those in `others` have another operator."""
    weights = [
        f'layers_{n}_{name}: R.Tensor({shape}, "float32")'
        for n in range(count)
        for name, shape in (("norm", "(8,)"), ("proj", "(8, 8)"))
    ]
    lines = ["mask = R.exp(x)", "start = R.add(x, embedding)"]
    last = "start"
    for n in range(count):
        names = {"x": last, "n": str(n), "act": "silu" if n in others else "relu"}
        bound = {name: f"lv{n * LAYER_LENGTH + place}" for place, (name, _) in enumerate(_LAYER)}
        for name, words in _LAYER:
            act = names["act"] if name == "act" else bound["act"]
            lines.append(f"{bound[name]} = {words.format_map({**bound, **names, 'act': act})}")
        last = bound["out"]
    lines.append(f"gv = R.multiply({last}, head)")
    params = ", ".join((f"x: {_TYPE}", f"embedding: {_TYPE}", *weights, f"head: {_TYPE}"))
    body = "".join(f"            {line}\n" for line in lines)
    return (
        f"@I.ir_module\nclass Module:\n    @R.function\n    def main({params}) -> {_TYPE}:\n"
        f"        with R.dataflow():\n{body}            R.output(gv)\n        return gv\n"
    )


_ATTENTION = """norm = R.multiply({x}, layers_{n}_norm_in)
qw = R.permute_dims(layers_{n}_attn_q_weight)
qm = R.matmul({norm}, {qw})
q = R.add({qm}, layers_{n}_attn_q_bias)
kw = R.permute_dims(layers_{n}_attn_k_weight)
k = R.matmul({norm}, {kw})
kt = R.permute_dims({k})
s = R.matmul({q}, {kt})
p = R.nn.softmax({s})
ow = R.permute_dims(layers_{n}_attn_out_weight)
a = R.matmul({p}, {norm})
o = R.matmul({a}, {ow})
r = R.add({x}, {o})
post = R.multiply({r}, layers_{n}_norm_out)
u = R.matmul({post}, layers_{n}_mlp_up)
act = R.nn.silu({u})
d = R.matmul({act}, layers_{n}_mlp_down)
out = R.add({r}, {d})"""
_WEIGHTS_OF_ATTENTION = (
    ("norm_in", "(8,)"), ("norm_out", "(8,)"), ("attn_q_weight", "(8, 8)"), ("attn_q_bias", "(8,)"),
    ("attn_k_weight", "(8, 8)"), ("attn_out_weight", "(8, 8)"), ("mlp_up", "(8, 8)"), ("mlp_down", "(8, 8)"),
)  # fmt: skip


def attending(count: int) -> str:
    """Write a model of so many layers of an attention and an mlp, whose weights are named as an exported model's."""
    weights = [
        f'layers_{n}_{name}: R.Tensor({shape}, "float32")'
        for n in range(count)
        for name, shape in _WEIGHTS_OF_ATTENTION
    ]
    params = ", ".join((f"x: {_TYPE}", *weights))
    names = [line.partition(" = ")[0] for line in _ATTENTION.splitlines()]
    lines: list[str] = []
    last = "x"
    for n in range(count):
        bound = {name: f"{name}{n}" for name in names}
        for line in _ATTENTION.splitlines():
            name, _, words = line.partition(" = ")
            lines.append(f"            {bound[name]} = {words.format_map({**bound, 'x': last, 'n': n})}\n")
        last = bound["out"]
    return (
        f"@I.ir_module\nclass Module:\n    @R.function\n    def main({params}) -> {_TYPE}:\n"
        f"        with R.dataflow():\n{''.join(lines)}            R.output({last})\n        return {last}\n"
    )
