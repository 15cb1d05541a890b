"""SetScope, StorageAlign, Annotate and Unannotate do as in apache-tvm and refuse what breaks their rules."""

from collections.abc import Callable
from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.module import IRModule
from tests.passes.tir_programs import program, scheduled
from tests.passes.wheel import passed, remarks, same_values

TEXT = program(
    """
D = T.sblock_alloc_buffer((6, 20), "float32")
for i, j in T.grid(6, 20):
    with T.sblock("double"):
        vi, vj = T.axis.remap("SS", [i, j])
        D[vi, vj] = A[vi, vj] * T.float32(2)
for i, j in T.grid(6, 20):
    with T.sblock("last"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = D[vi, vj] + T.float32(1)
"""
)


def parsed(text: str = TEXT) -> IRModule:
    return rc.parse(f"@I.ir_module\nclass Module:\n{text}")


@pytest.mark.parametrize("scope", ["shared", "shared.dyn", "local", "warp", "wmma.accumulator"])
def test_a_buffer_is_allocated_in_another_scope_as_in_tvm(scope: str) -> None:
    steps = f"SetScope(block='double', storage_scope='{scope}')"
    after = scheduled(TEXT, steps, lambda sch: sch.set_scope("double", 0, scope))
    assert f"D_{scope.replace('.', '_')} = " in rc.script(after)


def test_a_scope_is_set_again() -> None:
    def steps(sch: Any) -> None:
        sch.set_scope("double", 0, "shared")
        sch.set_scope("double", 0, "local")

    text = "SetScope(block='double', storage_scope='shared'), SetScope(block='double', storage_scope='local')"
    scheduled(TEXT, text, steps)
    stage = passed(parsed(), "SetScope(block='double', storage_scope='global')")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["D is in global already"]


def test_a_copy_in_dynamic_shared_memory_has_a_name() -> None:
    def steps(sch: Any) -> None:
        sch.cache_read("last", 0, "shared.dyn")

    scheduled(TEXT, "CacheRead(block='last', storage_scope='shared.dyn')", steps)
    assert "D_shared_dyn[" in rc.script(passed(parsed(), "CacheRead(block='last', storage_scope='shared.dyn')").after)


def _aligned(schedule: Any) -> None:
    schedule.storage_align("double", 0, 0, 32, 8)
    schedule.storage_align("double", 0, -1, 16, 0)
    schedule.storage_align("double", 0, 0, 64, 1)


def _annotated(schedule: Any) -> None:
    schedule.annotate(schedule.get_sblock("double"), "key", "value")
    schedule.annotate(schedule.get_sblock("last"), "stages", [1, 2, 3])
    schedule.annotate(schedule.get_loops("double")[0], "pragma_auto_unroll_max_step", 16)


def _unannotated(schedule: Any) -> None:
    schedule.annotate(schedule.get_sblock("double"), "key", "value")
    schedule.annotate(schedule.get_loops("double")[1], "other", 1)
    schedule.unannotate(schedule.get_sblock("double"), "key")
    schedule.unannotate(schedule.get_loops("double")[1], "other")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("StorageAlign(block='double', axis=0, factor=32, offset=8), StorageAlign(block='double', axis=-1, factor=16), "
         "StorageAlign(block='double', axis=0, factor=64, offset=1)", _aligned),
        ("Annotate(block='double', ann_key='key', ann_val='value'), "
         "Annotate(block='last', ann_key='stages', ann_val=[1, 2, 3]), "
         "Annotate(block='double', loop='i', ann_key='pragma_auto_unroll_max_step', ann_val=16)", _annotated),
        ("Annotate(block='double', ann_key='key', ann_val='value'), "
         "Annotate(block='double', loop='j', ann_key='other', ann_val=1), "
         "Unannotate(block='double', ann_key='key'), Unannotate(block='double', loop='j', ann_key='other')",
         _unannotated),
    ],
    ids=["strides", "annotations", "no annotations"],
)  # fmt: skip
def test_marks_are_those_of_tvm(text: str, steps: Callable[[Any], None]) -> None:
    scheduled(TEXT, text, steps)


def test_an_annotation_that_is_there_stays() -> None:
    once = "Annotate(block='double', ann_key='key', ann_val=1)"
    stage = passed(parsed(), f"{once}, {once.replace('=1', '=2')}")
    assert not stage.is_changed
    assert remarks(stage, "missed") == ["double has the annotation key already"]


def test_the_strides_that_are_asked_for_keep_the_bits() -> None:
    module = parsed()
    stage = passed(
        module,
        "ComputeAt(block='double', loop='i'), StorageAlign(block='double', axis=0, factor=32, offset=8), "
        "PlanAndUpdateBufferAllocationLocation, ConvertBlocksToOpaque, CompactBufferAllocation",
    )
    same_values(module, stage.after, rtol=0)


THREADS = "Bind(block='double', loop='i', thread='blockIdx.x')"
REFUSED = {
    "SetScope(block='last', storage_scope='shared')": "C is not allocated in f",
    "SetScope(block='double', storage_scope='near')": "there is no scope near",
    "SetScope(block='double', buffer_index=1, storage_scope='shared')":
        "double writes 1 buffers, not one with the number 1",
    f"{THREADS}, SetScope(block='double', storage_scope='shared')":
        "D is accessed by threads that share no memory of the scope shared",
    f"{THREADS}, Bind(block='last', loop='i', thread='blockIdx.x'), SetScope(block='double', storage_scope='local')":
        "D is accessed by threads that share no memory of the scope local",
    "StorageAlign(block='last', factor=32)": "C is not allocated in f",
    "StorageAlign(block='double', axis=2, factor=32)": "D has no dimension 2",
    "StorageAlign(block='double', axis=-3, factor=32)": "D has no dimension -3",
    "StorageAlign(block='double')": "a stride is a multiple of a positive factor, got 0",
    "StorageAlign(block='double', buffer_index=1, factor=8)": "double writes 1 buffers, not one with the number 1",
    "Annotate(block='double', ann_key='', ann_val=1)": "an annotation has a name",
    "Annotate(block='double', loop='i', ann_key='key', ann_val=1), Split(block='double', loop='i', factors=[None, 2])":
        "i is annotated; Split takes serial loops",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED)
def test_a_mark_that_breaks_a_rule_is_refused(text: str, message: str) -> None:
    (problem,) = rc.run_pipeline(parsed(), text)[-1].diagnostics
    assert (problem.code, problem.message) == ("PS019", message)
    assert problem.span is not None
    assert problem.hint


def test_a_scope_of_threads_is_set_where_each_thread_has_its_own() -> None:
    module = parsed()
    at = "ComputeAt(block='double', loop='i'), Bind(block='last', loop='i', thread='blockIdx.x'), "
    stage = passed(module, at + "SetScope(block='double', storage_scope='shared')")
    assert stage.is_changed
    same_values(module, stage.after, rtol=0)


def test_an_annotation_that_is_not_there_is_told() -> None:
    (stage,) = rc.run_pipeline(parsed(), "Unannotate(block='double', ann_key='key')")
    (problem,) = stage.diagnostics
    assert (problem.code, problem.message, problem.hint) == (
        "PS018", "double has no annotation key", "annotations: none",
    )  # fmt: skip
