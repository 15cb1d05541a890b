"""Indices and conditions that wrap around, or count from below 0: transformed kernels compute what naive ones do."""

import numpy as np
import pytest

from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions

GUARDED = """
@T.prim_func
def main(A: T.Buffer((400,), "float32"), W: T.Buffer((5,), "float32"), B: T.Buffer((100,), "float32")):
    for i, k in T.grid(T.{dtype}(100), T.{dtype}(5)):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + T.if_then_else(
                {condition},
                A[T.Cast("int64", vi) * T.int64(3) + T.Cast("int64", vk)],
                T.float32(0)) * W[vk]
"""
CONDITIONS = {
    # From 90 on three times the variable is a small positive number again.
    "int8 between 0 and 126": ("int8", "T.int8(0) <= {place} and {place} < T.int8(127)"),
    "uint8 below 200": ("uint8", "{place} < T.uint8(200)"),
    "uint8 that is a multiple": ("uint8", "{place} % T.uint8(3) == T.uint8(0)"),
    "uint32 less than zero": ("uint32", "{place} - T.uint32(4) < T.uint32(100)"),
    "int32, which does not wrap around": ("int32", "0 <= {place} and {place} < 127"),
}
BELOW_ZERO = """
@T.prim_func
def main(A: T.Buffer((2, 16, 16), "float32"), B: T.Buffer((2, 16, 16), "float32")):
    for i in T.serial({start}, {end}):
        for j in T.serial(16):
            with T.block("B"):
                v0 = T.axis.spatial(2, (i + 10) // 8)
                v1 = T.axis.spatial(16, (i + 10) % 8)
                vj = T.axis.spatial(16, j)
                B[v0, v1, vj] = A[v0, v1, vj]
"""


def outputs(text: str, *shapes: tuple[int, ...]) -> list[bytes]:
    """Run a prim func as it stands and transformed, with an output of the last shape."""
    function = parse_text(text, "wrapping.py").modules[0].prim_funcs[0][1]
    assert isinstance(function, PrimFunc)
    inputs = [np.arange(1, 1 + np.prod(shape), dtype="float32").reshape(shape) for shape in shapes[:-1]]
    found: list[bytes] = []
    for is_transformed in (False, True):
        out = np.zeros(shapes[-1], "float32")
        options = KernelOptions(is_transformed=is_transformed, vector_bits=256, threads=1)
        Engine(options=options).kernel(function, "main")(*inputs, out)
        found.append(out.tobytes())
    return found


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_that_wraps_around_is_no_comparison_of_sums(name: str) -> None:
    dtype, condition = CONDITIONS[name]
    place = f"vi * T.{dtype}(3) + vk"
    text = GUARDED.format(dtype=dtype, condition=condition.format(place=f"({place})"))
    naive, transformed = outputs(text, (400,), (5,), (100,))
    assert naive == transformed


@pytest.mark.parametrize(("start", "end"), [(-3, -1), (-9, 5), (-10, -2), (0, 6), (3, 6)])
def test_loops_that_start_below_zero(start: int, end: int) -> None:
    naive, transformed = outputs(BELOW_ZERO.format(start=start, end=end), (2, 16, 16), (2, 16, 16))
    assert naive == transformed
