"""The option --stand-in: what answers for packed functions that are not here, or are not to be called."""

import os
import re
from collections.abc import Sequence
from typing import Final

from relax_core.cli.terminal import UsageError
from relax_core.diagnostics import CompileError
from relax_core.engine.pipelines import pipeline
from relax_core.engine.pipelines.calls import results
from relax_core.engine.programs.program import StandInFor

_FILE: Final = re.compile(r"(.+\.py):([A-Za-z_]\w*)", re.DOTALL)
_NAME: Final = re.compile(r"[\w.:-]+")
_WANTED: Final = "--stand-in takes a name and what stands in: NAME=zeros, NAME=recorded or NAME=FILE.py:FUNCTION"


def stand_ins_of(given: Sequence[str]) -> tuple[StandInFor, ...]:
    """Return what the options say.

    Raises:
        UsageError: one of them is no stand-in, or a name is there twice.
    """
    found: dict[str, StandInFor] = {}
    for text in given:
        name, how = _parts(text)
        if name in found:
            raise UsageError(f"--stand-in gives {name} twice")
        match how:
            case "zeros" | "recorded":
                found[name] = StandInFor(name, how)
            case _:
                found[name] = StandInFor(name, "python")
    return tuple(found.values())


def _parts(text: str) -> tuple[str, str]:
    name, _, how = text.partition("=")
    if _NAME.fullmatch(name) is None or not (how in ("zeros", "recorded") or _FILE.fullmatch(how)) or "\n" in text:
        raise UsageError(f"{_WANTED}, got {text}")
    return name, how


def wants_recorded(given: Sequence[str]) -> bool:
    """Tell whether a recorded result stands in for a function."""
    return any(item.how == "recorded" for item in stand_ins_of(given))


def recorded_of(recording: "pipeline.Pipeline | None", given: Sequence[str], entry: str) -> bytes:
    """Return the recorded results that the options ask for; b"" if they ask for none.

    Raises:
        UsageError: there is no recorded run, or it does not call a function.
    """
    names = [item.name for item in stand_ins_of(given) if item.how == "recorded"]
    if not names:
        return b""
    if recording is None:
        raise UsageError("recorded results stand in for functions of a trace with a recorded run")
    try:
        return results.recorded_results(recording, names, entry)
    except CompileError as error:
        raise UsageError("\n".join(item.render() for item in error.diagnostics)) from None


def environment_of(given: Sequence[str]) -> str:
    """Return the lines that tell a worker which functions of which files stand in."""
    lines: list[str] = []
    for text in given:
        name, how = _parts(text)
        found = _FILE.fullmatch(how)
        if found is not None:
            lines.append(f"{name}={os.path.abspath(found[1])}:{found[2]}")
    return "\n".join(lines)
