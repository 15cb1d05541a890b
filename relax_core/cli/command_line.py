"""The command line: reads the arguments and carries out one command."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from relax_core import late
from relax_core.cli import debugging, in_process, programs, recordings, reports, stand_ins, two_workers
from relax_core.cli.integration import app, completion, progress, watching
from relax_core.cli.review import batch, report
from relax_core.cli.teaching import lessons
from relax_core.cli.terminal import (
    BAD_USAGE,
    INTERRUPTED,
    LIMIT,
    Commands,
    Engine,
    OutputError,
    Run,
    UsageError,
    complain,
    complain_of,
)
from relax_core.engine.files import NoFileLeftError
from relax_core.engine.process import starting
from relax_core.engine.process.ahead import WorkerAhead, fill_standard_descriptors
from relax_core.engine.process.client import Client
from relax_core.engine.process.launch import OneAhead

_STATUSES = (
    "COMMAND --help lists the arguments of a command. Exit status: 0; 1 for a program with a diagnostic, values that "
    "differ or a NaN that was looked for; 2 for bad usage; 3 for a limit that was reached; 4 if bisect or compare "
    "found no difference, but could not compare everything; 130 if interrupted."
)

_SCRIPT = "relaxscope"
_PASSES_VARIABLE = "RELAXSCOPE_PASSES"
_STAND_INS_VARIABLE = "RELAXSCOPE_STAND_INS"
_PASS_FILE = "a Python file of passes of your own, which pipelines may name; it is imported, so it has to be yours"


def main(arguments: Sequence[str] | None = None, ahead: WorkerAhead | None = None) -> int:
    """Carry out one command, by a worker that was started ahead if there is one, and return the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options, unknown = parser(given[0] if given else "").parse_known_args(given)
        if unknown:
            options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else BAD_USAGE
    # The module of the command is loaded: Ctrl-C may be an exception from here on.
    starting.end()
    fill_standard_descriptors()
    try:
        return _carried_out(options, ahead)
    except UsageError as error:
        complain_of(error)
        return BAD_USAGE
    except NoFileLeftError as error:
        complain(f"error: {error}\nhint: see the limits of this shell, `ulimit -a`")
        return LIMIT
    except OutputError as error:
        _drop_output()
        complain(f"error: cannot write the output: {error}")
        return BAD_USAGE
    except BrokenPipeError:
        _drop_output()
        return 0
    except late.NotLoadedError as error:
        complain(starting.cannot_load(str(error)))
        return LIMIT
    except MemoryError:
        complain("error: Out of memory. This process may not have more than it has taken.")
        return LIMIT
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED


def _carried_out(options: argparse.Namespace, ahead: WorkerAhead | None) -> int:
    if options.pass_file:
        os.environ[_PASSES_VARIABLE] = os.pathsep.join(map(os.path.abspath, options.pass_file))
    if given := getattr(options, "stand_in", ()):
        os.environ[_STAND_INS_VARIABLE] = stand_ins.environment_of(given)
    if options.in_process:
        return _done(in_process.InProcess(), options)
    kind = progress.TerminalClient if sys.stderr is not None and sys.stderr.isatty() else Client  # pyright: ignore[reportUnnecessaryComparison]  # it may have been closed
    if options.has_two_workers:
        client = kind(launcher=two_workers.forked_for_few())
    else:
        client = kind(launcher=None if ahead is None else OneAhead(ahead))
    try:
        # It loads while the command reads its files.
        client.start()
        return _done(client, options)
    except KeyboardInterrupt:
        client.close(is_hurried=True)
        raise
    finally:
        client.close()


def _done(engine: Engine, options: argparse.Namespace) -> int:
    command: Callable[[Engine, argparse.Namespace], int] = options.command
    if getattr(options, "is_repeated", False):
        return watching.repeat(lambda: command(engine, options), options)
    return command(engine, options)


def _drop_output() -> None:
    """Discard what Python still buffers for the standard output."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_GROUPS: Final[tuple[tuple[tuple[str, ...], Callable[[Commands], None]], ...]] = (
    (("check", "script", "opt", "diff", "effects", "costs"), lambda command: programs.add_programs(command)),
    (("run", "inside", "bisect", "compare"), lambda command: debugging.add_debugging(command)),
    (
        ("asm", "partition", "match", "devices", "origins", "ops", "explain"),
        lambda command: reports.add_reports(command),
    ),
    (("recorder", "stages", "pack"), lambda command: recordings.add_recordings(command)),
    (("report",), lambda command: report.add_report(command)),
    (("batch",), lambda command: batch.add_batch(command)),
    (("open", "lsp", "dap", "serve"), lambda command: app.add_app(command, parser)),
    (("completion",), lambda command: completion.add_completion(command, parser)),
    (("lesson",), lambda command: lessons.add_lessons(command)),
)
"""The commands, and what adds those of a module, which is loaded when one of them is asked for."""


def parser(name: str = "") -> argparse.ArgumentParser:
    """Return the parser of all commands and their arguments; of those of one module, if `name` is one of them."""
    made_parser = argparse.ArgumentParser(
        prog=_SCRIPT if os.path.basename(sys.argv[0]) == _SCRIPT else "python -m relax_core",
        description="Check, print, transform, run and debug Relax, TIR and Relay programs.",
        epilog=_STATUSES,
    )
    commands = made_parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, what: str, run: Run) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(command=run, parser=made, has_two_workers=False)
        made.add_argument("--pass-file", action="append", default=[], metavar="PY", help=_PASS_FILE)
        made.add_argument("--in-process", action="store_true", help="without the worker and its limits")
        return made

    for names, add in _GROUPS:
        if name in names or not any(name in others for others, _ in _GROUPS):
            add(command)
    return made_parser
