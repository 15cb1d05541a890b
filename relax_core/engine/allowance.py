"""How long a request may take: one table, for the whole of it, from its beginning to its end.

A request is bounded on the clock by its client, and in processor time by the kernel. Both grow with the factor of the
request's kind; the time that it waits for another request of the session counts as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.engine.debug.requests import BisectOf, CompareArchiveOf, CompareValuesOf
from relax_core.engine.limits import Limits
from relax_core.engine.protocol import (
    Asm,
    Check,
    DevicesOf,
    Execute,
    HitsOf,
    Open,
    Operators,
    Opt,
    PipelineOf,
    RestoreLayout,
    RunOf,
    Samples,
    SheetOf,
    StageOf,
    StopOf,
    WhyDeviceOf,
)

_TEXT, _PROGRAM, _COMPARISON = 1, 2, 5
# Most requests may have to go all the way from the text through the passes to a run, and have twice the time of those
# that look at the text only. A comparison runs a program as many times as there are passes.
_FACTORS: Mapping[type, int] = MappingProxyType(
    {
        Open: _TEXT,
        Check: _TEXT,
        RestoreLayout: _TEXT,
        DevicesOf: _TEXT,
        WhyDeviceOf: _TEXT,
        Samples: _TEXT,
        Operators: _TEXT,
        SheetOf: _TEXT,
        BisectOf: _COMPARISON,
        CompareValuesOf: _COMPARISON,
        CompareArchiveOf: _COMPARISON,
    }
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one request may take."""

    wall_seconds: float
    cpu_seconds: int


def allowance(message: object, limits: Limits) -> Allowance:
    """Return what a request may take under `limits`: 60, 120 or 300 s on the clock by default."""
    factor = _FACTORS.get(type(message), _PROGRAM)
    return Allowance(limits.wall_seconds * factor, limits.cpu_of(limits.cpu_seconds * factor))


def doing(message: object) -> str:
    """Say in words what a worker does for a request, to stand behind `while`."""
    match message:
        case RunOf(program=program) | StopOf(program=program) | HitsOf(program=program) | Execute(program=program):
            return f"running `{program.entry or 'main'}`"
        case PipelineOf() | StageOf() | Opt():
            return "running the passes"
        case Asm():
            return "compiling"
        case Open() | Check():
            return "reading the text"
        case BisectOf() | CompareValuesOf() | CompareArchiveOf():
            return "comparing"
        case _:
            return "preparing the view"
