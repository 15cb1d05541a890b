"""What README.md shows can be run: its Python as it stands there, its commands with the options that it names."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")

SCALED = """# A program for the README's names: `text`, `numpy_array`.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), n: R.Prim("int64")) -> R.Tensor((2, 3), "float32"):
        i = R.add(x, x)
        return i
"""
NETWORK = (REPOSITORY / "samples" / "relay" / "conv_bn_relu.relay").read_text(encoding="utf-8")
PYTHON = ("In Python", "Stepping", "Compiler regions and devices")


def section(title: str) -> str:
    return re.split(r"^## ", README, flags=re.MULTILINE)[[part.splitlines()[0] for part in parts()].index(title)]


def parts() -> list[str]:
    return re.split(r"^## ", README, flags=re.MULTILINE)


def code_of(title: str) -> str:
    """Return the indented lines of a section."""
    return "\n".join(line[4:] for line in section(title).splitlines() if line.startswith("    "))


def scale(tensor: Any, by: int = 2, *, out: Any) -> Any:
    out[...] = tensor * by
    return out


def names_of(title: str) -> dict[str, Any]:
    """Return what the text of a section takes for granted."""
    array = np.ones((2, 3), np.float32)
    module = rc.parse(SCALED, name="m.py")
    pattern = rc.pattern("is_op('nn.relu')(wildcard())")
    known: dict[str, dict[str, Any]] = {
        "In Python": {"text": SCALED, "numpy_array": array, "a": module, "b": module, "scale": scale},
        "Stepping": {"exe": rc.build(module), "numpy_array": array},
        "Compiler regions and devices": {"rc": rc, "mod": rc.parse(NETWORK, name="m.relay"), "pattern": pattern},
    }
    return known[title]


@pytest.mark.parametrize("title", PYTHON)
def test_the_python_of_a_section_runs_as_it_stands_there(
    title: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # What it writes does not stay; what it reads is found from the top of the repository.
    for folder in ("samples", "tests"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    monkeypatch.chdir(tmp_path)
    names = names_of(title)
    exec(compile(code_of(title), f"README.md: {title}", "exec"), names)
    if title == "In Python":
        assert "@main:" in capsys.readouterr().out
        np.testing.assert_array_equal(names["out"], 2 * names["numpy_array"])
    if title == "Stepping":
        assert names["at"] == len(names["trace"])
    if title == "Compiler regions and devices":
        assert names["stages"][-1].pass_name == "PartitionGraph"


def commands() -> list[str]:
    joined = re.sub(r"\n {16,}", " ", code_of("On the command line"))
    return [line for line in joined.splitlines() if line.startswith("python -m relax_core ")]


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "--help"]) == 0
    return capsys.readouterr().out


def test_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {shlex.split(line)[3] for line in commands()}
    assert listed == set(re.findall(r"^    (\w+)(?= |$)", help_of(capsys), re.MULTILINE))


@pytest.mark.parametrize("line", commands(), ids=lambda line: line.split()[3])
def test_a_command_knows_the_options_that_are_listed(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = help_of(capsys, line.split()[3])
    assert [option for option in re.findall(r"--[\w-]+", line) if option not in known] == []
