"""Convolutions and padded pools in tiles, as operators are lowered: equal to the naive lowering bit for bit."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.passes.pipeline import run_pipeline
from tests.jit.programs import sizes_of
from tests.jit.transforms.nests import ENGINES, WIDTHS, compare, filled

SIZES = st.integers(3, 20)
STEPS = st.integers(1, 3)
MODULE = """
@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
            out = {call}
            R.output(out)
        return out
"""


@dataclass(frozen=True)
class Convolution:
    """An operator; `data` and `kernel` are shapes with letters for sizes, a pool has no kernel."""

    operator: str
    data: str
    kernel: str
    attrs: str
    dtype: str = "float32"

    def function(self, sizes: dict[str, int]) -> PrimFunc:
        """Lower it for these sizes."""
        shapes = [eval_shape(shape, sizes) for shape in (self.data, self.kernel) if shape]
        params = [f'{name}: R.Tensor({shape}, "{self.dtype}")' for name, shape in zip("xw", shapes, strict=False)]
        arguments = ", ".join(("x", "w")[: len(shapes)])
        call = f"R.nn.{self.operator}({arguments}, {self.attrs.format(**sizes)})"
        text = MODULE.format(params=", ".join(params), call=call)
        module = parse_text(text, "convolution.py").modules[0]
        lowered = run_pipeline(module, "LegalizeOps")[-1].after
        return next(function for _, function in lowered.prim_funcs)


def eval_shape(shape: str, sizes: dict[str, int]) -> tuple[int, ...]:
    """Return the sizes that a shape's letters stand for; two letters are multiplied."""
    return tuple(int(np.prod([sizes.get(letter, 0) or int(letter) for letter in word])) for word in shape.split())


PADDED = "strides=({s}, {s}), padding=({p}, {q}), dilation=({d}, {d})"
NHWC = 'data_layout="NHWC", kernel_layout="HWIO"'
CONVOLUTIONS = {
    "channels first": Convolution("conv2d", "n i h w", "o i 3 2", PADDED),
    "channels last": Convolution("conv2d", "n h w i", "2 3 i o", f"{PADDED}, {NHWC}"),
    "groups": Convolution("conv2d", "n gi h w", "go i 3 3", f"{PADDED}, groups={{g}}"),
    "groups, channels last": Convolution("conv2d", "n h w gi", "3 3 i go", f"{PADDED}, {NHWC}, groups={{g}}"),
    "depthwise": Convolution("conv2d", "n i h w", "i 1 3 3", f"{PADDED}, groups={{i}}"),
    "depthwise, channels last": Convolution(
        "conv2d", "n h w i", "3 3 i 1", f'{PADDED}, data_layout="NHWC", kernel_layout="HWOI", groups={{i}}'
    ),
    "of one pixel": Convolution("conv2d", "n i h w", "o i 1 1", "strides=({s}, {s})"),
    "of doubles": Convolution("conv2d", "n i h w", "o i 3 2", PADDED, "float64"),
    "of a line": Convolution("conv1d", "n i w", "o i 3", "strides={s}, padding={p}, dilation={d}"),
    "transposed": Convolution("conv2d_transpose", "n i h w", "i o 3 2", PADDED),
    "transposed, of integers": Convolution("conv2d_transpose", "n i h w", "i o 2 3", PADDED, "int32"),
    "greatest of a pool": Convolution("max_pool2d", "n i h w", "", f"pool_size=(3, 3), {PADDED}"),
    "of a volume": Convolution("conv3d", "n i 4 h w", "o i 2 2 3", "strides=({s}, 1, {s}), padding=({p}, 0, {q})"),
}


@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize("name", CONVOLUTIONS)
@given(
    image=st.tuples(SIZES, SIZES),
    channels=st.tuples(st.integers(1, 2), st.integers(2, 9), st.integers(1, 20), st.integers(2, 3)),
    steps=st.tuples(STEPS, st.integers(1, 2)),
    padding=st.tuples(st.integers(1, 2), st.integers(0, 2)),
    engine=st.tuples(st.sampled_from(WIDTHS), st.integers(0, 1 << 16)),
)
def test_it_equals_the_naive_lowering(
    name: str,
    image: tuple[int, int],
    channels: tuple[int, int, int, int],
    steps: tuple[int, int],
    padding: tuple[int, int],
    engine: tuple[int, int],
) -> None:
    letters = dict(zip("hwniogsdpq", (*image, *channels, *steps, *padding), strict=True))
    letters["h"], letters["w"] = (size + 3 * letters["d"] for size in image)
    function = CONVOLUTIONS[name].function(letters)
    random = np.random.default_rng(engine[1])
    buffers = [param.buffer for param in function.buffers]
    shapes = [sizes_of(buffer) for buffer in buffers]
    arrays = [filled(random, shape, buffer.dtype) for shape, buffer in zip(shapes, buffers, strict=True)]
    names = compare(function, arrays, ENGINES[engine[0]])
    if letters["o"] > 1 and letters["i"] > 2:
        assert "tile" in names
