"""The steps of a schedule are timed by apache-tvm too, where a Python has it; where none has it, that is said."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from relax_core.cli import main
from relax_core.engine.protocol import Program, ScheduleOf
from relax_core.engine.scheduling.beside_tvm import VARIABLE, Installed, beside_tvm, installed_tvm
from relax_core.engine.session import Session
from relax_core.present.kernel_models import ScheduleTable, TvmTimes
from tests.conftest import OLD_TVM

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "tir" / "matmul.py"
SIZES = (("m", 8), ("n", 12), ("k", 16))
STEPS = (
    "Split(block='matmul', loop='j0', factors=[None, 4])",
    "Reorder(block='matmul', loops=['i0', 'j0_0', 'r0', 'j0_1'])",
    "DecomposeReduction(block='matmul', loop='r0')",
    "Vectorize(block='matmul_update', loop='j0_1')",
)
ROWS = len(STEPS) + 1
SCALED = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def scaled(A: T.Buffer((6,), "float32"), by: T.float32, B: T.Buffer((), "int64")):
    for i in range(6):
        with T.sblock("C"):
            vi = T.axis.spatial(6, i)
            A[vi] = A[vi] * by
"""


def table(tvm: Installed | None, text: str = "", steps: tuple[str, ...] = STEPS) -> ScheduleTable:
    program = Program(text or SAMPLE.read_text(encoding="utf-8"), "kernel.py")
    sizes = () if text else SIZES
    words = "" if tvm is None else tvm.words
    found = Session().request(ScheduleOf(program, "", sizes, ", ".join(steps), words))
    assert isinstance(found, ScheduleTable), found
    return beside_tvm(found, tvm)


def times(tvm: Installed | None, text: str = "", steps: tuple[str, ...] = STEPS) -> TvmTimes:
    found = table(tvm, text, steps)
    assert found.theirs is not None
    assert found.for_tvm is None
    return found.theirs


def python_that(tmp_path: Path, does: str) -> Installed:
    """Return a program in place of a Python, which says that it has TVM, and then does something else."""
    file = tmp_path / "python"
    file.write_text(f"#!{sys.executable}\nimport os, sys\n{does}\n", encoding="utf-8")
    file.chmod(0o755)
    return Installed(str(file), "0.27.0")


@pytest.mark.tvm
def test_each_step_is_built_run_and_timed_by_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    tvm = installed_tvm()
    assert tvm is not None
    assert tvm.words == "0.27"
    found = table(tvm)
    assert found.theirs is not None
    assert found.theirs.version.startswith("0.27")
    assert len(found.theirs.rungs) == len(found.rungs) == ROWS
    for rung in found.theirs.rungs:
        assert rung.seconds > 0
        assert rung.difference < 1e-4
    lines = found.to_text().splitlines()
    assert lines[-ROWS - 1].startswith("the same kernels by apache-tvm 0.27")
    assert all("GFLOP/s" in line for line in lines[-ROWS:])


@pytest.mark.tvm
def test_scalars_and_arrays_without_dimensions_are_handed_over() -> None:
    found = times(Installed(sys.executable, "0.27.0"), SCALED, ("Split(block='C', loop='i', factors=[None, 3])",))
    assert [(rung.words, rung.seconds > 0) for rung in found.rungs] == [("the same bits", True)] * 2


@pytest.mark.tvm
def test_other_values_are_told_by_how_far_they_are_apart() -> None:
    tvm = Installed(sys.executable, "0.27.0")
    session = Session().request(ScheduleOf(Program(SCALED, "kernel.py"), tvm=tvm.words))
    assert isinstance(session, ScheduleTable)
    assert session.for_tvm is not None
    assert len(session.for_tvm.texts) == 1
    wrong = (session.for_tvm.texts[0].replace("A[vi] * by", "A[vi] * by + T.float32(0.5)"),)
    assert wrong != session.for_tvm.texts
    handed = msgspec.structs.replace(session.for_tvm, texts=wrong)
    found = beside_tvm(msgspec.structs.replace(session, for_tvm=handed), tvm)
    assert found.theirs is not None
    assert found.theirs.rungs[0].difference == pytest.approx(0.5, abs=1e-3)


@pytest.mark.old_tvm
def test_an_older_version_is_given_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(OLD_TVM / "bin" / "python"))
    tvm = installed_tvm()
    assert tvm is not None
    assert tvm.words == "0.25"
    found = times(tvm)
    assert found.version.startswith("0.25")
    assert all(rung.seconds > 0 and rung.difference < 1e-4 for rung in found.rungs)
    assert len(found.rungs) == ROWS


def test_a_python_without_tvm_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for python in (python_that(tmp_path, "sys.exit(1)").python, str(tmp_path / "none")):
        monkeypatch.setenv(VARIABLE, python)
        tvm = installed_tvm()
        assert tvm == Installed(python, "")
        found = table(tvm)
        assert found.to_text().endswith("`pip install apache-tvm`, or name a Python that has it by `RELAXSCOPE_TVM`")
        assert found.rungs[-1].words == "the same bits"


def test_it_can_be_switched_off() -> None:
    assert installed_tvm() is None
    assert table(None).theirs is None


@pytest.mark.parametrize(("does", "words"), [
    ("sys.exit(3)", "apache-tvm cannot be loaded: it ended with status 3"),
    ("os.kill(os.getpid(), 11)", "apache-tvm cannot be loaded: it ended with SIGSEGV"),
    ("print('<html>')", "apache-tvm cannot be loaded: its answer cannot be read: JSON is malformed"),
    ("print('x' * (3 << 20), end='')", "apache-tvm cannot be started: it says too much"),
])  # fmt: skip
def test_what_does_not_answer_is_told(tmp_path: Path, does: str, words: str) -> None:
    assert times(python_that(tmp_path, does)).problem.startswith(words)


def test_a_process_that_dies_at_a_kernel_leaves_the_others_their_values(tmp_path: Path) -> None:
    first = json.dumps({"version": "0.27.1"}) + "\\n" + json.dumps({"difference": 0.25})
    found = times(python_that(tmp_path, f"print('{first}', flush=True)\nos.kill(os.getpid(), 9)"))
    assert found.version == "0.27.1"
    assert [rung.problem for rung in found.rungs] == ["it ended with SIGKILL"] * ROWS
    assert found.rungs[0].difference == 0.25


def test_arrays_that_are_too_large_are_not_handed_over() -> None:
    large = (
        SCALED.replace("(6,)", f"({8 << 20},)")
        .replace("range(6)", f"range({8 << 20})")
        .replace("(6, i)", f"({8 << 20}, i)")
    )
    found = times(Installed(sys.executable, "0.27.0"), large, ())
    assert found.problem == "the arrays of a call are not handed to apache-tvm: 67.1 MB, at most 32.0 MB"


@pytest.mark.tvm
def test_the_command_prints_both(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    given = ["asm", str(SAMPLE), "--in-process", "--sizes", "m=8,n=8,k=8", "--schedule", STEPS[0]]
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [rung["seconds"] > 0 for rung in found["theirs"]["rungs"]] == [True, True]
    assert found["for_tvm"] is None


@pytest.mark.parametrize(
    ("version", "words"),
    [("", ""), ("0.25.0", "0.25"), ("0.9", "0.25"), ("0.26.dev1", "0.27"), ("0.27rc1", "0.27"), ("1.0", "0.27")],
)
def test_kernels_are_written_in_the_words_of_the_version(version: str, words: str) -> None:
    assert Installed("python", version).words == words
