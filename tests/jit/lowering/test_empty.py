"""A reduction without iterations stores what it starts from, however its loops are written."""

from collections.abc import Iterator

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions

HEAD = """
@I.ir_module
class Module:
    @T.prim_func
    def f(a: T.handle, b: T.handle):
        n, m, k = T.int64(), T.int64(), T.int64()
        A = T.match_buffer(a, (n, m, k), "float32")
        B = T.match_buffer(b, (n,), "float32")
"""
PRODUCT = """
    with T.block("product"):
        vi = T.axis.spatial(n, i)
        vj, vl = T.axis.reduce(m, j), T.axis.reduce(k, l)
        with T.init():
            B[vi] = T.float32(1)
        B[vi] = B[vi] * A[vi, vj, vl]
"""
SPLIT = """
for i, j0, j1, l in T.grid(n, (m + 3) // 4, 4, k):
    with T.block("product"):
        vi = T.axis.spatial(n, i)
        vj, vl = T.axis.reduce(m, j0 * 4 + j1), T.axis.reduce(k, l)
        T.where(j0 * 4 + j1 < m)
        with T.init():
            B[vi] = T.float32(1)
        B[vi] = B[vi] * A[vi, vj, vl]
"""
BLOCKS = {
    "as made": f"for i, j, l in T.grid(n, m, k):{PRODUCT}",
    "outside first": f"for j, i, l in T.grid(m, n, k):{PRODUCT}",
    "all outside": f"for j, l, i in T.grid(m, k, n):{PRODUCT}",
    "split": SPLIT,
}
SIZES = ((3, 0, 2), (3, 2, 0), (3, 0, 0), (0, 2, 2), (3, 2, 1), (3, 5, 2))


def function(text: str) -> PrimFunc:
    lines = "".join(f"        {line}\n" for line in text.splitlines())
    ((_, found),) = rc.parse(HEAD + lines).prim_funcs
    return found


def engines() -> Iterator[Engine]:
    yield Engine()
    yield Engine(options=KernelOptions(mode="fast"))
    yield Engine(options=KernelOptions(is_transformed=False))
    yield Engine(options=KernelOptions(finds_uninitialised=True))


@pytest.mark.parametrize("is_specialised", [True, False], ids=["of its sizes", "of any size"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_product_of_nothing_is_one(block: str, *, is_specialised: bool) -> None:
    prim_func = function(BLOCKS[block])
    for engine in engines():
        kernel = engine.kernel(prim_func, "f")
        kernel.specialised_variants = 8 if is_specialised else 0
        for n, m, k in SIZES:
            data = np.full((n, m, k), 2, np.float32)
            result = np.full(n, 7, np.float32)
            kernel(data, result)
            np.testing.assert_array_equal(result, np.full(n, 2.0 ** (m * k), np.float32), err_msg=str((n, m, k)))


def test_an_initialisation_of_more_than_one_element_is_whole() -> None:
    text = """
for i in T.serial(n):
    with T.block("rows"):
        vi = T.axis.spatial(n, i)
        B[vi] = T.float32(5)
for i, j in T.grid(n, m):
    with T.block("sum"):
        vi, vj = T.axis.remap("SR", [i, j])
        with T.init():
            B[vi] = B[vi] + T.float32(1)
        B[vi] = B[vi] + A[vi, vj, 0]
"""
    kernel = Engine().kernel(function(text), "f")
    for m, expected in ((0, 6), (3, 12)):
        result = np.zeros(2, np.float32)
        kernel(np.full((2, m, 1), 2, np.float32), result)
        np.testing.assert_array_equal(result, np.full(2, expected, np.float32))
