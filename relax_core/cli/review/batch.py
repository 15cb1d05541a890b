"""The command `batch`: check, run, bisect, partition and diff on many modules, on a pool or a cluster."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from relax_core.cli.review.planning import planned
from relax_core.cli.review.standing import Standing
from relax_core.cli.terminal import (
    INTERRUPTED,
    LIMIT,
    PASSES_HELP,
    RULES_HELP,
    TABLE_HELP,
    Commands,
    Engine,
    UsageError,
    complain,
    read_bytes,
    say,
    write_bytes,
)
from relax_core.cli.two_workers import processor_count
from relax_core.engine.files import printable
from relax_core.engine.limits import MEGABYTE, Limits
from relax_core.fleet import cluster
from relax_core.fleet.campaign import INTERRUPTED as INTERRUPTED_WORDS
from relax_core.fleet.campaign import Campaign, Cell, Matrix
from relax_core.fleet.jobs import COMMANDS, Command, Fleet, FleetError, Result, digest
from relax_core.fleet.local import LocalFleet
from relax_core.fleet.reporting.junit import to_junit
from relax_core.fleet.reporting.markdown import to_markdown
from relax_core.fleet.reporting.page import to_html
from relax_core.fleet.reporting.text import to_json, to_text
from relax_core.fleet.store import Store
from relax_core.fleet.versions import tool_version

_COMMANDS_HELP: Final = f"what is done with each, of {','.join(COMMANDS)}; such as check,run"
_PATHS_HELP: Final = "files, folders with all modules below them, and patterns in quotes, such as 'zoo/**/*.py'"
_STANDARD_OUTPUT: Final = "-"
_DEFAULT_LIMITS: Final = Limits()
_DIGITS: Final = 12
_NO_OPTIONS: Final = (
    "command",
    "parser",
    "has_two_workers",
    "is_repeated",
    "pass_file",
    "file",
    "files",
    "more",
    "before",
    "after",
)
"""What the arguments of a command hold besides its options."""
_OF_ONE: Final = ("fail_on",)
"""Options of `diff` that `batch` means something else by."""
_NAMES: Final = MappingProxyType({"breaks": "break", "input_files": "input"})
"""Options whose values have another name."""


def add_batch(command: Commands) -> None:
    """Add the command."""
    made = command("batch", "Check, run, bisect, partition or compare many modules, in several processes.", _batch)
    made.set_defaults(in_process=True)  # the fleet has the workers
    made.add_argument("commands", metavar="COMMANDS", help=_COMMANDS_HELP)
    made.add_argument("paths", nargs="+", metavar="PATH", help=_PATHS_HELP)
    _options(made)


def on_many(command: Command, paths: Sequence[str], options: argparse.Namespace, against: str | None = None) -> int:
    """Carry out a command on the modules that paths name, with those of its own options that are for many as well.

    Raises:
        UsageError: an option is given that is for one module.
    """
    made = argparse.ArgumentParser()
    _options(made)
    asked = made.parse_args(())
    asked.commands, asked.paths, asked.against, asked.pass_file = command, tuple(paths), against, options.pass_file
    for name, value in vars(options).items():
        if name in _NO_OPTIONS or value == options.parser.get_default(name):
            continue
        if not hasattr(asked, name) or name in _OF_ONE:
            option = f"--{_NAMES.get(name, name).replace('_', '-')}"
            hint = "batch --help lists what is for many"
            raise UsageError(f"{option} is for one module, and {printable(paths[0])} names several; {hint}")
        setattr(asked, name, value)
    return _carry_out(asked)


def _options(made: argparse.ArgumentParser) -> None:
    _job_options(made)
    _fleet_options(made)
    _report_options(made)


def _job_options(made: argparse.ArgumentParser) -> None:
    made.add_argument("--against", metavar="OLD", help="for diff: the folder of the modules before the change")
    made.add_argument("--passes", metavar="P", help=f"{PASSES_HELP}; default: the whole pipeline")
    made.add_argument("--entry", default="", metavar="NAME", help="default: main, or the first function")
    made.add_argument("--seed", type=int, default=0, help="of the made-up arguments")
    made.add_argument("--sizes", default="", metavar="n=64,m=8", help="of symbolic dimensions of made-up arguments")
    made.add_argument("--table", metavar="T", help=TABLE_HELP)
    made.add_argument("--targets", default="", metavar="A,B", help="for partition, in order of preference")
    under = "for partition: a module fails if less than this share of it is offloaded"
    made.add_argument("--fail-under", type=float, default=0.0, metavar="C", help=under)
    made.add_argument("--rules", metavar="R", help=RULES_HELP)
    policy = "for check: where host scalars may stand; packed_only warns of all but arguments of packed functions"
    made.add_argument("--prims", choices=("everywhere", "packed_only"), default="everywhere", help=policy)
    made.add_argument("--relative", type=float, default=-1.0, metavar="R", help="tolerance; default: by the dtype")
    made.add_argument("--absolute", type=float, default=-1.0, metavar="A", help="tolerance; default: a tenth of it")


def _fleet_options(made: argparse.ArgumentParser) -> None:
    scheduler = "carry jobs out on the Dask cluster of this scheduler, such as tcp://10.0.0.1:8786"
    made.add_argument("--scheduler", default="", metavar="URL", help=scheduler)
    batch = "with --scheduler: how many jobs are one task of it at most; default: 20"
    made.add_argument("--batch-size", type=int, default=20, metavar="N", help=batch)
    wait = "with --scheduler: how long a scheduler or a worker is waited for that is missing; default: 60"
    made.add_argument("--wait", type=float, default=60.0, metavar="S", help=wait)
    made.add_argument("--processes", type=int, default=0, metavar="N", help="workers; default: one per processor")
    memory = _DEFAULT_LIMITS.memory_bytes // MEGABYTE
    made.add_argument("--memory", type=int, default=memory, metavar="MB", help=f"of a worker; default: {memory}")
    seconds = _DEFAULT_LIMITS.wall_seconds
    limit = f"what looking at a text may take, a run twice and a bisection five times as long; default: {seconds:g}"
    made.add_argument("--seconds", type=float, default=seconds, metavar="S", help=limit)
    retries = "how often a job is tried again that crashes or reaches a limit; default: 1"
    made.add_argument("--retries", type=int, default=1, metavar="N", help=retries)
    store = "a file that results are kept in by the content of the modules; what it has is not done again"
    made.add_argument("--store", metavar="FILE", help=store)
    made.add_argument("--again", action="store_true", help="with --store: do again what crashed or reached a limit")


def _report_options(made: argparse.ArgumentParser) -> None:
    compared = "a file of --store: say what is different from its latest run; it may be the same file"
    made.add_argument("--compare", metavar="EARLIER", help=compared)
    fails = "exit status for anything that did not pass, or with --compare only for what is worse than before"
    made.add_argument("--fail-on", choices=("any", "worse"), default="any", help=fails)
    made.add_argument("--all", action="store_true", help="print the modules that passed, too")
    made.add_argument("--json", action="store_true", help="print one object per module, command and line")
    made.add_argument("--junit", metavar="XML", help="where to write JUnit XML; -: print it")
    made.add_argument("--markdown", dest="summary", metavar="MD", help="where to write a summary; -: print it")
    made.add_argument("--html", metavar="HTML", help="where to write the matrix as a page")
    app = "with --html: the address of the app, which the cells then lead to; default: they lead to the files"
    made.add_argument("--app", default="", metavar="URL", help=app)


def _batch(_engine: Engine, options: argparse.Namespace) -> int:
    return _carry_out(options)


def _carry_out(options: argparse.Namespace) -> int:
    if options.processes < 0 or options.retries < 0:
        raise UsageError("--processes and --retries take a number from 0 on")
    if options.batch_size < 1 or not options.wait > 0:
        raise UsageError("--batch-size takes a number from 1 on, and --wait seconds above 0")
    if options.again and not options.store:
        raise UsageError("--again goes with --store: without it everything is done")
    if options.fail_on == "worse" and not options.compare:
        raise UsageError("--fail-on worse goes with --compare: worse than what is kept there")
    cells = planned(options)
    try:
        earlier = _earlier(options.compare)
        cells = tuple(replace(cell, earlier=earlier.get((cell.name, cell.command))) for cell in cells)
        matrix = _carried_out(cells, options)
    except FleetError as error:
        raise UsageError(str(error)) from None
    _report(matrix, options)
    return _status(matrix, options)


def _earlier(file: str | None) -> Mapping[tuple[str, str], Result]:
    if file is None:
        return {}
    with Store(file, is_earlier=True) as store:
        return store.latest()


def _carried_out(cells: tuple[Cell, ...], options: argparse.Namespace) -> Matrix:
    fleet = _fleet(options)
    version = tool_version() + _own_passes(options.pass_file)
    with Store(options.store) if options.store else nullcontext() as store, Standing() as standing:
        return Campaign(fleet, version, store, options.again).carry_out(cells, standing.tell)


def _fleet(options: argparse.Namespace) -> Fleet:
    """Return the cluster that is asked for, else processes of this machine.

    Raises:
        UsageError: there is no `distributed`, or the cluster cannot do what is asked for.
    """
    if options.scheduler:
        if options.pass_file:
            raise UsageError("--pass-file and --scheduler do not go together: the workers do not have these passes")
        if find_spec("distributed") is None:
            raise UsageError("--scheduler needs the package distributed: pip install 'relaxscope[dask]'")
        return cluster.ClusterFleet(
            options.scheduler,
            attempts=1 + options.retries,
            batch_size=options.batch_size,
            wait_seconds=options.wait,
        )
    return LocalFleet(options.processes or processor_count(), 1 + options.retries)


def _own_passes(paths: Sequence[str]) -> str:
    """Return what passes of one's own add to the version."""
    return f", passes {digest(b''.join(read_bytes(path) for path in paths))[:_DIGITS]}" if paths else ""


def _report(matrix: Matrix, options: argparse.Namespace) -> None:
    """Write what was asked for, and print the rows; what goes to standard output stands there alone."""
    files = (
        (options.junit, lambda: to_junit(matrix)),
        (options.summary, lambda: to_markdown(matrix)),
        (options.html, lambda: to_html(matrix, options.html, options.app)),
    )
    for file, make in files:
        if file == _STANDARD_OUTPUT:
            say(make())
        elif file:
            write_bytes(file, f"{make().rstrip()}\n".encode())
    if options.json:
        for line in to_json(matrix):
            say(line)
    elif _STANDARD_OUTPUT not in (options.junit, options.summary):
        say(to_text(matrix, shows_all=options.all))
    if matrix.problem:
        kept = f"; what was done is in {options.store}, and the same command goes on" if options.store else ""
        complain(f"error: not all was done: {matrix.problem}{kept}")


def _status(matrix: Matrix, options: argparse.Namespace) -> int:
    if matrix.problem == INTERRUPTED_WORDS:
        return INTERRUPTED
    return LIMIT if matrix.problem else matrix.exit_status(options.fail_on)
