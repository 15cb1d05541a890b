"""Stages of TVM's pipeline: what apache-tvm prints is read here, and what is printed here is read by apache-tvm."""

import pytest

from benchmarks.compare_relax_stages import compare
from benchmarks.relax_programs import PROGRAMS

SAMPLE = ("operators", "tensor constants", "match_cast", "closure", "call_dps_packed", "virtual device", "attributes")


@pytest.mark.tvm
def test_every_stage_of_a_sample_is_read_and_printed() -> None:
    assert set(SAMPLE) <= set(PROGRAMS)
    found = compare(["--layers", "", "--programs", ",".join(SAMPLE)])
    assert found.failures == ()
    assert sum(len(verdicts) for verdicts in found.verdicts.values()) > 100
