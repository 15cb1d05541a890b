"""Statements that do nothing are left out as in apache-tvm, but for those that may stop the run."""

from types import MappingProxyType

import pytest
from hypothesis import given, settings

import relax_core as rc
from tests.passes.tir_nests import SIDE, nests, numbers, output, same_where_written
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, same_values

EMPTY = MappingProxyType(
    {
        "values that nobody uses": """
for i, j in T.grid(6, 20):
    T.evaluate(A[i, j] + T.float32(1))
    T.evaluate(T.exp(A[i, j]))
    C[i, j] = A[i, j]
""",
        "loops around nothing": """
for i in range(6):
    for j in range(20):
        T.evaluate(0)
    for j in range(0):
        C[i, j] = T.float32(1)
    for j in range(20):
        C[i, j] = A[i, j]
""",
        "conditions around nothing": """
for i, j in T.grid(6, 20):
    if i < 3:
        T.evaluate(0)
    C[i, j] = A[i, j]
    if i < 3:
        T.evaluate(0)
    else:
        C[i, j] = T.float32(2)
    if A[i, j] < T.float32(1):
        C[i, j] = T.float32(3)
    else:
        T.evaluate(0)
""",
        "a store of what is there": """
for i, j in T.grid(6, 20):
    C[i, j] = A[i, j]
    C[i, j] = C[i, j]
""",
        "a loop of no iterations": """
for i in range(6):
    for j in range(i - 10):
        C[i, j] = T.float32(1)
    for j in range(20):
        C[i, j] = A[i, j]
""",
        "a fact about nothing": """
with T.attr(0, "pragma_x", 1):
    for i in range(6):
        T.evaluate(0)
for i, j in T.grid(6, 20):
    C[i, j] = A[i, j]
""",
    }
)
KEPT = MappingProxyType(
    {
        "a store that is overwritten": """
for i, j in T.grid(6, 20):
    C[i, j] = T.float32(0)
    C[i, j] = A[i, j]
""",
        "variables that nobody uses": """
for i, j in T.grid(6, 20):
    x: T.let[T.int32] = i * 3 + j
    y: T.let[T.float32] = A[i, j]
    C[i, j] = A[i, j]
""",
        "a buffer that nobody reads": """
B = T.alloc_buffer((6,), "float32")
D = T.alloc_buffer((6,), "float32")
for i, j in T.grid(6, 20):
    B[i] = A[i, j]
    C[i, j] = A[i, j]
""",
    }
)
STOPS = MappingProxyType(
    {
        "a load that may lie outside": """
for i, j in T.grid(6, 20):
    T.evaluate(A[i + j, 0])
    C[i, j] = A[i, j]
""",
        "a condition that may divide by zero": """
for i, j in T.grid(6, 20):
    if 7 // j < i:
        T.evaluate(0)
    C[i, j] = A[i, j]
""",
        "an extent that is read": """
D = T.alloc_buffer((6,), "int32")
for i in range(6):
    D[i] = i
for i in range(6):
    for j in range(D[i + 1]):
        T.evaluate(0)
    for j in range(20):
        C[i, j] = A[i, j]
""",
        "a store from another element": """
for i, j in T.grid(6, 20):
    C[i, j] = A[i, j]
for i, j in T.grid(6, 19):
    C[i, j] = C[i, j + 1]
""",
    }
)


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY)
def test_what_does_nothing_is_left_out_as_in_tvm(body: str) -> None:
    assert agree_on(program(body), "RemoveNoOp").is_changed


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_stays_as_in_tvm(body: str) -> None:
    assert not agree_on(program(body), "RemoveNoOp").is_changed


@pytest.mark.parametrize("body", STOPS.values(), ids=STOPS)
def test_what_may_stop_the_run_or_does_something_stays(body: str) -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")
    assert not passed(start, "RemoveNoOp").is_changed


def test_bounds_of_loops_and_conditions_show_that_a_load_is_in_range() -> None:
    text = program("""
for i, j in T.grid(6, 20):
    if j > 0:
        T.evaluate(A[i, j - 1])
    C[i, j] = A[i, j]
""")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "RemoveNoOp")
    assert "evaluate" not in rc.script(stage.after)
    assert "if j" not in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


@settings(max_examples=40, deadline=None)
@given(nests())
def test_nests_compute_the_same_without_what_does_nothing(body: str) -> None:
    text = program(body, f"({SIDE}, {SIDE})", SIDE, SIDE)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(start, "ConvertBlocksToOpaque, LowerOpaqueBlock, RemoveNoOp").after
    functions = [next(function for _, function in module.prim_funcs) for module in (start, after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
