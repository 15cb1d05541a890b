"""Conditions are asked before loops that they do not depend on, as in apache-tvm."""

from types import MappingProxyType

import pytest
from hypothesis import given, settings

import relax_core as rc
from tests.passes.tir_nests import SIDE, nests, numbers, output, same_where_written
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, remarks, same_values

HOISTED = MappingProxyType(
    {
        "a condition": """
for i in range(6):
    for j in range(20):
        if i < 3:
            C[i, j] = A[i, j]
""",
        "a condition with two branches": """
for i in range(6):
    for j in range(20):
        if i < 3:
            C[i, j] = A[i, j]
        else:
            C[i, j] = T.float32(1)
""",
        "a condition in two loops": """
for i, j, k in T.grid(2, 3, 20):
    if i * 3 + j < 5:
        if k < 7:
            C[i * 3 + j, k] = A[i * 3 + j, k]
""",
        "a likely condition": """
for i0, i1 in T.grid(2, 4):
    for j in range(20):
        if T.likely(i0 * 4 + i1 < 6):
            C[i0 * 4 + i1, j] = A[i0 * 4 + i1, j]
""",
        "parallel loops": """
for i in T.parallel(6):
    for j in T.parallel(20):
        if i < 3:
            C[i, j] = A[i, j]
""",
    }
)
KEPT = MappingProxyType(
    {
        "a condition beside a statement": """
for i in range(6):
    for j in range(20):
        if i < 3:
            C[i, j] = A[i, j]
        C[i, j] = C[i, j] + T.float32(1)
""",
        "a condition that reads": """
for i in range(6):
    for j in range(20):
        if A[i, 0] < T.float32(0):
            C[i, j] = A[i, j]
        else:
            C[i, j] = T.float32(1)
""",
        "a condition that reads what is written": """
for i in range(6):
    for j in range(20):
        if C[i, 0] < T.float32(5):
            C[i, j] = A[i, j] + T.float32(9)
        else:
            C[i, j] = T.float32(1)
""",
        "a choice in an expression": """
for i in range(6):
    for j in range(20):
        C[i, j] = T.if_then_else(i < 3, A[i, j], T.float32(0))
""",
        "a condition that reads an argument": """
for i in range(6):
    for j in range(20):
        if A[0, 0] < T.float32(3):
            C[i, j] = A[i, j]
""",
    }
)


@pytest.mark.parametrize("body", HOISTED.values(), ids=HOISTED)
def test_conditions_are_hoisted_as_in_tvm(body: str) -> None:
    assert agree_on(program(body), "HoistIfThenElse").is_changed


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_conditions_stay_as_in_tvm(body: str) -> None:
    assert not agree_on(program(body), "HoistIfThenElse").is_changed


def test_a_variable_between_is_bound_under_the_condition() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(LET)}")
    stage = passed(start, "HoistIfThenElse")
    assert remarks(stage, "applied") == ["the condition is asked before x", "the condition is asked before j"]
    same_values(start, stage.after, rtol=0)


LET = """
for i in range(6):
    for j in range(20):
        x: T.let[T.int32] = j * 2
        if i < 3:
            C[i, j] = A[i, x % 20]
        else:
            C[i, j] = T.float32(1)
"""
STAYING = MappingProxyType(
    {
        "a division that no iteration may reach": """
for i in range(6):
    for j in range(i):
        if 7 // i < 3:
            C[i, j] = A[i, j]
    for j in range(i, 20):
        C[i, j] = T.float32(0)
""",
        "an extent that is read before": """
D = T.alloc_buffer((6,), "int32")
for i in range(6):
    D[i] = i
for i in range(6):
    for j in range(D[i]):
        if i < 3:
            C[i, j] = A[i, j]
    for j in range(i, 20):
        C[i, j] = T.float32(0)
""",
        "a condition on a variable of the loop": """
for i in range(6):
    for j in range(20):
        x: T.let[T.int32] = j * 2
        if x < 7:
            C[i, j] = A[i, j]
        else:
            C[i, j] = T.float32(1)
""",
    }
)


@pytest.mark.parametrize("body", STAYING.values(), ids=STAYING)
def test_what_may_stop_the_run_or_depends_on_the_loop_stays(body: str) -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")
    stage = passed(start, "HoistIfThenElse")
    assert not any("asked before" in item for item in remarks(stage, "applied"))
    same_values(start, stage.after, rtol=0)


@settings(max_examples=40, deadline=None)
@given(nests())
def test_nests_compute_the_same_with_hoisted_conditions(body: str) -> None:
    text = program(body, f"({SIDE}, {SIDE})", SIDE, SIDE)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(start, "ConvertBlocksToOpaque, LowerOpaqueBlock, HoistIfThenElse").after
    functions = [next(function for _, function in module.prim_funcs) for module in (start, after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
