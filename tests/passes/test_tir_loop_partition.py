"""Loops are split where a condition becomes known, in order, and `T.likely` goes as in apache-tvm."""

import re
from types import MappingProxyType

import pytest
from hypothesis import given, settings

import relax_core as rc
from relax_core.ir.node import preorder
from relax_core.ir.tir import For, IfThenElse
from relax_core.passes.core import Stage
from tests.passes.tir_nests import SIDE, nests, numbers, output, same_where_written
from tests.passes.tir_programs import agree_on, program
from tests.passes.wheel import passed, remarks, same_values

CONSTANT = "LoopPartition(partition_const_loop=True), StmtSimplify"
LIKELY = MappingProxyType(
    {
        "a tile that is cut off": """
for i, j0, j1 in T.grid(6, 3, 8):
    if T.likely(j0 * 8 + j1 < 20):
        C[i, j0 * 8 + j1] = A[i, j0 * 8 + j1]
""",
        "the end of a loop": """
for i in range(6):
    for j in range(25):
        if T.likely(j < 20):
            C[i, j] = A[i, j]
""",
        "the begin of a loop": """
for i in range(6):
    for j in range(25):
        if T.likely(5 <= j):
            C[i, j - 5] = A[i, j - 5]
""",
        "a parallel loop": """
for i in range(6):
    for j in T.parallel(25):
        if T.likely(j < 20):
            C[i, j] = A[i, j]
""",
        "both ends": """
for i in range(6):
    for j in range(25):
        if T.likely(3 <= j) and T.likely(j < 23):
            C[i, j - 3] = A[i, j - 3]
""",
        "one in another": """
for i in range(8):
    for j in range(25):
        if T.likely(i < 6):
            if T.likely(j < 20):
                C[i, j] = A[i, j]
""",
    }
)


def parted(body: str, passes: str = CONSTANT) -> Stage:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(body)}")
    stage = passed(start, passes)
    same_values(start, stage.after, rtol=0)
    return stage


def conditions(stage: Stage) -> int:
    found = (item for _, function in stage.after.prim_funcs for item in preorder(function))
    return sum(isinstance(item, IfThenElse) for item in found)


@pytest.mark.parametrize("body", LIKELY.values(), ids=LIKELY)
def test_loops_of_known_length_only_lose_the_mark_as_in_tvm(body: str) -> None:
    stage = agree_on(program(body), "LoopPartition")
    assert stage.is_changed
    assert "likely" not in rc.script(stage.after)


@pytest.mark.parametrize("body", LIKELY.values(), ids=LIKELY)
def test_no_condition_is_left_where_loops_of_known_length_are_split(body: str) -> None:
    assert conditions(parted(body)) == 0


SYMBOLIC = """
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(20)))
        C = T.match_buffer(c, (n, T.int64(20)))
        for i0, i1 in T.grid((n + T.int64(7)) // T.int64(8), T.int64(8)):
            for j in range(T.int64(20)):
                if T.likely(i0 * T.int64(8) + i1 < n):
                    C[i0 * T.int64(8) + i1, j] = A[i0 * T.int64(8) + i1, j]

    @R.function
    def main(x: R.Tensor(("n", 20), "float32")) -> R.Tensor(("n", 20), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n, 20), "float32"))
        return y
"""


def test_a_loop_of_symbolic_length_has_a_part_without_the_condition() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{SYMBOLIC}")
    stage = passed(start, "LoopPartition")
    assert remarks(stage, "applied") == [
        "i0 is split where its condition becomes known",
        "the mark T.likely goes, the condition stays",
    ]
    assert "for i0, i1, j in T.grid(n // T.int64(8), T.int64(8), T.int64(20)):" in rc.script(stage.after)
    assert conditions(stage) == 1
    same_values(start, stage.after, rtol=0)


WHOLE = MappingProxyType(
    {
        "a condition that is not likely": """
for i in range(6):
    for j in range(25):
        if j < 20:
            C[i, j] = A[i, j]
""",
        "a condition that reads memory": """
for i in range(6):
    for j in range(20):
        if T.likely(A[i, j] < T.float32(2)):
            C[i, j] = A[i, j]
""",
        "a loop that is left early": """
for i in range(6):
    for j in range(25):
        if T.likely(j < 20):
            C[i, j] = A[i, j]
        if j >= 22:
            break
""",
        "a remainder": """
for i in range(6):
    for j in range(20):
        C[i, j] = T.float32(0)
    for j in range(20):
        if T.likely(j % 7 < 3):
            C[i, j] = A[i, j]
""",
    }
)


@pytest.mark.parametrize("body", WHOLE.values(), ids=WHOLE)
def test_loops_that_stay_whole(body: str) -> None:
    stage = parted(body, "LoopPartition(partition_const_loop=True)")
    found = [item for _, function in stage.after.prim_funcs for item in preorder(function) if isinstance(item, For)]
    assert len(found) == body.count("for ")


@settings(max_examples=60, deadline=None)
@given(nests())
def test_parts_of_loops_compute_the_same(body: str) -> None:
    likely = re.sub(r"if (.*):", r"if T.likely(\1):", body)
    modules = [
        rc.parse(f"@I.ir_module\nclass Module:\n{program(text, f'({SIDE}, {SIDE})', SIDE, SIDE)}")
        for text in (body, likely)
    ]
    after = passed(modules[1], f"ConvertBlocksToOpaque, LowerOpaqueBlock, {CONSTANT}").after
    functions = [next(function for _, function in module.prim_funcs) for module in (modules[0], after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
