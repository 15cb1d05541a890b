"""Loops over threads: which run in order, as loops, and which compute something only together."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.analysis.serial_threads import as_loops, hindrance
from relax_core.check.check import check
from relax_core.diagnostics import DiagnosedError
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.ranges import access_report

HEAD = "# from tvm.script import ir as I, tirx as T, relax as R\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
SIGNATURE = '    def f(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):\n'
MAIN = """
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        y = R.call_tir(Module.f, (x,), out_ty=R.Tensor((8,), "float32"))
        return y
"""

REVERSED = """
        S = T.alloc_shared((8,))
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            S[tx] = X[tx]
        for ty in T.thread_binding(8, thread="threadIdx.x"):
            Y[ty] = S[7 - ty]
"""
OWN = """
        S = T.alloc_shared((8,))
        with T.launch_thread("blockIdx.x", 2) as bx:
            tx = T.launch_thread("threadIdx.x", 4)
            S[bx * 4 + tx] = X[bx * 4 + tx]
            Y[bx * 4 + tx] = S[bx * 4 + tx]
"""
TOGETHER = """
        S = T.alloc_shared((8,))
        with T.launch_thread("threadIdx.x", 8) as tx:
            S[tx] = X[tx]
            Y[tx] = S[7 - tx]
"""
INSIDE = """
        with T.launch_thread("threadIdx.x", 8) as tx:
            S = T.alloc_shared((8,))
            S[tx] = X[tx]
            Y[tx] = S[7 - tx]
"""
NESTED = """
        with T.launch_thread("threadIdx.x", 8) as tx:
            with T.launch_thread("threadIdx.x", 8) as ty:
                Y[tx] = X[ty]
"""
SUM = """
        with T.sblock("root"):
            S = T.sblock_alloc_buffer((1,), scope="shared")
            for k in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("S"):
                    v = T.axis.reduce(8, k)
                    with T.init():
                        S[0] = T.float32(0)
                    S[0] = S[0] + X[v]
            for i in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("Y"):
                    v = T.axis.spatial(8, i)
                    Y[v] = X[v] / S[0]
"""
STRIDED = """
        S = T.alloc_buffer((8,), "float32", strides=[100])
        for i in range(8):
            S[i] = X[i]
        for i in range(8):
            Y[i] = S[i]
"""
SIZED_BY_LET = """
        n: T.let[T.int64] = T.int64(8)
        m: T.let[T.int64] = n * T.int64(2)
        S = T.alloc_buffer((m,), "float32")
        for i in range(8):
            S[i + 8] = X[i]
        for i in range(8):
            Y[i] = S[i + 8]
"""


def module(body: str) -> IRModule:
    return rc.parse(HEAD + SIGNATURE + body + MAIN, name="threads.py")


def prim_func(body: str) -> PrimFunc:
    return as_loops(module(body).prim_funcs[0][1])


def ran(body: str) -> list[float]:
    x = np.arange(8, dtype="float32")
    return rc.VirtualMachine(rc.build(module(body)))["main"](x).tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(REVERSED, [7, 6, 5, 4, 3, 2, 1, 0], id="loops one behind the other pass values"),
        pytest.param(OWN, [0, 1, 2, 3, 4, 5, 6, 7], id="each thread reads what it wrote itself"),
        pytest.param(SUM, [i / 28 for i in range(8)], id="a reduction over a bound axis"),
        pytest.param(STRIDED, [0, 1, 2, 3, 4, 5, 6, 7], id="memory with gaps between the elements"),
        pytest.param(SIZED_BY_LET, [0, 1, 2, 3, 4, 5, 6, 7], id="memory with the size of a let"),
    ],
)
def test_threads_run_in_order(body: str, expected: list[float]) -> None:
    assert np.allclose(ran(body), expected)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(TOGETHER, r"JT001.*threads pass values to each other through `S`", id="through shared memory"),
        pytest.param(INSIDE, r"JT001.*threads pass values to each other through `S`", id="allocated among the threads"),
        pytest.param(NESTED, r"JT001.*ty is nested in a loop over the same `threadIdx\.x`", id="the same axis twice"),
    ],
)
def test_what_threads_compute_only_together_is_refused(body: str, words: str) -> None:
    assert hindrance(prim_func(body)) is not None
    with pytest.raises(DiagnosedError, match=words):
        ran(body)


@pytest.mark.parametrize("body", [OWN, REVERSED], ids=["launched", "bound"])
def test_an_index_made_of_threads_is_in_range(body: str) -> None:
    assert all(fact.proven for fact in access_report(module(body).prim_funcs[0][1]))


def test_a_stride_that_goes_backwards_is_refused() -> None:
    with pytest.raises(DiagnosedError, match=r"JT001.*`S` with a stride that may be negative"):
        ran(STRIDED.replace("100", "-1"))


def test_a_pragma_on_a_loop_that_is_gone_uses_no_variable() -> None:
    body = """
        var = T.int32()
        with T.attr(var, "pragma_auto_unroll_max_step", 16):
            for i in range(8):
                Y[i] = X[i]
"""
    text = HEAD.replace("T.prim_func\n", "T.prim_func(s_tir=True)\n") + SIGNATURE + body
    assert [item.code for item in check(rc.parse(text, name="pragma.py"))] == []
