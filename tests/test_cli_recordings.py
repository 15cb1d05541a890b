"""Recorded pipelines on the command line: whatever takes a file takes them, and `stages` and `pack` are about them."""

import json
import re
import socket
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from relax_core.cli import main
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE, WATCH_VARIABLE
from tests.engine.pipelines.stage_texts import ADD, SCALED, SHIFTED, TWICE, UNREADABLE, WRONG, after, dump


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return dump(tmp_path / "dump", _000_A=ADD, _001_B=ADD, _002_Rewrite=TWICE, _003_Broken=WRONG, _004_Last=WRONG)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(arguments[0]), "--in-process", *map(str, arguments[1:])])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_bisect_names_the_pass_in_a_folder_a_zip_a_log_and_a_trace(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    log = tmp_path / "log.txt"
    log.write_text("".join(after(path.stem[4:], path.read_text()) for path in sorted(folder.iterdir())))
    trace = tmp_path / "d.rxt"
    assert run(capsys, "pack", folder, "--output", trace)[0] == 0
    for path in (folder, tmp_path / "d.zip", log, trace):
        status, out, _ = run(capsys, "bisect", path)
        assert status == 1, path
        assert "003_Broken" in out.splitlines()[-1]
    assert run(capsys, "bisect", folder, "--values", "--json")[0] == 1
    assert main(["bisect", str(folder)]) == 1, "a worker answers the same"


def test_a_command_takes_a_stage_where_it_takes_a_file(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "R.add" in run(capsys, "script", f"{folder}@0")[1]
    assert "R.multiply" in run(capsys, "opt", f"{folder}@2", "--passes", "Normalize")[1]
    status, out, note = run(capsys, "script", folder)
    assert (status, "R.add" in out, "stage 0" in note) == (0, True, True)
    assert run(capsys, "compare", f"{folder}@0", f"{folder}@2")[0] == 0
    assert run(capsys, "compare", folder, "--stages", 0, 3)[0] == 1
    assert run(capsys, "run", f"{folder}@9")[::2] == (
        2,
        f"error[PL013]: {folder} has no stage 9\nhint: stages: 0 to 4\n",
    )
    file = folder / "000_A.py"
    assert run(capsys, "script", f"{file}@0")[0] == 2
    assert run(capsys, "origins", f"{folder}@2", "--line", 9)[0] == 0


def test_check_looks_at_every_form(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "002_Rewrite.py").write_text(UNREADABLE)
    status, out, _ = run(capsys, "check", folder)
    assert status == 1
    assert "002_Rewrite.py:9" in out
    assert "000_A.py: no problems" in out


def test_stages_lists_them(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, out, _ = run(capsys, "stages", folder)
    assert status == 0
    assert out.splitlines()[-1] == "5 stages, 3 different forms of the program"
    rows = [json.loads(line) for line in run(capsys, "stages", folder, "--json")[1].splitlines()]
    assert [row["is_changed"] for row in rows] == [True, False, True, True, False]
    assert run(capsys, "stages", folder, "--print", 3)[1] == WRONG
    assert run(capsys, "stages", folder, "--print", 7)[0] == 2
    assert run(capsys, "stages", folder / "000_A.py")[0] == 0


def test_missing_constants_are_listed_and_may_be_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = dump(tmp_path / "dump", _000_A=SCALED, _001_B=re.sub(r"\by\b", "z", SCALED))
    status, _, said = run(capsys, "bisect", folder)
    assert status == 4
    assert said.count("PL006") == 1
    assert "line 9" in said
    np.savez(tmp_path / "c.npz", np.array([1, 2, 3], np.float32))
    assert run(capsys, "bisect", folder, "--constants", tmp_path / "c.npz")[::2] == (0, "")
    assert run(capsys, "run", folder / "000_A.py", "--constants", tmp_path / "c.npz")[0] == 0
    (folder / "002_C.py").write_text(SHIFTED)
    status, _, said = run(capsys, "bisect", folder, "--constants", tmp_path / "c.npz")
    assert status == 4, "its numbers are not those of the first stage"
    assert "stage 2" in said
    np.savez(tmp_path / "c.npz", a=np.array([1], np.float32))
    assert "PL007" in run(capsys, "bisect", folder, "--constants", tmp_path / "c.npz")[2]


@pytest.mark.usefixtures("pass_file")
def test_the_stages_of_our_own_passes_are_written_as_a_trace(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "own.rxt"
    assert run(capsys, "opt", folder / "000_A.py", "--passes", "Normalize, LegalizeOps", "--trace", trace)[0] == 0
    rows = [json.loads(line) for line in run(capsys, "stages", trace, "--json")[1].splitlines()]
    assert [row["name"] for row in rows] == ["(input)", "Normalize", "LegalizeOps"]
    assert [row["is_changed"] for row in rows] == [True, False, True]
    assert rows[2]["seconds"] > 0
    assert run(capsys, "bisect", trace)[0] == 0
    mine = tmp_path / "mine.py"
    mine.write_text("def Broken(module):\n    raise ValueError('no')\n")
    chosen = ("--passes", "Normalize, Broken", "--pass-file", mine, "--trace", trace)
    assert run(capsys, "opt", folder / "000_A.py", *chosen)[0] == 1
    assert "ValueError: no" in run(capsys, "stages", trace)[1]


def test_what_cannot_be_opened_is_bad_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04")
    status, _, said = run(capsys, "bisect", tmp_path / "x.zip")
    assert (status, said.startswith("error[PL003]")) == (2, True)
    assert run(capsys, "stages", tmp_path / "none")[0] == 2
    (tmp_path / "empty").mkdir()
    assert "PL001" in run(capsys, "check", tmp_path / "empty")[2]


def test_open_refuses_what_holds_no_stages_before_it_starts_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: Path
) -> None:
    status, _, err = run(capsys, "open", tmp_path / "missing")
    assert status == 2
    assert "PL001" in err
    status, _, err = run(capsys, "open", folder, "--port", 70_000)
    assert status == 2
    assert "--port" in err


def test_open_takes_no_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, err = run(capsys, "open", "--port", port)
    assert status == 2
    assert f"something listens at port {port} already" in err


@pytest.mark.parametrize(
    ("path", "said"),
    [("", "RelaxScope, at http://127.0.0.1:8613/\n"), ("small.py", "small.py: 2 lines, at http://127.0.0.1:8613/\n")],
    ids=["the app alone", "a program"],
)
def test_open_shows_what_it_opens(
    path: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.py").write_text("x\ny\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    started: list[str] = []

    def call(_command: tuple[str, ...], *, cwd: Path, env: dict[str, str]) -> int:
        assert (cwd / "app.py").is_file()
        started.append(env[OPEN_VARIABLE])
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    assert run(capsys, "open", *filter(None, (path,)), "--port", 8613, "--no-browser") == (0, said, "")
    assert started == [str(tmp_path / path) if path else ""]


def test_open_follows_a_program_and_no_recording(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "small.py"
    program.write_text("x\n", encoding="utf-8")
    asked: list[str] = []

    def call(_command: tuple[str, ...], *, cwd: Path, env: dict[str, str]) -> int:
        assert (cwd / "app.py").is_file()
        asked.append(env[WATCH_VARIABLE])
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    for options in ((program,), (program, "--watch")):
        assert run(capsys, "open", *options, "--port", 8613, "--no-browser")[0] == 0
    assert asked == ["", "1"]
    for path, what in ((folder, f"{folder} is a recording"), ("", "none is named")):
        status, _, err = run(capsys, "open", *filter(None, (path,)), "--watch", "--no-browser")
        assert status == 2
        assert f"--watch follows the file of a program, and {what}" in err


def test_open_starts_the_app_on_the_path(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[tuple[str, ...], str]] = []

    def call(command: tuple[str, ...], *, cwd: Path, env: dict[str, str]) -> int:
        assert (cwd / "app.py").is_file()
        started.append((command, env[OPEN_VARIABLE]))
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    status, out, _ = run(capsys, "open", folder, "--port", 8600)
    assert status == 0
    assert "5 stages, at http://127.0.0.1:8600/pipeline" in out
    ((command, path),) = started
    assert command[1:4] == ("-m", "streamlit", "run")
    assert path == str(folder)
