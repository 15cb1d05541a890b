"""The recorder: what apache-tvm's passes and machine do is on disk, whatever becomes of the process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.pipelines.pipeline import Pipeline
from relax_core.engine.pipelines.recorded_run import RecordedShape
from tests.code_rules import REPOSITORY
from tests.conftest import OLD_TVM

pytestmark = pytest.mark.tvm

MODULE = """
import sys
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
import record_tvm

@I.ir_module
class Module:
    @R.function
    def zeta(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, R.const(np.array([7, 8], "float32")))

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")):
        cls = Module
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, R.const(np.array([1, 2, 3], "float32")))
            c = R.multiply(b, R.const(2.0, "float32"))
            R.output(c)
        return c
"""
BUILD = """
with record_tvm.record(sys.argv[1]):
    executable = relax.build(Module, "llvm")
vm = relax.VirtualMachine(executable, tvm.cpu())
args = [np.arange(8, dtype="float32").reshape(2, 4), np.ones((4, 3), "float32")]
record_tvm.run(vm, "main", args)
record_tvm.run(vm, "main", args, budget_bytes=40)
"""
RAISING = """
@tvm.transform.module_pass(opt_level=0)
def Failing(module, context):
    raise ValueError("no such thing")

try:
    with record_tvm.record(sys.argv[1]):
        tvm.transform.Sequential([relax.transform.LegalizeOps(), Failing])(Module)
except ValueError:
    pass
"""
DYING = RAISING.replace('raise ValueError("no such thing")', "__import__('os')._exit(7)")
IN_PLACE = """
@tvm.transform.module_pass(opt_level=0)
def Dropping(module, context):
    for var in list(module.functions):
        if var.name_hint == "zeta":
            del module[var]
    return module

with record_tvm.record(sys.argv[1]):
    tvm.transform.Sequential([Dropping, relax.transform.LegalizeOps()])(Module)
"""
LIGHT = """
with record_tvm.record(sys.argv[1], light=True, keep=("LegalizeOps",)):
    relax.build(Module, "llvm")
record_tvm.pack(sys.argv[1])
"""

SAMPLER = """
@I.ir_module
class Sampler:
    @R.function
    def sample(
        logits: R.Tensor(("b", 64), "float32"), top_p: R.Tensor(("b", 1), "float32"), u: R.Tensor(("b", 1), "float32")
    ):
        with R.dataflow():
            probs = R.nn.softmax(logits, axis=-1)
            order = R.argsort(probs, axis=-1, descending=True, dtype="int32")
            ordered = R.gather_elements(probs, order, axis=1)
            before = R.subtract(R.cumsum(ordered, axis=-1), ordered)
            kept = R.where(R.less(before, top_p), ordered, R.const(0, "float32"))
            share = R.cumsum(R.divide(kept, R.sum(kept, axis=-1, keepdims=True)), axis=-1)
            place = R.argmax(R.astype(R.greater_equal(share, u), "int32"), axis=-1, keepdims=True)
            token = R.gather_elements(order, place, axis=1)
            R.output(token)
        return token

with record_tvm.record(sys.argv[1]):
    relax.build(Sampler, "llvm")
"""


def recorded(tmp_path: Path, script: str, status: int = 0, python: str = sys.executable) -> Pipeline:
    """Run a script under the recorder that the command line prints, and open its trace."""
    (tmp_path / "record_tvm.py").write_text(
        (REPOSITORY / "relax_core" / "engine" / "pipelines" / "record_tvm.py").read_text()
    )
    (tmp_path / "program.py").write_text(MODULE + script)
    folder = tmp_path / "trace"
    done = subprocess.run(
        (python, "program.py", str(folder)), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == status, done.stderr
    return rc.open_pipeline(folder)


def check_build(pipeline: Pipeline) -> None:
    assert not pipeline.diagnostics
    assert not pipeline.missing_constants()
    by_name = {stage.pass_name: stage for stage in pipeline.stages}
    assert by_name["(input)"].depth == 0
    assert by_name["LegalizeOps"].depth == 2
    # Both of TVM's pipelines are called `_pipeline`; that of Relax surrounds its passes.
    around = max(stage.seconds for stage in pipeline.stages if stage.pass_name == "_pipeline")
    assert 0 <= by_name["LegalizeOps"].seconds <= around < 100
    relax = [stage for stage in pipeline.forms() if pipeline.kind(stage) == "module"]
    assert len(relax) > 8
    for stage in relax:
        assert not [item for item in pipeline.parsed(stage).diagnostics if item.severity == "error"], stage.name
    found = rc.evaluate(pipeline.module(0), "zeta", np.zeros(2, np.float32))
    assert np.array_equal(found, np.array([7, 8], np.float32)), "the text has the functions in another order"
    first, second = pipeline.runs
    assert len(first.calls) > 5
    assert all(call.is_finished for call in first.calls)
    assert np.array_equal(np.asarray(first.inputs[1]), np.ones((4, 3), np.float32))
    expected = (np.arange(8, dtype=np.float32).reshape(2, 4) @ np.ones((4, 3), np.float32) + [1, 2, 3]) * 2
    assert np.allclose(np.asarray(first.result), expected)
    kernels = {call.name: call for call in first.calls}
    assert np.allclose(np.asarray(kernels["multiply"].result), expected)
    assert any(isinstance(call.result, RecordedShape) for call in first.calls) or "alloc_shape_heap" in str(kernels)
    assert "beyond the budget" in str(second.inputs)
    assert {"tvm", "numpy", "python", "target"} <= set(pipeline.facts)


def test_a_build_and_its_runs_are_recorded(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, BUILD)
    check_build(pipeline)
    assert pipeline.facts["tvm"].startswith("0.27")
    found = rc.bisect_pipeline(pipeline)
    relax = [stage for stage in found.stages if stage.verdict == "same"]
    assert len(relax) > 8
    assert found.first_different == -1


def test_every_stage_of_a_sampler_runs(tmp_path: Path) -> None:
    # Its `argsort` calls a packed function, whose arguments LowerTVMBuiltin writes out.
    found = rc.bisect_pipeline(recorded(tmp_path, SAMPLER))
    forms = [stage for stage in found.stages if not stage.is_aside and not stage.is_repeated]
    assert {stage.verdict for stage in forms[1:]} == {"same"}, [stage.words for stage in forms]
    assert any("LowerTVMBuiltin" in stage.name for stage in forms)


@pytest.mark.old_tvm
def test_apache_tvm_0_25_is_recorded(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, BUILD, python=str(OLD_TVM / "bin" / "python"))
    check_build(pipeline)
    assert pipeline.facts["tvm"].startswith("0.25")


def test_a_pass_that_raises_leaves_what_was_before_and_its_exception(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, RAISING)
    assert [stage.pass_name for stage in pipeline.forms()] == ["(input)", "LegalizeOps"]
    failed = next(stage for stage in pipeline.stages if stage.pass_name == "Failing")
    assert (failed.text, failed.error) == (None, "it raised ValueError: no such thing")


def test_a_process_that_dies_leaves_what_was_before(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, DYING, status=7)
    assert [stage.pass_name for stage in pipeline.forms()] == ["(input)", "LegalizeOps"]
    assert [stage.pass_name for stage in pipeline.stages if stage.text is None] == ["Failing", "sequential"]
    again = recorded(tmp_path, RAISING)
    assert [stage.pass_name for stage in again.forms()] == ["(input)", "LegalizeOps"]
    assert len(again.stages) == len(pipeline.stages)


def test_a_pass_that_changes_its_input_in_place_is_seen(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, IN_PLACE)
    assert [stage.pass_name for stage in pipeline.forms()] == ["(input)", "Dropping", "LegalizeOps"]
    assert "zeta" in (pipeline.forms()[0].text or "")
    assert "zeta" not in (pipeline.forms()[1].text or "")


def test_light_keeps_names_and_the_texts_that_are_asked_for(tmp_path: Path) -> None:
    pipeline = recorded(tmp_path, LIGHT)
    assert [stage.pass_name for stage in pipeline.forms()] == ["(input)", "LegalizeOps"]
    assert len(pipeline.stages) > 50
    changes = {stage.digest for stage in pipeline.stages}
    assert 10 < len(changes) < len(pipeline.stages)
    assert len(rc.open_pipeline(tmp_path / "trace.rxt").stages) == len(pipeline.stages)


def test_the_command_prints_the_recorder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recorder"]) == 0
    printed = capsys.readouterr().out
    assert printed == (REPOSITORY / "relax_core" / "engine" / "pipelines" / "record_tvm.py").read_text()
    assert "relax_core" not in printed
