"""The command line used wrongly: each mistake has its message and its exit status, and nothing ends in a traceback."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, INTERRUPTED, main
from relax_core.cli.command_line import parser
from relax_core.engine.process.ahead import OF_ONE_WORKER
from relax_core.engine.session import Session
from tests.engine.programs import SMALL


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def commands(name: str = "") -> dict[str, argparse.ArgumentParser]:
    (made,) = (item for item in parser(name)._actions if isinstance(item, argparse._SubParsersAction))  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]  # argparse has no other way
    choices: dict[str, argparse.ArgumentParser] = dict(made.choices)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # made by a private class
    return choices


def arguments() -> Iterator[tuple[str, argparse.Action]]:
    for name, made in commands().items():
        yield from ((name, action) for action in made._actions)  # pyright: ignore[reportPrivateUsage]  # argparse has no other way


def test_a_command_is_read_without_those_of_other_modules() -> None:
    every = commands()
    for name, made in every.items():
        found = commands(name)
        assert name in found
        assert len(found) < len(every) / 2, name
        assert found[name].format_help() == made.format_help()


def test_what_has_its_worker_started_ahead_is_a_command() -> None:
    assert set(OF_ONE_WORKER) <= set(commands())


def test_every_argument_says_what_it_is_for() -> None:
    assert [(name, action.dest) for name, action in arguments() if not action.help] == []
    helps = [(name, str(action.help).removesuffix("...")) for name, action in arguments()]
    assert [item for item in helps if item[1].endswith(".")] == []
    assert [name for name, made in commands().items() if not str(made.description).endswith(".")] == []


def test_an_unknown_option_shows_the_usage_of_its_command(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", small, "--passes", "Normalize", "--nothing"]) == BAD_USAGE
    said = capsys.readouterr().err
    assert said.startswith("usage: python -m relax_core opt")
    assert "--nothing" in said


def test_a_file_that_cannot_be_read_does_not_keep_others_from_being_checked(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\x80\xff")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["check", "/nothing/here.py", str(binary), str(empty), small, "--in-process"]) == BAD_USAGE
    said = capsys.readouterr()
    assert said.out == f"{small}: no problems\n"
    assert [line.split(" ")[0] for line in said.err.splitlines()] == ["error:", "error:", "error[PL001]:", "hint:"]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"], ids=["empty", "blank", "a comment"])
def test_a_text_without_a_program_is_said_to_be_one(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path), "--in-process"]) == DIAGNOSED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}:1:1: error[PA015]: the text holds no module"
    assert all(line.strip() for line in lines)


def test_inputs_that_are_no_archive_are_said_to_be_none(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", small, "--inputs", small, "--in-process"]) == DIAGNOSED
    said = capsys.readouterr().err
    assert "no .npz archive" in said
    assert "pickle" not in said


@pytest.mark.parametrize("place", ["1", "500", "@999"])
def test_a_breakpoint_that_is_never_met_says_so(place: str, small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", small, "--break", place, "--in-process"]) == 0
    assert "VM033" in capsys.readouterr().err


def test_an_interrupted_run_ends_without_a_traceback(
    small: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(session: Session, message: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "request", interrupted)
    assert main(["run", small, "--in-process"]) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_each_kernel_stands_under_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.py"
    head = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n'
    path.write_text(f"{head}    y = R.exp(x)\n    z = R.sin(y)\n    return z\n", encoding="utf-8")
    assert main(["asm", str(path), "--as", "llvm", "--in-process"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("; kernel")] == ["; kernel tir_exp", "; kernel tir_sin"]
    assert sum(line.startswith("; ModuleID") for line in lines) == 2
