"""`diff OLD NEW --markdown`: what became of the modules of a folder, with reports, values and an exit status."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.cli.review.changes import ModuleChange, exit_status, to_markdown
from relax_core.engine.debug.verdicts import NOT_COMPARED
from relax_core.engine.replies import CostRow, Measured
from tests.engine.programs import SAMPLES, SMALL
from tests.folders import write_files

MLP = (SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8")
ONE = Measured("1", (("relax.add", 2),), (), CostRow(0, "Source", operator_calls=2, peak_bytes=64))
OTHER = Measured("2", (("relax.multiply", 1),), (("dnnl", 1),), CostRow(0, "Source", operator_calls=1, peak_bytes=32))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["diff", "--in-process", *map(str, arguments), "--markdown"])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make two folders: a module that stays, one that computes something else, and one for each side alone."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path / "old", {"same.py": SMALL, "deep/act.py": MLP, "gone.py": SMALL, "notes.rst": "no module"})
    write_files(
        tmp_path / "new",
        {"same.py": f"# a comment\n{SMALL}", "deep/act.py": MLP.replace("nn.relu", "nn.gelu"), "come.py": SMALL},
    )
    return tmp_path


def test_modules_of_two_folders_are_compared_by_name(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "old", "new")
    assert status == 1
    assert out.startswith("## old → new\n\n4 modules: 1 unchanged, 1 changed, 1 added, 1 removed.\n")
    rows = dict(re.findall(r"^\| (.) \| `([\w/.]+)`", out, re.MULTILINE))
    assert rows == {"+": "come.py", "~": "deep/act.py", "−": "gone.py", "=": "same.py"}
    part = out.partition("### ~ `deep/act.py`")[2].partition("###")[0]
    assert "- more calls: `relax.nn.gelu` 0 → 1\n- fewer calls: `relax.nn.relu` 1 → 0\n" in part
    assert "- values: different: out: 12 of 12 elements differ" in part
    assert "### = " not in out


def test_passes_run_on_both_sides(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "old/same.py", "new/same.py", "--passes", "LegalizeOps")[1]
    assert "| = | `same.py` unchanged | 1 | 1 | 1 |" in out
    lowered = run(capsys, "old/deep/act.py", "new/deep/act.py", "--passes", "LegalizeOps")[1]
    assert "| ~ | `act.py` changed | 5 | 5 | 5 |" in lowered


def test_a_change_that_computes_the_same_fails_only_where_that_is_asked(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opt", "--in-process", "old/deep/act.py", "--passes", "LegalizeOps, FuseOps, FuseTIR"]) == 0
    (folders / "lowered.py").write_text(capsys.readouterr().out, encoding="utf-8")
    status, out, _ = run(capsys, "old/deep/act.py", "lowered.py")
    assert (status, "values: same: 1 result compared" in out) == (1, True)
    assert "one call of it: operators 5 → 0, kernels - → 3" in out
    assert run(capsys, "old/deep/act.py", "lowered.py", "--fail-on", "values")[0] == 0
    assert run(capsys, "old/deep/act.py", "new/deep/act.py", "--fail-on", "values")[0] == 1
    assert run(capsys, "old/same.py", "new/same.py")[0] == 0


def test_a_module_that_cannot_be_measured_says_why(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folders / "new" / "same.py").write_text(SMALL.replace("R.add(x, x)", "R.add(x, z)"), encoding="utf-8")
    (folders / "old" / "gone.py").unlink()
    (folders / "new" / "come.py").unlink()
    (folders / "new" / "deep" / "act.py").write_bytes(b"\xff")
    status, out, _ = run(capsys, "old", "new")
    assert (status, out.count("| ? |")) == (NOT_COMPARED, 2)
    assert "NEW: RS001: " in out
    assert "new/deep/act.py is not UTF-8 text: byte 0" in out.replace("\\", "")


def test_reports_are_written_of_what_changed(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = "https://example.org/runs/7"
    out = run(capsys, "old", "new", "--reports", "reports", "--link-base", address)[1]
    found = sorted(path.relative_to(folders).as_posix() for path in folders.glob("reports/**/*.html"))
    assert found == [
        "reports/new/come.py.html", "reports/new/deep/act.py.html", "reports/old/deep/act.py.html",
        "reports/old/gone.py.html",
    ]  # fmt: skip
    assert f"- reports: [old](<{address}/old/deep/act.py.html>), [new](<{address}/new/deep/act.py.html>)" in out
    assert "R.nn.gelu" in re.sub(r"<[^>]+>", "", (folders / found[1]).read_text(encoding="utf-8"))


def test_a_run_of_both_is_timed_if_that_is_asked(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "old/deep/act.py", "new/deep/act.py", "--time")[1]
    assert re.search(r"^- time of one run: [\d,]+ µs → [\d,]+ µs$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("old", "new/same.py"), "old and new/same.py: one is a folder, and the other is not"),
        (("old/missing.py", "new/same.py"), "cannot read old/missing.py"),
        (("old", "new", "--structure"), "--markdown goes with neither --printed, --structure nor --json"),
        (("empty", "empty"), "neither empty nor empty holds a module: .py, "),
    ],
    ids=["a folder and a file", "no file", "another form", "no modules"],
)
def test_what_cannot_be_compared_is_said(
    arguments: tuple[str, ...], words: str, folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folders / "empty").mkdir()
    status, out, said = run(capsys, *arguments)
    assert (status, out) == (BAD_USAGE, "")
    assert words in said


def test_names_and_messages_stay_text() -> None:
    name = "a`|b\n<img src=x>.py"
    change = ModuleChange(name, problem="OLD: `x|y` is not @main; <b>*bold*</b> [x](http://e.invalid) | cell")
    out = to_markdown([change], "title")
    rows = [line for line in out.splitlines() if line.startswith("| ?")]
    assert [line.count(" | ") for line in rows] == [8]
    assert "`aˋ¦b\\n<img src=x>.py`" in out
    assert "`x¦y` is not `@main`; \\<b\\>\\*bold\\*\\</b\\> \\[x\\](http://e.invalid) \\| cell" in out


@pytest.mark.parametrize(
    ("change", "any_change", "values"),
    [
        (ModuleChange("m", ONE, ONE), 0, 0),
        (ModuleChange("m", ONE, OTHER, values="same"), 1, 0),
        (ModuleChange("m", ONE, OTHER, values="different"), 1, 1),
        (ModuleChange("m", ONE, OTHER, values="stops alike"), 1, 4),
        (ModuleChange("m", ONE, None, missing="new"), 1, 0),
        (ModuleChange("m", problem="why"), 4, 4),
    ],
    ids=["unchanged", "same values", "other values", "no values", "removed", "not measured"],
)
def test_the_status_is_that_of_the_gravest(change: ModuleChange, any_change: int, values: int) -> None:
    whole = (ModuleChange("first", ONE, ONE), change)
    assert (exit_status(whole, "change"), exit_status(whole, "values")) == (any_change, values)


def test_regions_and_what_is_not_counted_are_told() -> None:
    hindered = Measured("3", (), (), CostRow(0, "", hindrance="costs are counted in Relax, and this is Relay"))
    out = to_markdown([ModuleChange("a", ONE, OTHER, values="same"), ModuleChange("b", ONE, hindered)], "title")
    assert "- regions: none → 1 of `dnnl`" in out
    assert "- not counted: costs are counted in Relax, and this is Relay" in out
    assert "| 64 → 32 |" in out
    assert "| 64 → - |" in out


BEFORE = """
def add_as_multiply(module):
    return module
"""
AFTER = """
import relax_core as rc

x = rc.wildcard()


def add_as_multiply(module):
    return rc.rewrite(rc.is_op("add")(x, x), lambda match: match[x], module)
"""


@pytest.mark.parametrize(
    ("after", "status", "words"), [(BEFORE, 0, "1 unchanged"), (AFTER, 1, "1 different")], ids=["as before", "wrong"]
)
def test_the_steps_of_the_workflow_compare_two_versions_of_a_pass(
    after: str, status: int, words: str, tmp_path: Path
) -> None:
    for side, text in (("old", BEFORE), ("new", after)):
        write_files(tmp_path / side, {"passes.py": text, "modules/deep/small.py": SMALL})
    script = tmp_path / "relaxscope"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relax_core "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    workflow = (SAMPLES.parent / "docs" / "guides" / "review.yml").read_text(encoding="utf-8")
    steps = re.findall(r"^        run: \|\n((?:          .*\n)+)", workflow, re.MULTILINE)
    summary = tmp_path / "page_of_the_build"
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SAMPLES.parent),
        "PASSES": "add_as_multiply",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    statuses = [
        subprocess.run(("bash", "-e", "-c", dedent(step)), cwd=tmp_path, env=environment, check=False).returncode
        for step in steps[1:]
    ]
    assert statuses == [0, status]
    assert words in summary.read_text(encoding="utf-8")
    assert (tmp_path / "reports" / "new" / "deep" / "small.py.html").exists() == bool(status)
