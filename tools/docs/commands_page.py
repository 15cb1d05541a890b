"""The page of all commands with their options, from the parser of arguments."""

import argparse
from collections.abc import Iterator
from typing import cast

from relax_core.cli.command_line import parser

_INTRODUCTION = """# Commands and their options

Made of the parser of arguments. `docs/reference/command_line.md` says what the commands have in common. Every command
takes `--help`, `--pass-file PY` (passes of your own) and `--in-process` (without the worker and its limits).
"""
_OF_ALL = frozenset(("--help", "--pass-file", "--in-process"))


def commands_page() -> str:
    """Return the page."""
    return "\n".join((_INTRODUCTION, *(line for name, command in _commands() for line in _command(name, command))))


def _commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    choices: list[object] = [action.choices for action in parser()._actions]
    for item in choices:
        if isinstance(item, dict):
            yield from cast("dict[str, argparse.ArgumentParser]", item).items()


def _command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{command.description}\n"
    yield from ("| argument | |", "| --- | --- |")
    for action in command._actions:
        if not _OF_ALL.intersection(action.option_strings):
            yield f"| {_written(action)} | {_cell(action.help or '')} |"
    yield ""


def _written(action: argparse.Action) -> str:
    """Return how an argument is written: its names, and what stands for its value."""
    value = action.metavar if action.metavar is not None else action.dest.upper() if action.nargs != 0 else ""
    if action.choices and action.metavar is None:
        value = "|".join(map(str, action.choices))
    words = " ".join(value) if isinstance(value, tuple) else value
    names = ", ".join(action.option_strings)
    return "`" + " ".join(part for part in (names, words) if part).replace("|", "\\|") + "`"


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
