"""Scalar expressions of prim funcs are taken out as in apache-tvm, where that is right."""

import pytest
from hypothesis import given, settings

import relax_core as rc
from relax_core.ir.node import preorder
from relax_core.ir.tir import LetStmt
from tests.passes.tir_expressions import KEPT, REPEATED
from tests.passes.tir_nests import SIDE, nests, numbers, output, same_where_written
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, remarks, same_values

FLAT = "ConvertBlocksToOpaque, LowerOpaqueBlock, FlattenBuffer, CommonSubexprElim"


@pytest.mark.parametrize("body", REPEATED.values(), ids=REPEATED)
def test_what_occurs_several_times_is_computed_once_as_in_tvm(body: str) -> None:
    assert agree_on(program(body), "VectorizeLoop, CommonSubexprElim").is_changed


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_is_computed_again_as_in_tvm(body: str) -> None:
    assert not agree_on(program(body), "CommonSubexprElim").is_changed


UNSAFE = {
    "a division under a condition": "T.if_then_else(j > 0, T.Cast('float32', i // j + i // j), T.float32(0))",
    "a remainder under a condition": "T.if_then_else(j > 0 and i % j == i % j, A[i, j], T.float32(0))",
    "a shift under a condition": "T.if_then_else(j < 9, T.Cast('float32', (i << j) + (i << j) * 2), A[i, j])",
}


@pytest.mark.parametrize("value", UNSAFE.values(), ids=UNSAFE)
def test_what_may_stop_the_run_is_not_computed_before_its_condition(value: str) -> None:
    text = program(f"for i, j in T.grid(6, 20):\n    C[i, j] = {value}")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "CommonSubexprElim")
    assert not any(isinstance(item, LetStmt) for _, function in stage.after.prim_funcs for item in preorder(function))
    same_values(start, stage.after, rtol=0)


def test_a_division_that_is_computed_anyway_is_computed_once() -> None:
    text = program("""
for i, j in T.grid(6, 20):
    if j > 0:
        C[i, j] = T.Cast("float32", i // j) + T.if_then_else(i > 2, T.Cast("float32", i // j), A[i, j])
    else:
        C[i, j] = A[i, j]
""")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "CommonSubexprElim")
    assert remarks(stage, "applied") == ["cse_v1 is computed once for 2 uses"]
    assert "if j > 0:\n                cse_v1: T.let[T.float32] = T.Cast" in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


def test_names_of_the_text_are_not_taken_again() -> None:
    text = program("""
for i, j in T.grid(6, 20):
    cse_v1: T.let[T.int32] = i * 20 + j
    C[i, j] = A[i, j] + T.Cast("float32", cse_v1 + 1) * T.Cast("float32", (cse_v1 + 1) * 2)
""")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "CommonSubexprElim")
    assert "cse_v2: T.let[T.int32] = cse_v1 + 1" in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


@settings(max_examples=40, deadline=None)
@given(nests())
def test_nests_compute_the_same_with_variables(body: str) -> None:
    text = program(body, f"({SIDE}, {SIDE})", SIDE, SIDE)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(start, FLAT).after
    functions = [next(function for _, function in module.prim_funcs) for module in (start, after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
