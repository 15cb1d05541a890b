"""Blockize does as in apache-tvm and refuses what breaks its rules; Tensorize is refused."""

from collections.abc import Callable
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, same_values

DOUBLE = program(
    """
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = A[vi, vj] * T.float32(2)
"""
)
SUM = program(
    """
for i, j, k in T.grid(6, 20, 20):
    with T.sblock("sum"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * A[vi, vj]
"""
)


def parsed(text: str) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{text}")


def loops(schedule: Any, block: str) -> Any:
    return schedule.get_loops(schedule.get_sblock(block))


@pytest.mark.parametrize("number", [0, 1])
def test_loops_become_a_block_as_in_tvm(number: int) -> None:
    steps = f"Blockize(block='double', loop='{'ij'[number]}')"
    scheduled(DOUBLE, steps, lambda sch: sch.blockize(loops(sch, "double")[number]))


def _tile(schedule: Any) -> None:
    schedule.split(loops(schedule, "sum")[1], [None, 5])
    schedule.split(loops(schedule, "sum")[3], [None, 4])
    i, j_0, j_1, k_0, k_1 = loops(schedule, "sum")
    schedule.reorder(i, j_0, k_0, j_1, k_1)
    schedule.blockize(j_1)


def _rows(schedule: Any) -> None:
    schedule.split(loops(schedule, "sum")[1], [None, 5])
    schedule.blockize(loops(schedule, "sum")[2])


def _outside(schedule: Any) -> None:
    schedule.split(loops(schedule, "sum")[1], [None, 5])
    i, j_0, j_1, k = loops(schedule, "sum")
    schedule.reorder(k, i, j_0, j_1)
    schedule.blockize(loops(schedule, "sum")[3])


SPLIT = "Split(block='sum', loop='j', factors=[None, 5]), "
AT = "Blockize(block='sum', loop='j_1')"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (f"{SPLIT}Split(block='sum', loop='k', factors=[None, 4]), "
         f"Reorder(block='sum', loops=['i', 'j_0', 'k_0', 'j_1', 'k_1']), {AT}", _tile),
        (f"{SPLIT}{AT}", _rows),
        (f"{SPLIT}Reorder(block='sum', loops=['k', 'i', 'j_0', 'j_1']), {AT}", _outside),
    ],
    ids=["a part of the reduction inside", "all of the reduction inside", "the reduction outside"],
)  # fmt: skip
def test_a_reduction_becomes_a_block_as_in_tvm(text: str, steps: Callable[[Any], None]) -> None:
    scheduled(SUM, text, steps)


def test_the_loops_of_a_tile_are_scheduled_further() -> None:
    module = parsed(SUM)
    stage = passed(module, f"{SPLIT}{AT}, Parallel(block='sum_o', loop='j_0'), Unroll(block='sum', loop='k')")
    same_values(module, stage.after, rtol=0)


def test_tiles_are_lowered() -> None:
    module = parsed(SUM)
    stage = passed(module, f"{SPLIT}{AT}, s_tir")
    assert "T.sblock" not in rc.script(stage.after)
    same_values(module, stage.after, rtol=0)


def test_parts_of_a_fused_loop_become_a_block() -> None:
    module = parsed(SUM)
    stage = passed(module, f"{SPLIT}Fuse(block='sum', loops=['i', 'j_0']), {AT}")
    assert "vi_o = T.axis.spatial(6, i_j_0_fused // 4)" in rc.script(stage.after)
    assert "vj_o = T.axis.spatial(4, i_j_0_fused % 4)" in rc.script(stage.after)
    same_values(module, stage.after, rtol=0)


@pytest.mark.parametrize("loop", ["i", "j_0", "j_1"])
@pytest.mark.parametrize("factors", [[1, 20], [20, 1]], ids=str)
def test_loops_that_run_once_become_a_part_of_a_block(factors: list[int], loop: str) -> None:
    module = parsed(SUM)
    stage = passed(module, f"Split(block='sum', loop='j', factors={factors}), Blockize(block='sum', loop='{loop}')")
    same_values(module, stage.after, rtol=0)


TWO = program(
    """
for i in range(6):
    for j in range(20):
        with T.sblock("double"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
    for j in range(20):
        with T.sblock("more"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = C[vi, vj] + T.float32(1)
"""
)
REFUSED = {
    "a tile that does not divide": (
        DOUBLE, "Split(block='double', loop='j', factors=[None, 6]), Blockize(block='double', loop='j_1')",
        "double has a condition, so that its tiles differ",
    ),
    "tiles that are not side by side": (
        DOUBLE, "Split(block='double', loop='j', factors=[None, 5]), "
        "Reorder(block='double', loops=['j_1', 'j_0']), Blockize(block='double', loop='j_0')",
        "the loops from j_0 on make no tile of the values of vj",
    ),
    "other statements in the loop": (
        TWO, "Blockize(block='double', loop='i')", "i holds other statements than double"
    ),
    "instances that are left out": (
        DOUBLE.replace('vi, vj = T.axis.remap("SS", [i, j])', "vi = T.axis.spatial(6, i)\n"
                       "                vj = T.axis.spatial(40, j)"),
        "Blockize(block='double', loop='j')", "it is not seen that the loops of double run each of its instances once",
    ),
    "elements of other instances": (
        DOUBLE.replace("A[vi, vj]", "C[vi, T.max(vj - 1, 0)]"), "Blockize(block='double', loop='j')",
        "double reads elements of C that other instances of it write",
    ),
    "initial values of other instances": (
        SUM.replace("C[vi, vj] = T.float32(0)", "C[vi, vj] = C[vi, 0]"), "Blockize(block='sum', loop='j')",
        "the initial values of sum depend on what it computes",
    ),
    "an instruction": (
        DOUBLE, "Tensorize(block='double', loop='j', tensor_intrin='wmma_sync')",
        "the intrinsic wmma_sync is not known here, and nothing here could run it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_loops_do_not_become_a_block_with(name: str) -> None:
    text, steps, message = REFUSED[name]
    (problem,) = rc.run_pipeline(parsed(text), steps)[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint
