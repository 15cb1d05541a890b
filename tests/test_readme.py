"""README.md is one screen, and the page of the command line lists every command with options that there are."""

import re
import shlex

import pytest

from relax_core.cli import main
from tests.documents import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (REPOSITORY / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
PICTURE_BYTES = 1_500_000


def commands() -> list[str]:
    block = re.search(r"^```text\n(.*?)^```$", COMMAND_LINE, re.MULTILINE | re.DOTALL)
    assert block is not None
    joined = re.sub(r"\n {12,}", " ", block[1])
    return [line for line in joined.splitlines() if line.startswith("python -m relax_core ")]


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "--help"]) == 0
    return capsys.readouterr().out


def test_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {shlex.split(line, comments=True)[3] for line in commands()}
    assert listed == set(re.findall(r"^    (\w+)(?= |$)", help_of(capsys), re.MULTILINE))


@pytest.mark.parametrize("line", commands(), ids=lambda line: line.split()[3])
def test_a_command_knows_the_options_that_are_listed(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = help_of(capsys, line.split()[3])
    assert [option for option in re.findall(r"--[\w-]+", line) if option not in known] == []


def test_the_readme_is_one_screen_with_pictures() -> None:
    assert len(README.splitlines()) <= 40
    pictures = re.findall(r"!\[([^\]]{20,})\]\(([^)]+)\)", README)
    assert len(pictures) == 5
    for _, path in pictures:
        assert 10_000 < (REPOSITORY / path).stat().st_size < PICTURE_BYTES, path
    assert len(re.findall(r"^- \[", README, re.MULTILINE)) == 3
    assert len(re.findall(r"^    \S", README, re.MULTILINE)) == 2
