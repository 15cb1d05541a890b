"""The command that makes a report again, and what of its program no option of it says."""

import shlex
from collections.abc import Iterator
from typing import Final

from relax_core.diagnostics import plural
from relax_core.engine.programs.program import Program

_COMMAND: Final = ("python", "-m", "relax_core", "report")


def command_of(program: Program, **files: str) -> str:
    """Return the command for a program; `files` names those of `inputs`, `table`, `rules` and `constants`."""
    return shlex.join((*_COMMAND, program.name, *_options(program, files)))


def _options(program: Program, files: dict[str, str]) -> Iterator[str]:
    if program.pipeline is not None:
        yield from ("--passes", program.pipeline)
    if program.entry:
        yield from ("--entry", program.entry)
    if program.inputs is not None:
        yield from ("--inputs", files.get("inputs", "inputs.npz"))
    else:
        yield from ("--seed", str(program.seed))
        if program.is_signed:
            yield "--signed"
        if program.sizes:
            yield from ("--sizes", ",".join(f"{name}={size}" for name, size in program.sizes))
    if program.tables:
        yield from ("--table", files.get("table", "table.json"))
    if program.rules:
        yield from ("--rules", files.get("rules", "rules.txt"))
    if program.constants:
        yield from ("--constants", files.get("constants", "constants.npz"))
    if program.as_in != "fixed":
        yield from ("--as-in", program.as_in)
    if program.mode != "exact":
        yield from ("--mode", program.mode)
    if program.finds_uninitialised:
        yield "--find-uninitialised"
    if program.poisons_memory:
        yield "--poison-memory"


def unrepeated(program: Program) -> Iterator[str]:
    """Yield what the command leaves out of the program."""
    if program.module:
        yield f"it is about `{program.module}`, one of several modules of the file"
    if program.changes:
        count = plural(len(program.changes), "change")
        verb = "was" if len(program.changes) == 1 else "were"
        yield f"{count} {verb} made while it ran: `--set`, `--skip` and `--replace` do that"
    if program.stand_ins:
        yield f"{', '.join(f'`{item.name}`' for item in program.stand_ins)} had stand-ins: `--stand-in` does that"
    if program.verify:
        yield "what every pass left was checked"
    if program.run_file:
        yield "the run comes from a recording: FILE is that `.rxt` file then"
