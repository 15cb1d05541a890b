"""A schedule that is written by hand: each step is applied, checked by value and timed; one that is refused ends it."""

import json
from pathlib import Path

import pytest

from relax_core.cli import DIAGNOSED, main
from relax_core.engine.protocol import Failure, Program, ScheduleOf
from relax_core.engine.session import Session
from relax_core.present.kernel_models import ScheduleTable

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "tir"
LADDER = (
    "CacheWrite(block='matmul', storage_scope='local')",
    "Split(block='matmul', loop='i0', factors=[None, 8])",
    "Split(block='matmul', loop='j0', factors=[None, 32])",
    "Reorder(block='matmul', loops=['i0_0', 'j0_0', 'r0', 'i0_1', 'j0_1'])",
    "ReverseComputeAt(block='C_local', loop='j0_0')",
    "DecomposeReduction(block='matmul', loop='r0')",
    "Parallel(block='matmul_update', loop='i0_0')",
    "Vectorize(block='matmul_update', loop='j0_1')",
    "PlanAndUpdateBufferAllocationLocation",
    "ConvertBlocksToOpaque",
    "CompactBufferAllocation",
)
SIZES = (("m", 96), ("n", 80), ("k", 64))


def table(
    steps: tuple[str, ...],
    sizes: tuple[tuple[str, int], ...] = SIZES,
    sample: str = "matmul.py",
    kernel: str = "matmul",
) -> ScheduleTable | Failure:
    program = Program((SAMPLES / sample).read_text(encoding="utf-8"), sample)
    return Session().request(ScheduleOf(program, kernel, sizes, ", ".join(steps)))


def test_each_rung_of_the_ladder_has_the_same_bits_and_a_text() -> None:
    found = table(LADDER)
    assert isinstance(found, ScheduleTable)
    assert [rung.step for rung in found.rungs] == ["", *LADDER]
    assert found.operations == 2 * 96 * 80 * 64
    assert not found.problems
    for rung in (*found.rungs, found.ours):
        assert rung.seconds > 0
        assert rung.words == "the same bits"
    assert "T.vectorized(" in found.rungs[8].text
    assert "T.vectorized(" not in found.rungs[7].text
    assert found.factor(found.rungs[0]) == 1
    lines = found.to_text().splitlines()
    assert len(lines) == len(LADDER) + 3
    assert "GFLOP/s" in lines[1]


def test_a_sum_in_another_order_is_told_by_how_far_it_is_apart() -> None:
    steps = (
        "Split(block='product', loop='k', factors=[None, 8])",
        "RFactor(block='product', loop='k_1', factor_axis=0)",
    )
    found = table(steps, (), "to_schedule.py", "product")
    assert isinstance(found, ScheduleTable)
    assert found.rungs[-1].difference > 0
    assert found.rungs[-1].words.startswith("differs by up to ")
    assert found.rungs[-2].words == "the same bits"


def test_a_step_that_is_refused_ends_the_schedule() -> None:
    found = table((LADDER[1], "Vectorize(block='matmul', loop='r0')", LADDER[2]))
    assert isinstance(found, ScheduleTable)
    assert [rung.step for rung in found.rungs] == ["", LADDER[1]]
    assert [item.code for item in found.problems] == ["PS019"]
    assert "error[PS019]" in found.to_text()


@pytest.mark.parametrize(("steps", "sizes", "code"), [
    (("Splitt(block='matmul')",), SIZES, "PS001"),
    ((LADDER[1],), (("q", 3),), "EN005"),
    ((LADDER[1],) * 61, SIZES, "PS019"),
])  # fmt: skip
def test_what_is_no_schedule_is_told(steps: tuple[str, ...], sizes: tuple[tuple[str, int], ...], code: str) -> None:
    found = table(steps, sizes)
    assert isinstance(found, Failure)
    assert found.problems[0].code == code


def test_the_command_prints_the_table_with_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["asm", str(SAMPLES / "matmul.py"), "--in-process", "--sizes", "m=8,n=8,k=8", "--schedule"]
    assert main([*given, LADDER[1], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [rung["step"] for rung in found["rungs"]] == ["", LADDER[1]]
    assert main([*given, "Split(block='none', loop='i0', factors=[None, 8])"]) == DIAGNOSED
    assert "PS018" in capsys.readouterr().out
    assert main([*given, LADDER[1], "--as", "llvm"]) == 2
