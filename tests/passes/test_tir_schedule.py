"""Schedule primitives do as in apache-tvm, keep the bits, and refuse what breaks their rules."""

from pathlib import Path
from typing import Any

import pytest

import relax_core as rc
from tests.passes.test_tir_passes import STAGED, SUM
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import same_values

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


PRODUCT = program(
    """
D = T.sblock_alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] * T.float32(2)
for i, j, k in T.grid(6, 5, 20):
    with T.sblock("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + D[vi, vk] * A[vj, vk]
""",
    "(6, 5)",
)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_reduction_is_decomposed_as_in_tvm(at: int) -> None:
    text = f"DecomposeReduction(block='product', loop='{'ijk'[at]}')"
    scheduled(PRODUCT, text, lambda sch: sch.decompose_reduction(sch.get_sblock("product"), loops(sch, "product")[at]))


def test_a_divided_reduction_is_decomposed() -> None:
    def steps(sch: Any) -> None:
        _, j, _ = loops(sch, "product")
        sch.split(j, [None, 3])
        _, _, j_1, k = loops(sch, "product")
        sch.split(k, [None, 8])
        sch.decompose_reduction(sch.get_sblock("product"), j_1)

    scheduled(PRODUCT, "Split(block='product', loop='j', factors=[None, 3]), "
              "Split(block='product', loop='k', factors=[None, 8]), "
              "DecomposeReduction(block='product', loop='j_1')", steps)  # fmt: skip


def test_a_block_is_inlined_as_in_tvm() -> None:
    scheduled(PRODUCT, "ComputeInline(block='double')", lambda sch: sch.compute_inline(sch.get_sblock("double")))


@pytest.mark.parametrize("number", [0, 1])
def test_a_buffer_is_read_through_a_copy_as_in_tvm(number: int) -> None:
    text = f"CacheRead(block='product', read_buffer_index={number}, storage_scope='local')"
    scheduled(PRODUCT, text, lambda sch: sch.cache_read(sch.get_sblock("product"), number, "local"))


@pytest.mark.parametrize("block", ["double", "product"])
def test_a_buffer_is_written_through_a_copy_as_in_tvm(block: str) -> None:
    text = f"CacheWrite(block='{block}')"
    scheduled(PRODUCT, text, lambda sch: sch.cache_write(sch.get_sblock(block), 0, "global"))


OTHER_RULES = {
    "ComputeInline(block='product')": "product has an init: a reduction is no expression",
    "CacheRead(block='product', read_buffer_index=2)": "product reads 2 buffers, not one with the number 2",
    "DecomposeReduction(block='double', loop='i')": "double has no init that could stand by itself",
    "Reorder(block='product', loops=['k', 'i']), DecomposeReduction(block='product', loop='i')":
        "k, outside of i, reduces: the initial values would be written again",
    "Split(block='double', loop='j', factors=[None, 7]), ComputeInline(block='double')":
        "double is not one store without a condition",
    "Split(block='double', loop='j', factors=[None, 4]), CacheWrite(block='double')":
        "it is not seen that double alone writes all of D",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), OTHER_RULES.items(), ids=OTHER_RULES)
def test_a_step_on_buffers_that_breaks_a_rule_is_refused(text: str, message: str) -> None:
    stages = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{PRODUCT}"), text)
    assert [(item.code, item.message) for item in stages[-1].diagnostics] == [("PS019", message)]


def test_what_is_computed_from_a_buffer_that_changes_is_not_inlined() -> None:
    text = program(
        """
B = T.alloc_buffer((6,), "float32")
D = T.alloc_buffer((6,), "float32")
for i in range(6):
    with T.sblock("first"):
        vi = T.axis.spatial(6, i)
        B[vi] = A[vi, 0]
for i in range(6):
    with T.sblock("copy"):
        vi = T.axis.spatial(6, i)
        D[vi] = B[vi]
for i in range(6):
    with T.sblock("again"):
        vi = T.axis.spatial(6, i)
        B[vi] = A[vi, 1]
for i in range(6):
    with T.sblock("last"):
        vi = T.axis.spatial(6, i)
        C[vi] = D[vi] - B[vi]
""",
        "(6,)",
    )
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), "ComputeInline(block='copy')")
    assert [item.message for item in stage.diagnostics] == ["B is written again before D is read"]


SQUARE = program(
    """
B = T.alloc_buffer((6,), "float32", scope="shared")
for i in range(6):
    with T.sblock("row"):
        vi = T.axis.spatial(6, i)
        B[vi] = A[0, vi]
for i, j in T.grid(6, 6):
    with T.sblock("copy"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = A[vi, vj] + B[vj]
""",
    "(6, 6)",
)
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


def test_nested_loops_are_not_bound_to_one_thread() -> None:
    # apache-tvm takes both, and lowers them to one variable: of 36 elements 6 would be computed.
    bind = "Bind(block='{}', loop='{}', thread='threadIdx.x')"
    module = rc.parse(f"@I.ir_module\nclass Module:\n{SQUARE}")
    *_, stage = rc.run_pipeline(module, ", ".join((bind.format("copy", "i"), bind.format("copy", "j"))))
    message = (
        "the block copy uses j and i, nested and both bound to threadIdx.x: of their iterations only those would "
        "remain in which they are equal"
    )
    assert [(item.code, item.message) for item in stage.diagnostics] == [("PS019", message)]
    # What threads do together is bound to them once more: the inner block uses the inner loop alone.
    *_, stage = rc.run_pipeline(
        module, ", ".join(("ComputeAt(block='row', loop='i')", bind.format("copy", "i"), bind.format("row", "ax0")))
    )
    assert not stage.is_failed


@pytest.mark.parametrize("name", ["Parallel", "Vectorize"])
def test_a_reduction_is_no_parallel_loop(name: str) -> None:
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{SUM}"), f"{name}(block='sum', loop='k')")
    message = f"k makes vk of the block sum, a reduction: {name} takes spatial loops"
    assert [item.message for item in stage.diagnostics] == [message]


UNSAFE = program(
    """
B = T.alloc_buffer((6, 6), "float32")
D = T.alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 6):
    B[i, j] = A[i, j]
for i in range(6):
    with T.sblock("diagonal"):
        vi, vj = T.axis.remap("SS", [i, i])
        B[vi, vj] = A[vi, vj]
for i in range(6):
    for j in range(20):
        with T.sblock("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj]
for i, j in T.grid(5, 19):
    with T.sblock("shift"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi + 1, vj] = D[vi, vj + 1]
for i in range(6):
    for j in range(20):
        with T.sblock("last"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi, vj]
    C[i, 0] = B[i, i]
"""
)
UNSAFE_STEPS = {
    "CacheWrite(block='diagonal')": "it is not seen that diagonal alone writes all of B",
    "ComputeInline(block='outer')": "D is not written by one expression",
    "Reorder(block='shift', loops=['j', 'i'])": "shift reads elements of D that other instances of it write",
    "Parallel(block='shift', loop='i')": "shift reads elements of D that other instances of it write",
    "Split(block='last', loop='i', factors=[None, 4])":
        "a statement outside of a block is in the loop: a Split with a condition takes loops of blocks",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), UNSAFE_STEPS.items(), ids=UNSAFE_STEPS)
def test_a_step_that_would_change_values_is_refused(text: str, message: str) -> None:
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{UNSAFE}"), text)
    assert [(item.code, item.message) for item in stage.diagnostics] == [("PS019", message)]


def test_a_block_that_uses_a_variable_of_its_loops_is_not_inlined() -> None:
    text = program(
        """
D = T.alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 20):
    w: T.let[T.int32] = i * 2
    with T.sblock("outer"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] + T.Cast("float32", w)
for i, j in T.grid(6, 20):
    with T.sblock("last"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[vi, vj]
"""
    )
    (stage,) = rc.run_pipeline(rc.parse(f"@I.ir_module\nclass Module:\n{text}"), "ComputeInline(block='outer')")
    assert [item.message for item in stage.diagnostics] == ["outer uses w, which has no value where D is read"]


def test_names_that_are_not_there_are_told() -> None:
    module = rc.parse(f"@I.ir_module\nclass Module:\n{STAGED}")
    said = [
        rc.run_pipeline(module, f"Unroll({given})")[-1].diagnostics[0]
        for given in ("block='doubel', loop='i'", "block='double', loop='k'", "block='double', loop='i', function='g'")
    ]
    assert {item.code for item in said} == {"PS018"}
    assert [item.message for item in said] == [
        "there is no block doubel",
        "the block double has no loop k",
        "there is no prim func g",
    ]
    assert [item.hint for item in said] == ["did you mean double?", "its loops: i, j", "prim funcs: f"]


def test_the_schedule_of_the_documentation_keeps_the_bits() -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "schedules.md").read_text(encoding="utf-8")
    steps = text[text.index("    CacheWrite(block='product'") : text.index("    python -m relax_core bisect")]
    module = rc.parse((root / "samples" / "tir" / "to_schedule.py").read_text(encoding="utf-8"))
    stages = rc.run_pipeline(module, " ".join(steps.split()))
    assert [item.is_changed for item in stages] == [True] * 9
    for stage in stages:
        same_values(module, stage.after, rtol=0)
