"""Stand-ins for packed functions on the command line."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from relax_core.cli import main
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recorded_run import RecordedCall, RecordedRun
from relax_core.engine.pipelines.trace.writer import write_trace

TEXT = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_packed("my.f", x, sinfo_args=R.Tensor((2,), "float32"))
        return R.{}(y, x)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # The command sets it for its worker.
    monkeypatch.setattr(os, "environ", dict(os.environ))
    (tmp_path / "own.py").write_text("def double(x):\n    return x * 2\n")
    (tmp_path / "m.py").write_text(TEXT.format("add"))
    return tmp_path / "m.py"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(item) for item in arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_run_says_what_stood_in(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    own = f"my.f={file.parent / 'own.py'}:double"
    given = ("run", file, "--seed", 1)
    assert run(capsys, *given)[0] == 1
    _, zeros, note = run(capsys, *given, "--stand-in", "my.f=zeros", "--in-process")
    assert note == "note: 1 call was a stand-in (my.f: zeros)\n"
    status, found, note = run(capsys, *given, "--stand-in", own)
    assert (status, note) == (0, "note: 1 call was a stand-in (my.f: a Python function)\n")
    values = [np.array([float(item) for item in text.strip("[]\n ").split()]) for text in (zeros, found)]
    np.testing.assert_allclose(values[1], 3 * values[0], rtol=1e-6)
    status, out, _ = run(capsys, *given, "--stand-in", "my.f=zeros", "--json", "--in-process")
    assert (status, json.loads(out)["stand_ins"]) == (0, "1 call was a stand-in (my.f: zeros)")


def test_recorded_results_make_stages_comparable(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    x = np.array([1, 2], np.float32)
    stages = tuple(
        RecordedStage(at, name, TEXT.format(op))
        for at, (name, op) in enumerate((("A", "add"), ("B", "add"), ("C", "subtract")))
    )
    calls = (RecordedCall(0, "my.f", (), x + 1),)
    recording = Recording("t", "trace", stages, runs=(RecordedRun("main", (x,), None, calls),))
    trace = file.parent / "t.rxt"
    trace.write_bytes(write_trace(Pipeline(recording)))
    status, out, _ = run(capsys, "bisect", trace, "--stand-in", "my.f=recorded", "--in-process")
    assert (status, "C.py (stage 2)" in out.splitlines()[-1]) == (1, True)
    status, out, _ = run(capsys, "bisect", trace, "--stand-in", "my.f=zeros", "--json", "--in-process")
    assert (status, json.loads(out)["verdict"]) == (4, "not comparable")
    assert "1 call was a stand-in (my.f: zeros); with them: different" in json.loads(out)["conclusion"]
    assert run(capsys, "compare", f"{trace}@0", f"{trace}@2", "--stand-in", "my.f=recorded", "--in-process")[0] == 1
    assert "does not call `other`" in run(capsys, "run", trace, "--stand-in", "other=recorded", "--in-process")[2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("my.f",), "--stand-in takes a name and what stands in"),
        (("my.f=own.py",), "--stand-in takes a name and what stands in"),
        (("my.f=zeros", "my.f=zeros"), "--stand-in gives my.f twice"),
        (("my.f=recorded",), "of a trace with a recorded run"),
        (("vm.builtin.copy=zeros",), "error[PL015]: `vm.builtin.copy` is part of the machine"),
        (("my.f=absent.py:f",), "error[PL011]"),
    ],
)
def test_what_is_no_stand_in_is_refused(
    capsys: pytest.CaptureFixture[str], file: Path, given: tuple[str, ...], words: str
) -> None:
    options = [part for item in given for part in ("--stand-in", item)]
    status, _, said = run(capsys, "run", file, *options, "--in-process")
    assert status in (1, 2)
    assert words in said
