"""Recorded runs on the command line: written by `run --trace`, and shown without being run."""

from pathlib import Path

import pytest

from relax_core.cli import main
from tests.engine.programs import SAMPLES

LOOP = SAMPLES / "relax" / "loop.py"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["run", *(str(item) for item in arguments), "--in-process"])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    status, _, said = run(capsys, LOOP, "--trace", tmp_path / "run.rxt")
    assert status == 0
    assert "events; python -m relax_core open shows them" in said
    return tmp_path / "run.rxt"


def test_a_recorded_run_is_shown_as_it_was(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, note = run(capsys, file)
    assert (status, out) == run(capsys, LOOP)[:2]
    assert note.startswith("note: ")
    assert note.endswith("a recorded run, which is shown as it was: nothing is run\n")
    for asked in (("--memory",), ("--break", "@8", "--stops", "2"), ("--memory", "--json")):
        assert run(capsys, file, *asked)[:2] == run(capsys, LOOP, *asked)[:2]


@pytest.mark.parametrize(
    "option",
    [("--seed", "3"), ("--sizes", "n=4"), ("--passes", ""), ("--mode", "fast"), ("--profile",), ("--set", "3: n = 2")],
)
def test_what_would_make_another_run_does_not_apply(
    capsys: pytest.CaptureFixture[str], file: Path, option: tuple[str, ...]
) -> None:
    status, _, said = run(capsys, file, *option)
    assert status == 2
    assert option[0] in said
    assert "Traceback" not in said


def test_a_run_file_that_was_cut_short_is_refused(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    file.write_bytes(file.read_bytes()[:900])
    status, _, said = run(capsys, file)
    assert status == 2
    assert said.startswith("error[PL003]")


def test_a_stopped_run_is_written_and_stops_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "stopped.rxt"
    status, _, said = run(capsys, SAMPLES / "errors" / "jt_out_of_range.py", "--trace", path)
    assert status == 1
    found = run(capsys, path)
    assert found[0] == 1
    assert said.split("\n", 1)[1] == found[2].split("\n", 1)[1]
