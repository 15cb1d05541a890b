"""Which jobs the options of `batch` ask for: one per module and command."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from relax_core.cli import opening
from relax_core.cli.review.named import ModuleFile, module_files
from relax_core.cli.terminal import UsageError, with_rules
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.files import printable
from relax_core.engine.limits import MEGABYTE, Limits
from relax_core.engine.protocol import Program
from relax_core.fleet.campaign import Cell
from relax_core.fleet.jobs import COMMANDS, Command, Job, Result

_LEAST_MEMORY: Final = 640
"""Megabytes without which no worker starts."""


def planned(options: argparse.Namespace) -> tuple[Cell, ...]:
    """Return what is to be done; for `diff` also with the modules that only OLD has.

    Raises:
        UsageError: the options do not go together, or name no module.
    """
    commands = commands_in(options.commands)
    _refuse(options, commands)
    sample = Job(
        "check",
        Program(""),
        prims=options.prims,
        targets=tuple(item.strip() for item in options.targets.split(",") if item.strip()),
        fail_under=options.fail_under,
        closeness=Closeness(options.relative, options.absolute),
        limits=Limits(memory_bytes=options.memory * MEGABYTE, wall_seconds=options.seconds),
    )
    files = module_files(options.paths)
    cells = [cell for file in files for cell in _cells(file, commands, sample, options)]
    return tuple(sorted((*cells, *_removed(files, commands, options)), key=lambda cell: cell.name))


def commands_in(text: str) -> tuple[Command, ...]:
    """Read the names of commands, such as `check,run`.

    Raises:
        UsageError: one is unknown or there is none.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    command_of: dict[str, Command] = {command: command for command in COMMANDS}
    if not names or not command_of.keys() >= {*names}:
        unknown = next((name for name in names if name not in command_of), "none")
        raise UsageError(f"batch carries out {', '.join(COMMANDS)}, with commas between; got {unknown}")
    return tuple(command_of[name] for name in names)


def _refuse(options: argparse.Namespace, commands: tuple[Command, ...]) -> None:
    if ("diff" in commands) != (options.against is not None):
        raise UsageError("diff and --against OLD go together: each module is compared with that of its name below OLD")
    if options.against is not None and not Path(options.against).is_dir():
        raise UsageError(f"--against takes a folder, and {printable(options.against)} is none")
    if "partition" in commands and options.table is None:
        raise UsageError("partition needs --table: the patterns and what targets support")
    if not 0 <= options.fail_under <= 1:
        raise UsageError(f"--fail-under is a share between 0 and 1, not {options.fail_under:g}")
    if options.memory < _LEAST_MEMORY or not options.seconds > 0:
        raise UsageError(f"a worker needs --memory {_LEAST_MEMORY} at least, and --seconds above 0")


def _cells(file: ModuleFile, commands: tuple[Command, ...], sample: Job, options: argparse.Namespace) -> Iterator[Cell]:
    """Plan the commands on one module; one that cannot be read fails in each."""
    try:
        program = _program(file.path, options)
    except UsageError as error:
        result = Result("failed", str(error))
        yield from (Cell(file.name, file.path, command, None, result) for command in commands)
        return
    for command in commands:
        job = msgspec.structs.replace(sample, command=command, program=_for_command(program, command))
        if command != "diff":
            yield Cell(file.name, file.path, command, job)
            continue
        old = Path(options.against) / file.below
        if not old.is_file():
            yield Cell(file.name, file.path, command, None, Result("failed", "added: OLD does not have it"))
            continue
        try:
            before = _program(str(old), options)
        except UsageError as error:
            yield Cell(file.name, file.path, command, None, Result("not compared", f"before: {error}"))
            continue
        yield Cell(file.name, file.path, command, msgspec.structs.replace(job, before=before))


def _for_command(program: Program, command: Command) -> Program:
    """Return what a command looks at: passes and rules are no part of what `check` says of a text."""
    if command != "check":
        return program
    return Program(program.text, program.name)


def _removed(
    files: tuple[ModuleFile, ...], commands: tuple[Command, ...], options: argparse.Namespace
) -> Iterator[Cell]:
    """Plan a failure for each module that only OLD has."""
    if "diff" not in commands:
        return
    there = {file.below for file in files}
    for old in module_files((options.against,)):
        if old.below not in there:
            yield Cell(old.below, old.path, "diff", None, Result("failed", "removed: only OLD has it"))


def _program(path: str, options: argparse.Namespace) -> Program:
    program = opening.program_at(path, pipeline=options.passes, entry=options.entry, table=options.table)
    program = with_rules(program, options.rules)
    return msgspec.structs.replace(program, seed=options.seed, sizes=opening.sizes_in(options.sizes))
