"""Debugger commands: pure functions from a trace and a time to a time.

`by` is the step's size: "instruction", or "binding", which stops only at the first instruction of a binding. Every
command returns a time in `[0, len(trace)]`, the given one if there is nowhere to go.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.vm.trace import Trace

By = Literal["instruction", "binding"]
Command: TypeAlias = Callable[..., int]


@dataclass(frozen=True, slots=True)
class LineBreakpoint:
    """Stops at the first instruction of each binding of a line."""

    line: int


@dataclass(frozen=True, slots=True)
class PcBreakpoint:
    """Stops at an instruction."""

    pc: int


Breakpoint: TypeAlias = LineBreakpoint | PcBreakpoint


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
    return _next(_hits(trace, breakpoints), at)


def run_back_to(trace: Trace, at: int, breakpoints: Iterable[Breakpoint]) -> int:
    """Continue backwards to the nearest breakpoint before `at`, or to the start."""
    return _previous(_hits(trace, breakpoints), at)


def _stops(trace: Trace, by: By = "binding") -> npt.NDArray[np.bool_]:
    if by == "instruction":
        return np.ones(len(trace), np.bool_)
    return trace.lines.starts_binding[trace.pcs]


def _hits(trace: Trace, breakpoints: Iterable[Breakpoint]) -> npt.NDArray[np.bool_]:
    places = np.zeros(len(trace.executable.instructions), np.bool_)
    for breakpoint in breakpoints:
        match breakpoint:
            case LineBreakpoint(line=line):
                places |= (trace.lines.line_of == line) & trace.lines.starts_binding
            case PcBreakpoint(pc=pc):
                if 0 <= pc < len(places):
                    places[pc] = True
    return places[trace.pcs]


def _depth(trace: Trace, at: int) -> int:
    frame = trace.frame_at(at)
    return int(trace.frame_depths[frame]) if frame is not None else 0


def _next(stops: npt.NDArray[np.bool_], at: int) -> int:
    found = np.flatnonzero(stops[at + 1 :])
    return at + 1 + int(found[0]) if len(found) else len(stops)


def _previous(stops: npt.NDArray[np.bool_], at: int) -> int:
    found = np.flatnonzero(stops[:at])
    return int(found[-1]) if len(found) else 0
