"""What a terminal has besides: progress on a line of its own, and commands that follow their files."""

import contextlib
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, INTERRUPTED, main
from relax_core.cli.integration.progress import Line, TerminalClient
from relax_core.cli.integration.watching import stamp_of
from relax_core.engine.protocol import Check, Failure, Program, Progress
from tests.code_rules import REPOSITORY
from tests.engine.programs import ENDLESS, SMALL


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_a_line_says_what_takes_long_and_is_taken_away() -> None:
    now = [10.0]
    stream = io.StringIO()
    line = Line(stream, lambda: now[0])
    line.note(Progress("Running FuseOps", 3, 12))
    line.draw()
    line.clear()
    assert stream.getvalue() == "", "nothing is said of what is quick"
    now[0] += 2
    line.draw()
    line.note(Progress("Running FuseTIR", 4, 12))
    line.note(Progress("Waiting"))
    now[0] += 1
    line.draw()
    line.clear()
    parts = stream.getvalue().split("\r\x1b[K")
    assert parts == ["", "Running FuseOps, 3 of 12 · 2 s", "Waiting · 3 s", ""]


def test_a_line_is_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    times = iter((0.0, 3.0))
    line = Line(stream, lambda: next(times))
    line.note(Progress("x" * 50))
    line.draw()
    assert stream.getvalue() == "\r\x1b[K" + "x" * 19


def test_a_long_run_is_followed_on_a_terminal(tmp_path: Path) -> None:
    """A worker that runs a kernel reports nothing meanwhile."""
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS, encoding="utf-8")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        (sys.executable, "-m", "relax_core", "run", str(path)), cwd=REPOSITORY, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = ""
        while re.search(r"· 2 s[^·]*· 3 s", seen) is None:
            seen += os.read(ours, 4096).decode()
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                seen += part.decode()
        assert process.wait(60) == INTERRUPTED
    os.close(ours)
    assert seen.rpartition("\r\x1b[K")[2].strip() == "interrupted"


def test_requests_of_a_terminal_are_answered() -> None:
    with TerminalClient() as client:
        found = client.request(Check(Program(SMALL)))
        assert not isinstance(found, Failure)
        assert not found.has_errors


def _save(path: Path, text: str) -> None:
    """Put a text in the place of another one at once: what is written in place may be read while it is empty."""
    new = path.with_name("new.txt")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_a_watched_file_is_checked_again(small: Path) -> None:
    command = (sys.executable, "-m", "relax_core", "check", str(small), "--watch")
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == f"{small}: no problems\n"
        assert process.stderr.readline().startswith(f"[status 0; {small} watched since ")
        _save(small, "class")
        assert "error[" in process.stdout.readline()
        while not (line := process.stderr.readline()).startswith("[status"):
            assert line
        assert line.startswith("[status 1; ")
        small.unlink()
        assert process.stderr.readline().startswith("error: cannot read ")
        assert process.stderr.readline().startswith("[status 2; ")
        _save(small, SMALL)
        assert process.stderr.readline().startswith("[status 0; ")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_standard_input_is_not_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-", "--watch", "--in-process"]) == BAD_USAGE
    assert "cannot be watched" in capsys.readouterr().err


def test_a_folder_changes_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1", encoding="utf-8")
    before = stamp_of((str(tmp_path),))
    (tmp_path / "b.py").write_text("2", encoding="utf-8")
    assert stamp_of((str(tmp_path),)) != before
    assert stamp_of((str(tmp_path / "missing"),)) == ()


def test_check_prints_objects(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = small.with_name("wrong.py")
    wrong.write_text("class", encoding="utf-8")
    assert main(["check", str(small), str(wrong), "--json", "--in-process"]) == DIAGNOSED
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"name": str(small), "has_errors": False}
    assert second["has_errors"]
    assert [item["code"] for item in second["problems"]] == ["PA001"]


def test_texts_are_printed_as_objects(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(small), "--in-process"]) == 0
    text = capsys.readouterr().out
    assert main(["script", str(small), "--json", "--in-process"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"name": str(small), "text": found["text"]}
    assert found["text"].rstrip("\n") == text.rstrip("\n")
    assert main(["asm", str(small), "--json", "--in-process"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert (listing["form"], listing["kernel"]) == ("bytecode", "")
    assert main(["asm", str(small), "--in-process"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == listing["text"].rstrip("\n")
