"""apache-tvm with a schedule written by hand: the baseline of people who tune.

The matrix product is tiled for registers (8 rows by two vectors), its reduction split, its tile of the result cached,
and its initialisation decomposed; it is compiled for this processor (`mcpu`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.operator_cases import Array

ROWS, VECTORS, LANES, DEPTH = 8, 2, 16, 4

TEXT = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {n}), "float32"), C: T.Buffer(({n}, {n}), "float32")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def scheduled_matmul(size: int, processor: str) -> Callable[[Array, Array], Array]:
    """Return the product of two float32 matrices of `size` by `size`; needs apache-tvm."""
    tvm: Any = import_module("tvm")
    s_tir: Any = import_module("tvm.s_tir")
    function = tvm.script.from_source(TEXT.format(n=size))
    schedule = s_tir.Schedule(tvm.IRModule({"main": function}))
    block = schedule.get_sblock("C")
    cached = schedule.cache_write(block, 0, "local")
    i, j, k = schedule.get_loops(block)
    outer_i, inner_i = schedule.split(i, [None, ROWS])
    outer_j, vectors, lanes = schedule.split(j, [None, VECTORS, LANES])
    outer_k, inner_k = schedule.split(k, [None, DEPTH])
    schedule.reorder(outer_i, outer_j, outer_k, inner_k, inner_i, vectors, lanes)
    schedule.reverse_compute_at(cached, outer_j)
    # A block is annotated while it still is a reduction; its initialisation takes part of the loops along.
    schedule.vectorize(lanes)
    for loop in (vectors, inner_i, inner_k):
        schedule.unroll(loop)
    # With the copy back unrolled too, every index of the tile is a constant, and LLVM keeps it in registers.
    rows, columns = schedule.get_loops(cached)[-2:]
    pieces, columns = schedule.split(columns, [None, LANES])
    schedule.vectorize(columns)
    for loop in (pieces, rows):
        schedule.unroll(loop)
    first = schedule.decompose_reduction(block, outer_k)
    *rest, columns = schedule.get_loops(first)[-3:]
    schedule.vectorize(columns)
    for loop in rest:
        schedule.unroll(loop)
    target = tvm.target.Target({"kind": "llvm", "mcpu": processor})
    run = tvm.compile(schedule.mod, target=target)["main"]
    result = tvm.runtime.tensor(np.zeros((size, size), "float32"))

    def multiply(a: Array, b: Array) -> Array:
        run(tvm.runtime.tensor(a), tvm.runtime.tensor(b), result)
        return result.numpy()

    return multiply
