"""Schedule primitives do as in apache-tvm, keep the bits, and refuse what breaks their rules."""

from typing import Any

import pytest

import relax_core as rc
from tests.passes.test_tir_passes import STAGED, SUM
from tests.passes.tir_programs import program, scheduled

COPY = program(
    """
for i, j in T.grid(6, 20):
    with T.sblock("copy"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = A[vi, vj] + T.float32(1)
"""
)
UNEVEN = program(
    """
for i in range(6):
    for j in range(10):
        for k in range(2):
            with T.sblock("first"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(20, j * 2 + k)
                C[vi, vj] = A[vi, vj]
        with T.sblock("second"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj + 10] = A[vi, vj]
"""
)


def loops(schedule: Any, block: str) -> Any:
    return schedule.get_loops(schedule.get_sblock(block))


@pytest.mark.parametrize("factors", [[None, 5], [4, None], [3, None, 2], [None, 7], [21, 1], [2, 3, 4]], ids=str)
def test_a_loop_is_split_as_in_tvm(factors: list[int | None]) -> None:
    text = f"Split(block='copy', loop='j', factors={factors})"
    scheduled(COPY, text, lambda sch: sch.split(loops(sch, "copy")[1], factors))


def test_a_part_is_split_again() -> None:
    def steps(sch: Any) -> None:
        _, inner = sch.split(loops(sch, "copy")[1], [None, 6])
        sch.split(inner, [None, 4])

    scheduled(COPY, "Split(block='copy', loop='j', factors=[None, 6]), "
              "Split(block='copy', loop='j_1', factors=[None, 4])", steps)  # fmt: skip


def test_loops_are_fused_as_in_tvm() -> None:
    scheduled(COPY, "Fuse(block='copy', loops=['i', 'j'])", lambda sch: sch.fuse(*loops(sch, "copy")))


def test_three_loops_are_fused_and_divided_again() -> None:
    def steps(sch: Any) -> None:
        i, j = loops(sch, "copy")
        parts = sch.split(j, [None, 5])
        fused = sch.fuse(i, *parts)
        sch.parallel(sch.split(fused, [None, 9])[0])

    scheduled(COPY, "Split(block='copy', loop='j', factors=[None, 5]), "
              "Fuse(block='copy', loops=['i', 'j_0', 'j_1']), "
              "Split(block='copy', loop='i_j_0_j_1_fused', factors=[None, 9]), "
              "Parallel(block='copy', loop='i_j_0_j_1_fused_0')", steps)  # fmt: skip


def test_loops_are_reordered_as_in_tvm() -> None:
    scheduled(SUM, "Reorder(block='sum', loops=['k', 'i'])", lambda sch: sch.reorder(*reversed(loops(sch, "sum"))))


def test_a_loop_around_two_blocks_is_split() -> None:
    text = "Split(block='second', loop='j', factors=[None, 4])"
    scheduled(UNEVEN, text, lambda sch: sch.split(loops(sch, "second")[1], [None, 4]))


@pytest.mark.parametrize("name", ["Parallel", "Vectorize", "Unroll"])
def test_kinds_of_loops_are_those_of_tvm(name: str) -> None:
    text = f"{name}(block='copy', loop='j')"
    scheduled(COPY, text, lambda sch: getattr(sch, name.lower())(loops(sch, "copy")[1]))


def test_a_loop_is_bound_as_in_tvm() -> None:
    text = "Bind(block='copy', loop='i', thread='blockIdx.x')"
    scheduled(COPY, text, lambda sch: sch.bind(loops(sch, "copy")[0], "blockIdx.x"))


REFUSED = {
    "Fuse(block='first', loops=['i', 'k'])": "k is not the only child of i; Fuse joins a parent with its only child",
    "Fuse(block='first', loops=['j', 'k'])": "k is not the only child of j; Fuse joins a parent with its only child",
    "Split(block='first', loop='k', factors=[1, 1])": "the factors make 1 iterations, k has 2",
    "Split(block='first', loop='k', factors=[2])": "factors are two or more positive numbers, "
                                                  "one of which may be None, got [2]",
    "Reorder(block='first', loops=['k', 'i'])": "k is not the only child of j; Reorder takes a chain of loops",
    "Bind(block='first', loop='i', thread='row')": "there are no threads row",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED)
def test_a_step_that_breaks_a_rule_is_refused(text: str, message: str) -> None:
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{UNEVEN}"), text)
    (problem,) = stage.diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint


@pytest.mark.parametrize("name", ["Parallel", "Vectorize"])
def test_a_reduction_is_no_parallel_loop(name: str) -> None:
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{SUM}"), f"{name}(block='sum', loop='k')")
    message = f"k makes vk of the block sum, a reduction: {name} takes spatial loops"
    assert [item.message for item in stage.diagnostics] == [message]


def test_names_that_are_not_there_are_told() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{STAGED}")
    said = [
        rc.run_pipeline(module, f"Unroll({given})")[-1].diagnostics[0]
        for given in ("block='doubel', loop='i'", "block='double', loop='k'", "block='double', function='g'")
    ]
    assert {item.code for item in said} == {"PS018"}
    assert [item.message for item in said] == [
        "there is no block doubel",
        "the block double has no loop k",
        "there is no prim func g",
    ]
    assert [item.hint for item in said] == ["did you mean double?", "its loops: i, j", "prim funcs: f"]
