"""The command line: reads the arguments and carries out one command."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from relax_core.cli.debugging import add_debugging
from relax_core.cli.origins import add_origins
from relax_core.cli.programs import add_programs
from relax_core.cli.reports import add_reports
from relax_core.cli.terminal import BAD_USAGE, INTERRUPTED, Engine, Run, UsageError, complain
from relax_core.engine.client import Client
from relax_core.engine.session import Session

_STATUSES = (
    "COMMAND --help lists the arguments of a command. Exit status: 0; 1 for a program with a diagnostic, values that "
    "differ or a NaN that was looked for; 2 for bad usage; 3 for a limit that was reached; 130 if interrupted."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return the exit status."""
    try:
        options, unknown = parser().parse_known_args(arguments)
        if unknown:
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else BAD_USAGE
    command: Callable[[Engine, argparse.Namespace], int] = options.command
    try:
        if options.in_process:
            return command(Session(), options)
        with Client() as client:
            return command(client, options)
    except UsageError as error:
        complain(f"error: {error}")
        return BAD_USAGE
    except BrokenPipeError:
        # The reader of the output is gone; what Python still holds for it must not be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands and their arguments."""
    made_parser = argparse.ArgumentParser(
        prog="python -m relax_core",
        description="Check, print, transform, run and debug Relax, TIR and Relay programs.",
        epilog=_STATUSES,
    )
    commands = made_parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, what: str, run: Run) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(command=run, parser=made)
        made.add_argument("--in-process", action="store_true", help="without the worker and its limits")
        return made

    add_programs(command)
    add_debugging(command)
    add_origins(command)
    add_reports(command)
    return made_parser
