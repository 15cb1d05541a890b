"""A sample of the prim funcs that apache-tvm makes goes through the comparison of the benchmark without a failure."""

from itertools import chain, islice

import pytest

from benchmarks import compare_tir, tir_corpus

pytestmark = pytest.mark.tvm


def test_what_tvm_prints_is_read_and_given_back_equal() -> None:
    pytest.importorskip("tvm")
    lowered = islice(tir_corpus.lowering(2), 60)
    summary = compare_tir.run(chain(tir_corpus.operators(12), tir_corpus.schedules(), tir_corpus.dlight(4), lowered))
    assert summary.failures == []
    assert len(summary.all) > 60
