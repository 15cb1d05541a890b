"""Single commands on many modules: a folder without a recording, a pattern, several files."""

import json
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.cli.review.named import holds_modules
from tests.engine.programs import SMALL
from tests.folders import write_files

ILL_TYPED = SMALL.replace("R.add(x, x)", "R.add(x, z)")
MISSPELT = SMALL.replace("R.add(x, x)", "R.ad(x, x)")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([*map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.fixture(autouse=True)
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of modules, one beside it that has another one, and the dumps of a compiler."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path / "zoo", {"good.py": SMALL, "deep/bad.py": ILL_TYPED})
    write_files(tmp_path / "other", {"good.py": SMALL, "deep/bad.py": SMALL})
    write_files(tmp_path / "dumps", {"000_first.py": SMALL, "001_second.py": SMALL})
    write_files(tmp_path / "nested", {"deeper/good.py": SMALL})
    write_files(tmp_path / "numbered", {"00.py": SMALL, "01.py": SMALL})
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "is_many"),
    [
        ("zoo", True),
        ("nested", True),
        ("zoo/*.py", True),
        ("no/*.py", True),
        ("dumps", False),
        ("numbered", False),
        ("empty", False),
        ("zoo/good.py", False),
        ("zoo/missing.py", False),
        ("dumps@1", False),
    ],
)
def test_modules_are_in_folders_without_a_recording_and_in_patterns(path: str, is_many: bool) -> None:
    assert holds_modules(path) is is_many


def test_check_says_what_each_module_has(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", "zoo")
    assert status == 1
    assert out.startswith("zoo/deep/bad.py:")
    assert out.endswith("zoo/good.py: no problems\n")
    status, out, _ = run(capsys, "check", "zoo/**/*.py", "--json")
    assert [(item["name"], item["has_errors"]) for item in map(json.loads, out.splitlines())] == [
        ("zoo/deep/bad.py", True),
        ("zoo/good.py", False),
    ]
    status, out, error = run(capsys, "check", "zoo/*.relay", "zoo/good.py")
    assert (status, out) == (BAD_USAGE, "zoo/good.py: no problems\n")
    assert "no file is named like zoo/*.relay" in error
    assert run(capsys, "check", "dumps")[1] == "000_first.py: no problems\n"


def test_check_mends_each_module_of_a_folder(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(zoo / "zoo", {"deep/bad.py": MISSPELT})
    assert run(capsys, "check", "zoo", "--fix")[0] == 0
    assert (zoo / "zoo/deep/bad.py").read_text(encoding="utf-8") == SMALL


def test_the_other_commands_are_those_of_batch(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "run", "zoo", "--seed", 3, "--json")
    assert status == 1
    assert [(item["name"], item["command"], item["outcome"]) for item in map(json.loads, out.splitlines())] == [
        ("deep/bad.py", "run", "failed"),
        ("good.py", "run", "passed"),
    ]
    status, out, _ = run(capsys, "diff", "zoo", "other")
    assert status == 4
    assert "deep/bad.py  diff  not compared" in out
    assert "1 passed, 1 not compared" in out
    status, out, _ = run(capsys, "bisect", "zoo/g*.py")
    assert (status, out.splitlines()[1]) == (0, "bisect  1 passed")


def test_partition_takes_several_files(zoo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (zoo / "table.json").write_text('{"patterns": [], "supported": {"dnnl": ["add"]}}', encoding="utf-8")
    asked = ("partition", "zoo/good.py", "other/good.py", "--table", "table.json", "--targets", "dnnl")
    status, out, _ = run(capsys, *asked)
    assert (status, out.splitlines()[1]) == (0, "partition  2 passed")
    assert run(capsys, *asked, "--fail-under", 2)[0] == BAD_USAGE


@pytest.mark.parametrize(
    "asked",
    [
        ("run", "zoo", "--profile"),
        ("run", "zoo/good.py", "other/good.py", "--break", "3"),
        ("bisect", "zoo", "--values"),
        ("diff", "zoo", "other", "--structure"),
        ("partition", "zoo", "--markdown"),
    ],
)
def test_what_is_for_one_module_is_refused_for_many(asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, _, error = run(capsys, *asked)
    assert status == BAD_USAGE
    assert "is for one module, and " in error
    assert asked[-1 if asked[-1].startswith("--") else -2] in error
