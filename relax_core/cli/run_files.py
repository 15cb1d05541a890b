"""Recorded runs as files on the command line: `run --trace` writes one, and commands answer from one."""

import argparse
from pathlib import Path
from typing import Final

from relax_core.cli.terminal import Engine, UsageError, complain, write_bytes
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.files import printable
from relax_core.engine.pipelines import parcel
from relax_core.engine.pipelines.run_files import reading
from relax_core.engine.protocol import Failure, Program, SavedRunOf
from relax_core.engine.replies import Executed

_ENDING: Final = ".rxt"
_OF_A_RUN: Final = (
    ("entry", "--entry"),
    ("inputs", "--inputs"),
    ("seed", "--seed"),
    ("signed", "--signed"),
    ("sizes", "--sizes"),
    ("table", "--table"),
    ("constants", "--constants"),
    ("find_uninitialised", "--find-uninitialised"),
    ("poison_memory", "--poison-memory"),
    ("stand_in", "--stand-in"),
    ("settings", "--set"),
    ("profile", "--profile"),
)


def recorded_program(path: str) -> Program | None:
    """Return the program of the run that a file or a folder holds, with that run; `None` if it holds none.

    Raises:
        UsageError: it holds one that cannot be read.
    """
    content = _content(path)
    if content is None or not reading.is_run_file(printable(path), content):
        return None
    try:
        return reading.program_of_file(printable(path), content)
    except DiagnosedError as error:
        raise UsageError("\n".join(item.render() for item in error.diagnostics)) from None


def holds_run(path: str) -> bool:
    """Tell whether a file or a folder holds a run of this machine."""
    content = _content(path)
    return content is not None and reading.is_run_file(printable(path), content)


def _content(path: str) -> bytes | None:
    """Return a trace as one file; `None` for what is none, by its name."""
    is_named = path != "-" and "\0" not in path and (path.endswith(_ENDING) or Path(path, "trace.json").is_file())
    if not is_named or not Path(path).exists():
        return None
    try:
        return parcel.parcel_at(path).content
    except DiagnosedError:
        # What opens pipelines says why.
        return None


def refuse_options(program: Program, options: argparse.Namespace) -> None:
    """Refuse what would make another run of one that is shown as it was recorded.

    Raises:
        UsageError: there is such an option.
    """
    given = _given(options, program.mode)
    if given:
        raise UsageError(f"a recorded run is shown as it was and not run again, so that {given[0]} does not apply")


def refuse_for_calls(path: str, options: argparse.Namespace) -> None:
    """Refuse what has no effect on the calls of a recorded run of TVM, which are compared on their own arguments.

    Raises:
        UsageError: there is such an option.
    """
    given = [name for name in _given(options) if name not in ("--entry", "--constants")]
    if "--stand-in" in given:
        words = "for a function that is not here, what it gave in that run stands in"
    else:
        words = "bisect, or compare PATH@N PATH@M, runs its stages as is asked"
    if given:
        raise UsageError(
            f"{printable(path)}: each call of the recorded run is compared on its own arguments, so that {given[0]} "
            f"does not apply; {words}"
        )


def _given(options: argparse.Namespace, mode: str = "exact") -> list[str]:
    """Return the options of a run that were given."""
    given = [name for key, name in _OF_A_RUN if getattr(options, key, None) not in (None, "", 0, False, [])]
    given += ["--passes"] if getattr(options, "passes", None) is not None else []
    given += ["--rules"] if getattr(options, "rules", None) else []
    given += ["--as-in"] if getattr(options, "as_in", "fixed") != "fixed" else []
    return [*given, "--mode"] if getattr(options, "mode", mode) not in ("exact", mode) else given


def write_run(engine: Engine, program: Program, path: str) -> Executed | Failure:
    """Run a program, write every event of the run to a file, and return what it came to."""
    found = engine.request(SavedRunOf(program))
    if isinstance(found, Failure):
        return found
    write_bytes(path, found.content)
    complain(f"note: {printable(path)} holds {found.executed.events:,} events; python -m relax_core open shows them")
    return found.executed
