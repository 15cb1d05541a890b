"""The command `batch`: modules of folders and patterns, reports and statuses, with workers of this machine."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.cli.review import batch
from relax_core.cli.review.named import module_files
from tests.code_rules import REPOSITORY
from tests.engine.programs import ENDLESS, SMALL
from tests.folders import write_files
from tests.processes import wait_until

ILL_TYPED = SMALL.replace("R.add(x, x)", "R.add(x, z)")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["batch", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make two folders of modules: `old`, and `new` in which one is changed, one is gone and one came."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path / "old", {"same.py": SMALL, "deep/act.py": SMALL, "gone.py": SMALL, "notes.rst": "no module"})
    write_files(
        tmp_path / "new",
        {"same.py": f"# 1\n{SMALL}", "deep/act.py": SMALL.replace("R.add", "R.multiply"), "come.py": ILL_TYPED},
    )
    return tmp_path


def test_modules_are_those_of_files_folders_and_patterns(zoo: Path) -> None:
    assert [file.name for file in module_files(["old", "old/same.py"])] == ["deep/act.py", "gone.py", "same.py"]
    assert [file.name for file in module_files(["old/**/*.py"])] == ["deep/act.py", "gone.py", "same.py"]
    assert [file.name for file in module_files(["old", "new"])] == [
        "come.py",
        "gone.py",
        "new/deep/act.py",
        "new/same.py",
        "old/deep/act.py",
        "old/same.py",
    ]


def test_a_run_writes_its_reports_and_the_next_one_takes_its_results(
    zoo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("check,diff", "new", "--against", "old", "--processes", 2, "--store", "s")
    reports = ("--junit", "j.xml", "--markdown", "summary.txt", "--html", "m.html")
    status, out, err = run(capsys, *asked, *reports)
    assert (status, err) == (1, "")
    rows = [line.split(": ")[0].split() for line in out.splitlines()[:4]]
    assert rows[0][:4] == ["come.py", "check", "failed", "at"]
    assert rows[1:] == [["diff", "failed"], ["deep/act.py", "check", "passed"], ["diff", "failed"]]
    assert "gone.py  diff  failed: removed: only OLD has it" in out.replace("      ", "  ")
    assert all("deep/act.py" in (zoo / name).read_text(encoding="utf-8") for name in ("j.xml", "summary.txt", "m.html"))
    again = run(capsys, *asked, "--compare", "s", "--fail-on", "worse", "--json")
    cells = {(one["name"], one["command"]): one for one in map(json.loads, again[1].splitlines())}
    assert cells["deep/act.py", "diff"]["earlier"] == cells["deep/act.py", "diff"]["result"]
    summary = run(capsys, *asked)[1].splitlines()[-1]
    assert summary.startswith("0 jobs in ")
    assert summary.endswith("2 processes; 5 results kept from before")


def test_a_limit_ends_a_job_and_no_other(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (zoo / "old" / "endless.py").write_text(ENDLESS, encoding="utf-8")
    status, out, _ = run(capsys, "run", "old", "--seconds", "1", "--retries", "0", "--processes", "1")
    assert status == 3
    assert out.startswith("endless.py  run  limit: ")
    assert "\nrun  3 passed, 1 limit\n" in out


def kept_count(store: Path) -> int:
    """Return how many results a file has, 0 before it is there."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_what_is_kept_survives_an_interrupt(zoo: Path) -> None:
    (zoo / "old" / "z_endless.py").write_text(ENDLESS, encoding="utf-8")
    command = (sys.executable, "-m", "relax_core", "batch", "run", "old", "--processes", "1", "--store", "s", "--json")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        # It is stopped while it is at the last one.
        assert wait_until(lambda: kept_count(zoo / "s") == 1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    outcomes = [json.loads(line)["outcome"] for line in out.splitlines()]
    assert outcomes == ["passed", "passed", "passed", "not done"]
    assert "not all was done: interrupted; what was done is in s" in err


@pytest.mark.usefixtures("pass_file")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chek", "old"), "batch carries out check, run, bisect, partition, diff, with commas between; got chek"),
        (("diff", "old"), "diff and --against OLD go together"),
        (("check", "old", "--against", "new"), "diff and --against OLD go together"),
        (("partition", "old"), "partition needs --table"),
        (("check", "old/*.relay"), "no file is named like old/*.relay"),
        (("check", "old", "--again"), "--again goes with --store"),
        (("check", "old", "--fail-on", "worse"), "--fail-on worse goes with --compare"),
        (("check", "old", "--compare", "none"), "there are no results in none: no such file"),
        (("check", "old", "--scheduler", "tcp://x:1", "--pass-file", "p.py"), "do not go together"),
        (("check", "old", "--batch-size", "0"), "--batch-size takes a number from 1 on"),
        (("check", "old", "--memory", "8"), "a worker needs --memory 640 at least"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_done_is_refused(
    arguments: tuple[str, ...],
    words: str,
    zoo: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (BAD_USAGE, "")
    assert words in err


def test_without_the_package_no_cluster_is_asked(
    zoo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(_name: str) -> None:
        return None

    monkeypatch.setattr(batch, "find_spec", found)
    status, _, err = run(capsys, "check", "old", "--scheduler", "tcp://127.0.0.1:1")
    assert (status, err) == (2, "error: --scheduler needs the package distributed: pip install 'relaxscope[dask]'\n")
