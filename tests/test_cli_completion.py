"""What a shell completes: commands, options, choices and paths."""

import shutil
import subprocess
from pathlib import Path

import pytest

from relax_core.cli import BAD_USAGE, main
from relax_core.cli.command_line import parser
from relax_core.cli.integration.completion import FILES, actions_of

BASH = shutil.which("bash") or "bash"
"""Runs the completion of the words that it is given, of which the last is begun."""
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
$(complete -p relaxscope | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    assert main(["completion", "bash"]) == 0
    path = tmp_path / "relaxscope.bash"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("bis",), {"bisect"}),
        (("bisect", "--rep"), {"--reproducer"}),
        (("run", "--mode", ""), {"exact", "bitwise", "fast"}),
        (("run", "mi"), {"mine.py"}),
        (("opt", "--table", "pat"), {"patterns.json"}),
    ],
    ids=["a command", "an option", "choices", "a program", "a file behind an option"],
)
def test_bash_completes(words: tuple[str, ...], expected: set[str], script: Path) -> None:
    for name in ("mine.py", "patterns.json"):
        (script.parent / name).touch()
    command = (BASH, "-c", COMPLETE, "bash", str(script), "relaxscope", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=script.parent, timeout=60)
    assert set(done.stdout.split()) == expected


def test_every_path_is_an_argument() -> None:
    assert {action.dest for action in actions_of(parser())} >= FILES


def test_a_shell_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == BAD_USAGE
    assert "bash" in capsys.readouterr().err
