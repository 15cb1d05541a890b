"""What stops apache-tvm is told beside what is wrong with the module before: in passes, behind them, and in runs."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.debug.requests import (
    CrashOf,
    Parcel,
)
from relax_core.engine.pipelines import parcel
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedRun
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.replies import Crash
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.pipelines.stage_texts import ADD

REPOSITORY = Path(__file__).resolve().parents[3]
# Each part records a pipeline that ends in an exception of TVM, the last one in the death of the process.
SCRIPT = """
import sys
import numpy as np, tvm
from tvm import relax, tirx
from tvm.script import ir as I, relax as R, tirx as T
import record_tvm

def attempt(name, work):
    try:
        with record_tvm.record(sys.argv[1] + "/" + name):
            return work()
    except Exception:
        pass

def with_main(module, make):
    changed = tvm.IRModule(dict(module.functions.items()), attrs=module.attrs)
    changed[module.get_global_var("main")] = make(module["main"])
    return changed

def run(executable, name, args):
    try:
        record_tvm.run(relax.VirtualMachine(executable, tvm.cpu()), "main", args, folder=sys.argv[1] + "/" + name)
    except Exception:
        pass

X = np.ones(8, "float32")

@I.ir_module
class Chain:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            R.output(b)
        return b

@tvm.transform.module_pass(opt_level=0, name="Swap")
def Swap(module, context):
    def make(main):
        first, second = main.body.blocks[0].bindings
        body = relax.SeqExpr([relax.DataflowBlock([second, first])], main.body.body)
        return relax.Function(main.params, body, main.ret_ty, main.is_pure, main.attrs)
    return with_main(module, make)

swapped = tvm.transform.Sequential([relax.transform.LegalizeOps(), Swap, relax.transform.FoldConstant()])
attempt("order", lambda: swapped(Chain))

bare = [relax.transform.ToNonDataflow(), relax.transform.RemovePurityChecking(), relax.transform.CallTIRRewrite(),
        relax.transform.LowerRuntimeBuiltin(), relax.transform.VMShapeLower(), relax.transform.AttachGlobalSymbol()]
attempt("lowering", lambda: relax.build(Chain, "llvm", relax_pipeline=tvm.transform.Sequential(bare)))

@I.ir_module
class Branches:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((8,), "float32")):
        if c:
            a = R.add(x, x)
            y = R.multiply(a, a)
        else:
            y = R.exp(x)
        z = R.nn.relu(y)
        return z

@relax.expr_functor.mutator
class Shorten(relax.PyExprMutator):
    def visit_call_(self, call):
        return relax.op.nn.relu(self.taken) if call.op.name == "relax.nn.relu" else super().visit_call_(call)

@tvm.transform.module_pass(opt_level=0, name="Shortcut")
def Shortcut(module, context):
    def make(main):
        change = Shorten()
        change.taken = main.body.blocks[0].bindings[0].value.true_branch.blocks[0].bindings[0].var
        return change.visit_expr(main)
    return with_main(module, make)

run(attempt("branches", lambda: relax.build(Shortcut(Branches), "llvm")), "branches", [np.array(False), X])

@I.ir_module
class Kernel:
    @T.prim_func(private=True)
    def scale(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = Kernel
        a = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((8,), "float32"))
        b = R.call_tir(cls.scale, (a,), out_ty=R.Tensor((8,), "float32"))
        return b

@tirx.transform.prim_func_pass(opt_level=0, name="Hoist")
def Hoist(function, module, context):
    return function.with_body(function.body.body)

attempt("kernel", lambda: relax.build(Hoist(Kernel), "llvm"))

@tvm.transform.module_pass(opt_level=0, name="KillEarly")
def KillEarly(module, context):
    def make(main):
        bindings = list(main.body.blocks[0].bindings)
        kill = next(at for at, item in enumerate(bindings) if "kill_tensor" in str(item.value))
        bindings[kill - 1], bindings[kill] = bindings[kill], bindings[kill - 1]
        body = relax.SeqExpr([relax.BindingBlock(bindings)], main.body.body)
        return relax.Function(main.params, body, main.ret_ty, main.is_pure, main.attrs)
    return with_main(module, make)

plan = relax.transform.StaticPlanBlockMemory(), relax.transform.LowerAllocTensor(), relax.transform.KillAfterLastUse()
planned = [*bare[:3], *plan, KillEarly, *bare[3:]]
work = lambda: relax.build(Kernel, "llvm", relax_pipeline=tvm.transform.Sequential(planned))
run(attempt("lifetime", work), "lifetime", [X])

@tvm.transform.module_pass(opt_level=0, name="Widen")
def Widen(module, context):
    return tvm.script.from_source(module.script().replace("= A[i]", "= A[i + 400000000]"))

run(attempt("range", lambda: relax.build(Widen(Kernel), "llvm")), "range", [X])
"""
CASES = {
    # name: who stopped, code of the mistake, what is said of it, the pass that brought it, whether the error names it
    "order": ("pass FoldConstant", "WF024", "`a` has no value here", "Swap", True),
    "lowering": ("behind the passes", "PL019", "no pass lowered `R.add`", "", True),
    "branches": ("the run of `main` in call", "WF024", "only a branch of the `if`", "Shortcut", False),
    "kernel": ("pass tirx.MakePackedAPI", "JT001", "`i`, which is not defined here", "Hoist", True),
    "lifetime": ("the run of `main` in call", "JT003", "expects an array, got NoneType", "KillEarly", False),
    "range": ("the run of `main` in call", "JT010", "Out of range", "Widen", False),
}


def explained(pipeline: Pipeline) -> Crash:
    return ask(Session(), CrashOf(Parcel("t.rxt", writer.write_trace(pipeline))))


@pytest.fixture(scope="module")
def crashes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record all of them in one process."""
    folder = tmp_path_factory.mktemp("crashes")
    recorder = REPOSITORY / "relax_core" / "engine" / "pipelines" / "record_tvm.py"
    (folder / "record_tvm.py").write_text(recorder.read_text())
    (folder / "program.py").write_text(SCRIPT)
    command = (sys.executable, "program.py", str(folder))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name in CASES) == sorted(CASES), done
    return folder


@pytest.mark.tvm
@pytest.mark.parametrize("name", CASES)
def test_what_stopped_tvm_is_told_beside_what_is_wrong_with_the_module(crashes: Path, name: str) -> None:
    where, code, words, culprit, is_named = CASES[name]
    pipeline = rc.open_pipeline(crashes / name)
    found = ask(Session(), CrashOf(parcel.parcel_at(str(crashes / name))))
    assert where in found.title
    assert found.code.startswith(code)
    assert words in found.words
    assert found.rule
    assert ("names the same" in found.words) == is_named
    if culprit:
        assert pipeline.stages[found.since].pass_name == culprit
        assert f"since {culprit}" in found.words
    assert found.title in found.report
    assert found.line


@pytest.mark.tvm
def test_the_commands_say_it(crashes: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "report"
    assert main(["check", str(crashes / "order"), "--report", str(report)]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("TVM stopped in pass FoldConstant")
    assert last in report.read_text()
    assert main(["bisect", str(crashes / "lowering"), "--json"]) == 4
    assert "TVM stopped behind the passes" in json.loads(capsys.readouterr().out)["conclusion"]
    assert main(["compare", str(crashes / "range")]) == 4
    assert "Out of range" in capsys.readouterr().out


# name: status, what it says in the end
REPRODUCED = {
    "kernel": (1, "tirx.MakePackedAPI stops with InternalError: "),
    "range": (1, "the process was ended by signal 11"),
    # TVM does not read the text of the module before; what comes before that is a pass of the user's own.
    "order": (2, "it does not get as far as FoldConstant: ValueError: Swap is no pass of apache-tvm"),
}


@pytest.mark.tvm
@pytest.mark.parametrize("name", REPRODUCED)
def test_one_file_stops_as_it_did(crashes: Path, name: str, tmp_path: Path) -> None:
    status, words = REPRODUCED[name]
    target = tmp_path / "crash.py"
    assert main(["check", str(crashes / name), "--reproducer", str(target)]) == 1
    done = subprocess.run((sys.executable, target.name), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stdout) == (status, True), done.stdout + done.stderr
    assert "compare_forms" not in target.read_text()
    assert (tmp_path / "crash.py.md").read_text().startswith("# TVM stopped")


def test_where_there_is_no_such_file_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 'PASS_NAME = "Bad"' in explained(stopped()).script.replace("'", '"')
    ill = explained(stopped(ADD.replace("return y", "return z")))
    assert (ill.script, "does not read a module in which a variable has no value" in ill.unscripted) == ("", True)
    lost = RecordedRun("main", (Omitted("beyond the budget", (3,), "float32"),), error="it raised ValueError: no")
    recording = replace(stopped().recording, stages=stopped().stages[:1], runs=(lost,))
    assert explained(Pipeline(recording)).unscripted == (
        "the recording does not hold all inputs of the run: beyond the budget"
    )
    path = tmp_path / "t.rxt"
    path.write_bytes(writer.write_trace(Pipeline(recording)))
    assert main(["bisect", str(path), "--in-process", "--reproducer", str(tmp_path / "bug.py")]) == 4
    assert "there is no reproducer: the recording does not hold all inputs" in capsys.readouterr().err


def stopped(text: str = ADD, error: str = "it raised ValueError: no") -> Pipeline:
    stages = (RecordedStage(0, "(input)", text), RecordedStage(1, "Bad", None, error=error))
    return Pipeline(Recording("t.rxt", "trace", stages))


def test_what_nothing_explains_is_said_to_be_so() -> None:
    found = explained(stopped())
    assert found.words.startswith("The compiler stopped in pass Bad (stage 1) with ValueError: no.")
    assert "Nothing was found in the module before it ((input), stage 0) that explains it." in found.words
    assert (found.code, found.rule, found.since) == ("", "", -1)


def test_a_mistake_that_the_error_does_not_name_is_no_more_than_that() -> None:
    found = explained(stopped(ADD.replace("return y", "return z")))
    assert found.code == "RS001"
    assert "The program had it before the first pass." in found.words
    assert "does not say whether that is why" in found.words


def test_nothing_is_said_where_nothing_stopped() -> None:
    whole = stopped()
    assert not explained(Pipeline(replace(whole.recording, stages=whole.stages[:1]))).words
    light = replace(whole.stages[1], error="its text was not recorded", digest="0" * 32)
    assert not Pipeline(replace(whole.recording, stages=(whole.stages[0], light))).has_crash
    nothing = Pipeline(replace(whole.recording, stages=whole.stages[1:]))
    assert "holds no module from before" in explained(nothing).words


def test_a_bisection_of_what_was_made_is_not_the_whole() -> None:
    found = rc.bisect_pipeline(stopped())
    assert found.verdict == "not comparable"
    assert found.conclusion.endswith("Nothing was found in the module before it ((input), stage 0) that explains it.")


def test_words_of_another_program_stay_words() -> None:
    error = "```\n\x1b[31m# it `y` <b>" + "a" * 5_000
    found = explained(stopped(error=error))
    assert "\x1b" not in found.words + found.report
    assert len(found.words) < 1_000
    assert found.report.count("```") % 2 == 0
    run = RecordedRun(
        "main", (np.ones(3, np.float32),), calls=(RecordedCall(0, "f", (), is_finished=False),), error=error
    )
    broken = Pipeline(replace(stopped().recording, stages=stopped().stages[:1], runs=(run,)))
    assert "\x1b" not in explained(broken).words
