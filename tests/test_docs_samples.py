"""The samples of code in the documents that are marked with `<!-- run -->` run, and print what is said."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.documents import DOCUMENTS, MARK, REPOSITORY, Sample, name_of, samples

MARKED = tuple(path for path in DOCUMENTS if any(samples(path)))
LONGEST_SECONDS = 120


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which the documents' paths lead to the repository, and nothing that is written stays."""
    for name in ("samples", "tests"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def environment(folder: Path) -> Mapping[str, str]:
    """Return the variables with which `python` is this one, and finds the program."""
    (folder / "bin").mkdir(exist_ok=True)
    script = folder / "bin" / "python"
    if not script.exists():
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    return {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)}


def run_shell(sample: Sample, folder: Path) -> str:
    """Run the lines of a sample up to the first that fails; the status is as the document says."""
    done = subprocess.run(
        ("sh", "-e", "-c", sample.text),
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    assert done.returncode == sample.status, f"line {sample.line}: status {done.returncode}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("path", MARKED, ids=name_of)
def test_the_marked_samples_run_in_order(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    printed = ""
    for sample in samples(path):
        match sample.kind, sample.language:
            case "run", "sh":
                printed = run_shell(sample, folder)
            case "run", "python":
                exec(compile("\n" * sample.line + sample.text, name_of(path), "exec"), names)
                printed = capsys.readouterr().out
            case "prints", _:
                missing = [line for line in sample.text.splitlines() if line.strip() not in printed]
                assert not missing, f"line {sample.line}: not printed: {missing}\n{printed[-3000:]}"
            case _:
                pytest.fail(f"line {sample.line}: a sample in {sample.language} cannot be run")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_mark_is_one_of_a_sample(path: Path) -> None:
    marks = len(MARK.findall(path.read_text(encoding="utf-8")))
    assert marks == len(tuple(samples(path)))


def blocks() -> Iterator[Sample]:
    for path in MARKED:
        yield from samples(path)


def test_commands_and_python_are_among_what_is_run() -> None:
    assert sum(block.kind == "run" and block.language == "sh" for block in blocks()) >= 10
    assert sum(block.kind == "run" and block.language == "python" for block in blocks()) >= 5
    assert sum(block.kind == "prints" for block in blocks()) >= 5
