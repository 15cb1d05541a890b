"""Stages of a module of prim funcs alone are run: bisected, compared, and a pass that makes a mistake is found."""

from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.debug.requests import BisectOf, CompareValuesOf
from relax_core.engine.protocol import Failure, Program
from relax_core.engine.session import Session
from relax_core.ir.module import IRModule

TEXT = """# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def doubled(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), s: T.float32):
        for i, j in T.grid(4, 8):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * s + T.float32(2)

    @T.prim_func(s_tir=True)
    def other(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
"""
FUSE = "Fuse(block='B', loops=['i', 'j'], function='doubled')"
SPLIT = "Split(block='B', loop='i', factors=[None, 2], function='other')"


@pytest.mark.parametrize("entry", ["", "doubled", "other"])
def test_prim_funcs_compute_the_same_behind_each_step(entry: str) -> None:
    program = Program(TEXT, "two.py", pipeline=f"{FUSE}, {SPLIT}", entry=entry)
    found = Session().request(BisectOf(program))
    assert not isinstance(found, Failure), found
    assert found.entry == f"run_{entry or 'doubled'}"
    assert [stage.verdict for stage in found.stages] == ["reference", "same", "same"]
    compared = Session().request(CompareValuesOf(program, 0, program, 2))
    assert not isinstance(compared, Failure), compared
    assert compared.verdict == "same"
    assert compared.outcome is not None


def wrong(module: IRModule) -> IRModule:
    """Add three where two are added."""
    return rc.parse(rc.script(module).replace("T.float32(2", "T.float32(3"))


@pytest.mark.parametrize("entry", ["main", "doubled"])
def test_a_pass_that_spoils_a_prim_func_is_found(entry: str) -> None:
    given = (np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32), 2.0)
    found = rc.bisect_passes(rc.parse(TEXT), [FUSE, wrong, SPLIT], *given, entry=entry)
    assert found.entry == "run_doubled"
    assert found.verdict == "different"
    assert found.first_different == 2


@pytest.mark.parametrize("entry", ["main", "doubled"])
def test_a_prim_func_runs_on_arrays(tmp_path: Path, entry: str) -> None:
    a, b = np.arange(32, dtype="float32").reshape(4, 8), np.zeros((4, 8), "float32")
    ran = rc.run(rc.parse(TEXT), a, b, 3.0, entry=entry)
    assert np.array_equal(ran.value, a * 3 + 2)
    assert rc.memory_report(rc.parse(TEXT), a, b, 3.0, entry=entry).faults == ()
    recorded = rc.record_run(rc.parse(TEXT), a, b, 3.0, entry=entry)
    assert recorded.error is None
    recorded.write(tmp_path / "run.rxt")
    assert len(rc.open_run(tmp_path / "run.rxt")) == len(recorded)


def test_any_prim_func_of_a_module_runs() -> None:
    relax = """    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
"""
    module = rc.parse(
        TEXT.replace("# from tvm.script import ir", "# from tvm.script import relax as R, ir") + "\n" + relax
    )
    a = np.arange(4, dtype="float32")
    assert np.array_equal(rc.run(module, a, entry="main").value, a)
    assert np.array_equal(rc.run(module, a, np.zeros(4, "float32"), entry="other").value, a)
