"""Prim funcs compute the same at every stage of apache-tvm's lowering, up to its calling convention."""

from itertools import islice

import pytest

from benchmarks.tir_corpus import gpu_lowering, lowering
from benchmarks.tir_stages import Report, compare, grouped

pytestmark = pytest.mark.tvm
NAMES = ("vectorize", "cache_read", "rfactor", "blockize", "storage_align")
# From there on a function takes its arguments as TVM's own caller packs them.
CALLING_CONVENTION = "tirx.MakePackedAPI"


def test_every_stage_computes_what_tvm_does() -> None:
    pytest.importorskip("tvm")
    report = Report()
    for name, stages in grouped(lowering(0)):
        if name in NAMES:
            compare(name, stages, report)
    assert report.equal_to_tvm == len(NAMES)
    assert (report.unlike_tvm, report.not_run_by_tvm) == ([], [])
    names = list(report.stages)
    before = [report.stages[name] for name in names[: names.index(CALLING_CONVENTION)]]
    assert len(before) > len(NAMES)
    assert all(stage.equal % len(NAMES) == 0 and stage.equal > 0 for stage in before)
    assert not any(stage.different or stage.refused for stage in before)


def test_every_stage_of_what_is_scheduled_for_gpus_computes_the_same() -> None:
    pytest.importorskip("tvm")
    report = Report()
    for name, stages in islice(grouped(gpu_lowering(2)), 2):
        compare(name, stages, report, is_gpu=True)
    names = list(report.stages)
    before = [report.stages[name] for name in names[: names.index(CALLING_CONVENTION)]]
    assert names[0] == "dlight"
    assert len(before) > 30
    assert all(stage.equal % 2 == 0 and stage.equal > 0 for stage in before)
    assert not any(stage.different or stage.refused or stage.mistakes for stage in before)
