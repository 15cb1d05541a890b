"""Debugger commands: pure functions from a trace and a time to a time.

`by` is the step's size: "instruction", or "binding", which stops only at the first instruction of a binding. Every
command returns a time in `[0, len(trace)]`, the given one if there is nowhere to go. A breakpoint with a condition
stops only where it holds.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.executable import FunctionEntry
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.vm.condition import Condition
from relax_core.vm.recording.trace import Ints, Trace

By = Literal["instruction", "binding"]
Command: TypeAlias = Callable[..., int]


@dataclass(frozen=True, slots=True)
class LineBreakpoint:
    """Stops at the first instruction of each binding of a line."""

    line: int
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class PcBreakpoint:
    """Stops at an instruction."""

    pc: int
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class AnyBreakpoint:
    """Stops before any instruction at which its condition holds."""

    condition: Condition


Breakpoint: TypeAlias = LineBreakpoint | PcBreakpoint | AnyBreakpoint


def step_in(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the next stop, in a called function if there is a call."""
    if by == "instruction":
        return min(at + 1, len(trace))
    return _next(_stops(trace), at)


def step_over(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the next stop of this function, or of its caller when it returns."""
    if at >= len(trace):
        return at
    return _next(_stops(trace, by) & (trace.depths <= _depth(trace, at)), at)


def step_out(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the first stop behind the running function's return, the end if it does not return."""
    if at >= len(trace):
        return at
    return _next(_stops(trace, by) & (trace.depths < _depth(trace, at)), at)


def step_back(trace: Trace, at: int, by: By = "instruction") -> int:
    """Undo `step_in`."""
    if by == "instruction":
        return max(at - 1, 0)
    return _previous(_stops(trace), at)


def back_over(trace: Trace, at: int, by: By = "instruction") -> int:
    """Undo `step_over`: go to the previous stop of this function or its caller."""
    return _previous(_stops(trace, by) & (trace.depths <= _depth(trace, at)), at)


def back_out(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go back to the last stop of the caller, at or before the call of the running function."""
    return _previous(_stops(trace, by) & (trace.depths < _depth(trace, at)), at)


def to_start(trace: Trace, at: int) -> int:
    """Go to the first event."""
    return 0


def to_end(trace: Trace, at: int) -> int:
    """Go behind the last event."""
    return len(trace)


def run_to(trace: Trace, at: int, breakpoints: Iterable[Breakpoint]) -> int:
    """Continue to the next breakpoint behind `at`, or to the end."""
    found = len(trace)
    for breakpoint in breakpoints:
        times = places_met(trace, breakpoint)
        start = int(np.searchsorted(times, at, side="right"))
        end = int(np.searchsorted(times, found))
        found = next((hit.time for hit in _hits(trace, breakpoint, times, range(start, end)) if hit.stops), found)
    return found


def run_back_to(trace: Trace, at: int, breakpoints: Iterable[Breakpoint]) -> int:
    """Continue backwards to the nearest breakpoint before `at`, or to the start."""
    found = 0
    for breakpoint in breakpoints:
        times = places_met(trace, breakpoint)
        start = int(np.searchsorted(times, found, side="right"))
        end = int(np.searchsorted(times, at))
        before = _hits(trace, breakpoint, times, range(end - 1, start - 1, -1))
        found = next((hit.time for hit in before if hit.stops), found)
    return found


@dataclass(frozen=True, slots=True)
class Hit:
    """A time at which the place of a breakpoint is met.

    `stops` unless the condition does not hold then, or has no value, for which `fault` is the reason.
    """

    time: int
    stops: bool
    fault: Diagnostic | None = None


def hits_of(trace: Trace, breakpoint: Breakpoint) -> Iterator[Hit]:
    """Yield every time at which the place of a breakpoint is met, in order."""
    times = places_met(trace, breakpoint)
    return _hits(trace, breakpoint, times, range(len(times)))


def check_condition(trace: Trace, breakpoint: Breakpoint) -> None:
    """See that every name of a condition stands for something at the breakpoint's place.

    Raises:
        CompileError: VM031, located in the condition.
    """
    if breakpoint.condition is None:
        return
    executable = trace.executable
    pcs = np.flatnonzero(_places(trace, breakpoint))
    owners = {number for number, entry in enumerate(executable.functions) if _holds_any(entry, pcs)}
    for number in sorted(owners):
        breakpoint.condition.check(executable, number)


def _holds_any(entry: FunctionEntry, pcs: npt.NDArray[np.int64]) -> bool:
    return entry.kind == "vm" and bool(((entry.start <= pcs) & (pcs < entry.end)).any())


def _hits(trace: Trace, breakpoint: Breakpoint, times: Ints, places: range) -> Iterator[Hit]:
    for place in places:
        time = int(times[place])
        try:
            holds = breakpoint.condition is None or breakpoint.condition.holds(trace, time, place + 1)
            yield Hit(time, holds)
        except RunError as error:
            yield Hit(time, stops=False, fault=error.diagnostics[0])


def _stops(trace: Trace, by: By = "binding") -> npt.NDArray[np.bool_]:
    if by == "instruction":
        return np.ones(len(trace), np.bool_)
    return trace.lines.starts_binding[trace.pcs]


def places_met(trace: Trace, breakpoint: Breakpoint) -> Ints:
    """Return the times at which the place of a breakpoint is met, whatever its condition."""
    return np.flatnonzero(_places(trace, breakpoint)[trace.pcs])


def _places(trace: Trace, breakpoint: Breakpoint) -> npt.NDArray[np.bool_]:
    match breakpoint:
        case LineBreakpoint(line=line):
            return (trace.lines.line_of == line) & trace.lines.starts_binding
        case PcBreakpoint(pc=pc):
            return np.arange(len(trace.executable.instructions)) == pc
        case AnyBreakpoint():
            return np.ones(len(trace.executable.instructions), np.bool_)


def _depth(trace: Trace, at: int) -> int:
    frame = trace.frame_at(at)
    return int(trace.frame_depths[frame]) if frame is not None else 0


def _next(stops: npt.NDArray[np.bool_], at: int) -> int:
    found = np.flatnonzero(stops[at + 1 :])
    return at + 1 + int(found[0]) if len(found) else len(stops)


def _previous(stops: npt.NDArray[np.bool_], at: int) -> int:
    found = np.flatnonzero(stops[:at])
    return int(found[-1]) if len(found) else 0
