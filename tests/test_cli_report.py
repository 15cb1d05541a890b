"""`report` writes one HTML file: where, of what, with which notes, and with which exit status."""

import re
from pathlib import Path

import numpy as np
import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, main
from tests.engine.programs import SMALL


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.py").write_text(SMALL, encoding="utf-8")
    return "small.py"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["report", "--in-process", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_report_is_written_beside(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, said = run(capsys, small)
    assert (status, out) == (0, "")
    assert re.fullmatch(r"note: report\.html is the report, \d+ kB\n", said)
    first = (tmp_path / "report.html").read_bytes()
    assert first.startswith(b"<!doctype html>")
    assert run(capsys, small, "-o", "again.html")[0] == 0
    assert (tmp_path / "again.html").read_bytes() == first


def test_the_worker_writes_the_same_report(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, small, "-o", "here.html")[0] == 0
    assert main(["report", small, "-o", "there.html"]) == 0
    assert (tmp_path / "here.html").read_bytes() == (tmp_path / "there.html").read_bytes()


def test_a_report_can_be_printed(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, said = run(capsys, small, "-o", "-", "--parts", "source")
    assert (status, out.count('<section id="'), said) == (0, 2, "")


def test_a_report_has_notes_and_a_date(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("It is **slow**.", encoding="utf-8")
    out = run(capsys, small, "-o", "-", "--notes", "notes.txt", "--dated")[1]
    assert "It is <strong>slow</strong>." in out
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", out)
    assert ">ms</th>" in out


def test_the_command_in_a_report_names_its_files(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "given.npz", in_0=np.full((2, 3), 4, "float32"))
    out = run(capsys, small, "-o", "-", "--inputs", "given.npz", "--passes", "LegalizeOps")[1]
    assert "python -m relax_core report small.py --passes LegalizeOps --inputs given.npz" in out
    assert "given as an archive" in out
    assert "8.00" in out


def test_a_value_that_was_set_is_in_the_report(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, small, "-o", "-", "--set", "end: y = zeros()")[1]
    assert "1 change was made while it ran" in out


def test_a_program_that_stops_has_a_report_and_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.py").write_text(SMALL.replace("R.add(x, x)", "R.add(x, z)"), encoding="utf-8")
    assert run(capsys, "wrong.py")[0] == DIAGNOSED
    assert "There is nothing to show, because:" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--parts", "source,values"), "a report has no part values; parts: source, passes, run"),
        (("--parts", ","), "--parts names none of source, passes, run"),
        (("--notes", "missing.txt"), "missing.txt"),
        (("-o", "missing/report.html"), "cannot write missing/report.html"),
    ],
    ids=["no such part", "no part", "no notes", "no folder"],
)
def test_what_cannot_be_done_is_said(
    arguments: tuple[str, ...], words: str, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, said = run(capsys, small, *arguments)
    assert status == BAD_USAGE
    assert words in said
