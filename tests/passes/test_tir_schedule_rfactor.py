"""RFactor does as in apache-tvm, keeps values up to the order of sums, and refuses what breaks its rules."""

from collections.abc import Callable
from typing import Any

import pytest

import relax_core as rc
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, remarks, same_values

# A sum of 80 floats between -4 and 4 in another order differs by a few roundings of the largest partial sum.
TOLERANCE = 1e-5

SUM = program(
    """
for i, k, l in T.grid(6, 20, 4):
    with T.sblock("sum"):
        vi, vk, vl = T.axis.remap("SRR", [i, k, l])
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = C[vi] + A[vi, vk] * T.Cast("float32", vl)
""",
    "(6,)",
)
MAXIMUM = program(
    """
for i, k in T.grid(6, 20):
    with T.sblock("sum"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            C[vi] = T.float32(-3.4028234663852886e+38)
        C[vi] = T.max(C[vi], A[vi, vk])
""",
    "(6,)",
)
INTEGERS = """
D = T.sblock_alloc_buffer((6,), "{dtype}")
for i, k, l in T.grid(6, 20, 4):
    with T.sblock("sum"):
        vi, vk, vl = T.axis.remap("SRR", [i, k, l])
        with T.init():
            D[vi] = T.{dtype}({first})
        D[vi] = {update}
for i in range(6):
    with T.sblock("last"):
        vi = T.axis.spatial(6, i)
        C[vi] = T.Cast("float32", D[vi] // T.{dtype}(3))
"""


def loops(schedule: Any) -> Any:
    return schedule.get_loops(schedule.get_sblock("sum"))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("name", ["k", "l"])
def test_a_reduction_is_taken_in_parts_as_in_tvm(name: str, axis: int) -> None:
    steps = f"RFactor(block='sum', loop='{name}', factor_axis={axis})"
    scheduled(SUM, steps, lambda sch: sch.rfactor(loops(sch)["ikl".index(name)], axis), rtol=TOLERANCE)


def _reordered(schedule: Any) -> None:
    schedule.reorder(*reversed(loops(schedule)))
    schedule.rfactor(loops(schedule)[0], 0)


def _divided(number: int) -> Callable[[Any], None]:
    def steps(schedule: Any) -> None:
        schedule.split(loops(schedule)[1], [None, 8])
        schedule.rfactor(loops(schedule)[1 + number], 0)

    return steps


def _parallel(schedule: Any) -> None:
    schedule.parallel(loops(schedule)[0])
    schedule.rfactor(loops(schedule)[1], 0)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Reorder(block='sum', loops=['l', 'k', 'i']), RFactor(block='sum', loop='l')", _reordered),
        ("Split(block='sum', loop='k', factors=[None, 8]), RFactor(block='sum', loop='k_0')", _divided(0)),
        ("Split(block='sum', loop='k', factors=[None, 8]), RFactor(block='sum', loop='k_1')", _divided(1)),
        ("Parallel(block='sum', loop='i'), RFactor(block='sum', loop='k')", _parallel),
    ],
    ids=["reordered", "outer part", "inner part", "parallel"],
)
def test_a_scheduled_reduction_is_taken_in_parts_as_in_tvm(text: str, steps: Callable[[Any], None]) -> None:
    scheduled(SUM, text, steps, rtol=TOLERANCE)


def test_the_largest_number_stays_what_it_is() -> None:
    scheduled(MAXIMUM, "RFactor(block='sum', loop='k')", lambda sch: sch.rfactor(loops(sch)[1], 0))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
@pytest.mark.parametrize(
    ("first", "update"),
    [("0", "D[vi] + {}"), ("1", "D[vi] * {}"), ("low", "T.max(D[vi], {})"), ("high", "T.min(D[vi], {})")],
    ids=["sum", "product", "max", "min"],
)
def test_integers_that_wrap_around_stay_what_they_are(dtype: str, first: str, update: str) -> None:
    limits = {"int8": (-128, 127), "int32": (-(2**31), 2**31 - 1), "uint8": (0, 255)}[dtype]
    start = str({"low": limits[0], "high": limits[1]}.get(first, first))
    term = f'T.Cast("{dtype}", (vi * 7 + vk * 5 + vl * 3 + 1) % 127)'
    text = program(INTEGERS.format(dtype=dtype, first=start, update=update.format(term)), "(6,)")
    module = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(module, "RFactor(block='sum', loop='k')")
    assert stage.is_changed
    assert remarks(stage, "note") == []
    same_values(module, stage.after, rtol=0)


def test_parts_of_fused_and_divided_loops_have_the_same_terms() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SUM}")
    stage = passed(
        module,
        "Fuse(block='sum', loops=['k', 'l']), Split(block='sum', loop='k_l_fused', factors=[None, 8]), "
        "RFactor(block='sum', loop='k_l_fused_1')",
    )
    assert remarks(stage, "applied") == ["sum_rf reduces for each k_l_fused_1, sum its results"]
    assert remarks(stage, "note") == ["the terms are joined in another order: floats may differ in the last bits"]
    same_values(module, stage.after, rtol=TOLERANCE)


def test_a_condition_on_what_is_no_reduction_holds_for_both_blocks() -> None:
    """TVM leaves it out of the second block, which then reads and writes behind the ends of its buffers."""
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SUM}")
    stage = passed(module, "Split(block='sum', loop='i', factors=[None, 4]), RFactor(block='sum', loop='k')")
    assert rc.script(stage.after).count("T.where(") == 2
    same_values(module, stage.after, rtol=TOLERANCE)


def test_a_loop_that_runs_once_stays_a_reduction() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SUM}")
    stage = passed(module, "Split(block='sum', loop='k', factors=[1, None]), RFactor(block='sum', loop='k_1')")
    assert "vk_0" in rc.script(stage.after)
    same_values(module, stage.after, rtol=TOLERANCE)


def test_the_parts_are_reduced_in_parallel() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SUM}")
    stage = passed(module, "RFactor(block='sum', loop='k'), Parallel(block='sum_rf', loop='k')")
    same_values(module, stage.after, rtol=TOLERANCE)


ASSOCIATIVE = "sum does not join its result and a term by an associative operation"
IDENTITY = "sum does not begin with a value that changes nothing"
STEP = "RFactor(block='sum', loop='k')"
VIEW = """
V = T.decl_buffer((6,), data=C.data)
for i, k, l in T.grid(6, 20, 4):
    with T.sblock("sum"):
        vi, vk, vl = T.axis.remap("SRR", [i, k, l])
        with T.init():
            C[vi] = T.float32(0)
        C[vi] = C[vi] + V[(vi + vk) % 6]
"""
VARYING = """
for i in range(6):
    for k in range(20 + i * 0):
        with T.sblock("sum"):
            vi = T.axis.spatial(6, i)
            vk = T.axis.reduce(20, k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
"""
SHARED = """
D = T.sblock_alloc_buffer((6,), "float32")
for i in range(6):
    for k in range(20):
        with T.sblock("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = T.float32(0)
            D[vi] = D[vi] + A[vi, vk]
    with T.sblock("last"):
        vi = T.axis.spatial(6, i)
        C[vi] = D[vi]
"""
REFUSED = {
    "another operation": (SUM.replace("C[vi] + A", "C[vi] - A"), STEP, ASSOCIATIVE),
    "the result as the other operand": (
        SUM.replace("C[vi] + A[vi, vk]", "A[vi, vk] + C[vi]").replace(' * T.Cast("float32", vl)', ""), STEP, ASSOCIATIVE
    ),
    "a term that reads the result": (SUM.replace("+ A[vi, vk]", "+ C[vi]"), STEP, ASSOCIATIVE),
    "a sum that begins with 5": (SUM.replace("T.float32(0)", "T.float32(5)"), STEP, IDENTITY),
    "a maximum that begins with 0": (MAXIMUM.replace("-3.4028234663852886e+38", "0"), STEP, IDENTITY),
    "a spatial loop": (
        SUM, "RFactor(block='sum', loop='i')", "i makes vi, which is spatial: RFactor takes reduction loops"
    ),
    "a loop that is spatial in part": (
        SUM, "Fuse(block='sum', loops=['i', 'k']), RFactor(block='sum', loop='l')",
        "i_k_fused makes vi, which is spatial: RFactor takes reduction loops",
    ),
    "a loop that runs once": (
        SUM, "Split(block='sum', loop='k', factors=[1, None]), RFactor(block='sum', loop='k_0')",
        "k_0 makes no reduction iteration variable",
    ),
    "a loop whose size is written in another one": (
        program(VARYING, "(6,)"), STEP, "how often k runs depends on i",
    ),
    "a dimension that is not there": (
        SUM, "RFactor(block='sum', loop='k', factor_axis=2)", "the parts of C have no dimension 2"
    ),
    "parts without a term": (
        SUM, "Split(block='sum', loop='k', factors=[5, 6]), RFactor(block='sum', loop='k_0')",
        "a condition of the block may leave a part without a term",
    ),
    "no init": (
        SUM, "DecomposeReduction(block='sum', loop='k'), RFactor(block='sum_update', loop='k')",
        "sum_update is not one store with an init",
    ),
    "a vectorized loop": (
        SUM, "Unroll(block='sum', loop='k'), RFactor(block='sum', loop='k')",
        "k is a unroll loop; RFactor takes serial loops",
    ),
    "instances that write one element": (
        SUM.replace("C[vi]", "C[0]"), STEP, "several instances of sum may write the same element of C"
    ),
    "loops that run again": (
        SUM.replace('remap("SRR", [i, k, l])', 'remap("SRR", [i, k, k])'),
        STEP, "it is not seen that the loops of sum run each of its instances once",
    ),
    "another name of the memory": (program(VIEW, "(6,)"), STEP, "C may be the memory of V"),
    "other statements in the loops": (
        program(SHARED, "(6,)"), "RFactor(block='sum', loop='k')", "the loops of sum hold other statements"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_reduction_is_not_taken_in_parts_with(name: str) -> None:
    text, steps, message = REFUSED[name]
    (problem,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), steps)[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint
