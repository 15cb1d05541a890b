"""TransformLayout does as in apache-tvm, keeps the bits, and refuses what breaks its rules."""

from collections.abc import Callable
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, same_values

TEXT = program(
    """
D = T.sblock_alloc_buffer((6, 20), "float32")
for i, j, k in T.grid(6, 20, 20):
    with T.sblock("sum"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            D[vi, vj] = T.float32(0)
        D[vi, vj] = D[vi, vj] + A[vi, vk] * A[vi, vj]
for i, j in T.grid(6, 20):
    with T.sblock("last"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[vi, vj] + T.float32(1)
"""
)
MAPS: dict[str, Callable[[Any, Any], Any]] = {
    "lambda i, j: (j // 4, i, j % 4)": lambda i, j: (j // 4, i, j % 4),
    "lambda i, j: (i * 20 + j,)": lambda i, j: (i * 20 + j,),
    "lambda i, j: (j, i)": lambda i, j: (j, i),
    "lambda row, column: [row // 2, column // 10, row % 2, column % 10]":
        lambda i, j: (i // 2, j // 10, i % 2, j % 10),
}  # fmt: skip


STEP = "TransformLayout(block='sum', index_map='lambda i, j: (j, i)')"


def parsed(text: str = TEXT) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{text}")


@pytest.mark.parametrize("text", MAPS)
def test_a_buffer_is_laid_out_as_in_tvm(text: str) -> None:
    steps = f"TransformLayout(block='sum', index_map='{text}')"
    scheduled(TEXT, steps, lambda sch: sch.transform_layout("sum", ("write", 0), MAPS[text]))


@pytest.mark.parametrize("text", MAPS)
def test_an_index_that_counts_down_is_laid_out(text: str) -> None:
    """TVM divides `19 - vj` by 4 to `vj // -4 + 4`, which is 3 for 1, where it should be 4."""
    module = parsed(TEXT.replace("D[vi, vj] + T", "D[vi, 19 - vj] + T"))
    stage = passed(module, f"TransformLayout(block='sum', index_map='{text}')")
    same_values(module, stage.after, rtol=0)


def test_a_buffer_that_is_declared_on_the_way_is_laid_out() -> None:
    module = parsed(TEXT.replace("T.sblock_alloc_buffer", "T.alloc_buffer"))
    stage = passed(module, STEP)
    assert 'D = T.alloc_buffer((20, 6), "float32")' in rc.script(stage.after)
    assert rc.parse(rc.script(stage.after))
    same_values(module, stage.after, rtol=0)


def _turned(row: Any, column: Any) -> Any:
    return column, row


def test_a_buffer_that_is_read_is_laid_out() -> None:
    def steps(sch: Any) -> None:
        sch.cache_read("last", 0, "local")
        sch.transform_layout("last", ("read", 0), _turned)

    given = "CacheRead(block='last', storage_scope='local'), TransformLayout(block='last', buffer=('read', 0), "
    scheduled(TEXT, given + "index_map='lambda i, j: (j, i)')", steps)


def test_a_symbolic_dimension_changes_its_place() -> None:
    text = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 4), "float32")
        C = T.match_buffer(c, (n, 4), "float32")
        D = T.sblock_alloc_buffer((n, 4), "float32")
        for i, j in T.grid(n, 4):
            with T.sblock("sum"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(n, 4):
            with T.sblock("last"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = D[vi, vj] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n, 4), "float32"))
        return y
"""
    module = parsed(text)
    stage = passed(module, "TransformLayout(block='sum', index_map='lambda i, j: (j // 2, i, j % 2)')")
    assert "D = T.sblock_alloc_buffer((2, n, 2)" in rc.script(stage.after).replace("T.int64(2)", "2")
    same_values(module, stage.after, rtol=0)


BIJECTION = "it is not seen that the map gives each element of D a place, and leaves none over"
NO_MAP = "a map of indices is a lambda"
REFUSED = {
    "lambda i, j: (j // 3, i, j % 3)": BIJECTION,
    "lambda i, j: (j,)": BIJECTION,
    "lambda i, j: (i, i, j)": BIJECTION,
    "lambda i, j: (i, j + 1)": BIJECTION,
    "lambda i, j: (i + j, j)": BIJECTION,
    "lambda i, j: (i, 2 * j)": BIJECTION,
    "lambda i, j: (i * 1073741824 * 4 + j,)": BIJECTION,
    "lambda i: i": "the map takes 1 indices, D has 2",
    "lambda i, j: (i, f(j))": "f(j) is not made of the indices, literals and + - * // %",
    "lambda i, j: (i, j & 1)": "j & 1 is not made of the indices, literals and + - * // %",
    "lambda i, j: (i, j // 0)": BIJECTION,
    "lambda *i: 1": NO_MAP,
    "lambda i, j=1: (i, j)": NO_MAP,
    "(i, j)": NO_MAP,
    "lambda i, j:": NO_MAP,
    "": NO_MAP,
    "lambda i, j: (i, " + "1 * " * 400 + "j)": NO_MAP,
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=[text[:40] for text in REFUSED])
def test_a_map_that_is_no_bijection_is_refused(text: str, message: str) -> None:
    (problem,) = rc.run_pipeline(parsed(), f"TransformLayout(block='sum', index_map='{text}')")[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint


UNSAFE = {
    "a buffer of the function's callers": (TEXT, STEP.replace("sum", "last"), "C is not allocated in f"),
    "another name of the memory": (
        TEXT.replace("for i, j, k", "V = T.decl_buffer((120,), data=D.data)\n        for i, j, k"), STEP,
        "the memory of D is used as a whole",
    ),
    "strides of its own": (
        TEXT.replace('(6, 20), "float32")\n        for', '(6, 20), "float32", strides=(20, 1))\n        for', 1),
        STEP, "D has strides of its own",
    ),
    "strides": (TEXT, f"StorageAlign(block='sum', axis=0, factor=32), {STEP}", "sum asks for strides of D"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_the_layout_stays_with(name: str) -> None:
    text, steps, message = UNSAFE[name]
    (problem,) = rc.run_pipeline(parsed(text), steps)[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
