"""The command `completion`: a script by which a shell completes commands, options and file names."""

import argparse
from collections.abc import Callable, Iterator
from typing import Final, cast

from relax_core.cli.terminal import Commands, Engine, say

_SHELLS: Final = ("bash", "zsh", "tcsh")
FILES: Final = frozenset(
    (
        *("after", "before", "chrome_trace", "constants", "diff", "dump", "file", "files", "given", "inputs", "notes"),
        *("output", "outputs", "pass_file", "pattern", "report", "reports", "reproducer", "rules", "table", "trace"),
        *("against", "compare", "html", "input_files", "junit", "paths", "store", "summary", "vocabulary"),
    )
)
"""The arguments that are paths."""


def add_completion(command: Commands, parser: Callable[[], argparse.ArgumentParser]) -> None:
    """Add the command; `parser` makes the one whose commands are completed."""

    def completion(_engine: Engine, options: argparse.Namespace) -> int:
        # Nothing else needs the library.
        import shtab

        made = parser()
        made.prog = "relaxscope"
        for action in actions_of(made):
            if action.dest in FILES:
                setattr(action, "complete", shtab.FILE)  # noqa: B010  # an attribute that is the library's own
        say(shtab.complete(made, options.shell))
        return 0

    completing = command("completion", "Print a script that completes commands and options in a shell.", completion)
    completing.add_argument("shell", choices=_SHELLS, help="for example: relaxscope completion bash > FILE")
    completing.set_defaults(in_process=True)


def actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]  # argparse has no other way
        yield action
        choices: object = action.choices
        if isinstance(choices, dict):
            for made in cast("dict[str, argparse.ArgumentParser]", choices).values():
                yield from actions_of(made)
