"""Debugger commands: pure functions from a trace and a time to a time, or from all times of a window at once.

`by` is the step's size: "instruction", or "binding", which stops only at the first instruction of a binding. Every
command returns a time in `[0, len(trace)]`, the given one if there is nowhere to go. A breakpoint with a condition
stops only where it holds.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.executable import FunctionEntry
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.vm.condition import Condition
from relax_core.vm.recording.recorder import Ints
from relax_core.vm.recording.trace import Trace
from relax_core.vm.recording.written_times import nearest_written, times_written

By = Literal["instruction", "binding"]


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


@dataclass(frozen=True, slots=True)
class WriteBreakpoint:
    """Stops behind each write to a register of a function: an assignment, or a change of what it holds in place.

    What was only allocated has no value, so that this does not count.
    """

    function: int
    register: int
    condition: Condition | None = None


Breakpoint: TypeAlias = LineBreakpoint | PcBreakpoint | AnyBreakpoint | WriteBreakpoint


@dataclass(frozen=True, slots=True)
class StepCommand:
    """A command: go to the nearest stop on one side whose frame is at most `deeper` calls below the running one."""

    is_forward: bool
    deeper: int


_ANY = 1 << 62
_STOPS_AT_A_TIME = 8192
INTO, OVER, OUT = (StepCommand(is_forward=True, deeper=deeper) for deeper in (_ANY, 0, -1))
BACK, BACK_OVER, BACK_OUT = (StepCommand(is_forward=False, deeper=deeper) for deeper in (_ANY, 0, -1))


def step_in(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the next stop, in a called function if there is a call."""
    return _destination(trace, at, by, INTO)


def step_over(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the next stop of this function, or of its caller when it returns."""
    return _destination(trace, at, by, OVER)


def step_out(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go to the first stop behind the running function's return, the end if it does not return."""
    return _destination(trace, at, by, OUT)


def step_back(trace: Trace, at: int, by: By = "instruction") -> int:
    """Undo `step_in`."""
    return _destination(trace, at, by, BACK)


def back_over(trace: Trace, at: int, by: By = "instruction") -> int:
    """Undo `step_over`: go to the previous stop of this function or its caller."""
    return _destination(trace, at, by, BACK_OVER)


def back_out(trace: Trace, at: int, by: By = "instruction") -> int:
    """Go back to the last stop of the caller, at or before the call of the running function."""
    return _destination(trace, at, by, BACK_OUT)


def _destination(trace: Trace, at: int, by: By, step: StepCommand) -> int:
    return destinations(trace, range(at, at + 1), by, (step,))[0][0]


def destinations(trace: Trace, times: range, by: By, steps: Sequence[StepCommand]) -> tuple[list[int], ...]:
    """Return for each step where it leads from each of `times`, which go up by one; linear in the run.

    Stops that the walk over `times` has passed are kept as a staircase (a monotonic stack): a farther stop only matters
    if it is less deep than every nearer one.
    """
    stops = np.arange(len(trace)) if by == "instruction" else trace.binding_starts
    found: dict[StepCommand, list[int]] = {}
    for is_forward in (True, False):
        wanted = tuple(step for step in steps if step.is_forward is is_forward)
        if wanted:
            columns = _walk(trace, stops, times[::-1] if is_forward else times, wanted)
            found |= zip(wanted, (column[::-1] for column in columns) if is_forward else columns, strict=True)
    return tuple(found[step] for step in steps)


def _walk(trace: Trace, stops: Ints, times: range, steps: Sequence[StepCommand]) -> tuple[list[int], ...]:
    """Return where steps of one direction lead from each of `times`, which go towards the stops."""
    is_forward = steps[0].is_forward
    edge = int(np.searchsorted(stops, times[0], "right" if is_forward else "left"))
    stair_depths, stair_stops = _staircase(trace, stops[edge:] if is_forward else stops[:edge][::-1])
    # Where a step leads that finds no stop: it is farther than all of them, and no frame is so little deep.
    stair_depths.insert(0, -2)
    stair_stops.insert(0, len(trace) if is_forward else 0)
    first, last = np.searchsorted(stops, (min(times), max(times) + 1))
    is_stop = frozenset(stops[first:last].tolist())
    columns: tuple[list[int], ...] = tuple([] for _ in steps)
    deeper = tuple(step.deeper for step in steps)
    for at, depth in zip(times, _depths(trace, times), strict=True):
        for column, more in zip(columns, deeper, strict=True):
            column.append(stair_stops[bisect_right(stair_depths, depth + more) - 1])
        if at in is_stop:
            while stair_depths[-1] >= depth:
                stair_depths.pop()
                stair_stops.pop()
            stair_depths.append(depth)
            stair_stops.append(at)
    return columns


def _staircase(trace: Trace, stops: Ints) -> tuple[list[int], list[int]]:
    """Return those of `stops`, nearest first, that are less deep than every nearer one; farthest first."""
    found_depths: list[int] = []
    found_stops: list[int] = []
    for start in range(0, len(stops), _STOPS_AT_A_TIME):
        some = stops[start : start + _STOPS_AT_A_TIME]
        depths = trace.depths[some]
        nearer = found_depths[-1] if found_depths else _ANY
        if depths.min() < nearer:
            is_new = depths < np.minimum.accumulate(np.append(nearer, depths))[:-1]
            found_depths += depths[is_new].tolist()
            found_stops += some[is_new].tolist()
        if found_depths[-1] == 0:
            break
    return found_depths[::-1], found_stops[::-1]


def _depths(trace: Trace, times: range) -> list[int]:
    """Return the depth of the frame that runs at each time, 0 behind the last return."""
    frame = trace.frame_at(len(trace))
    last = 0 if frame is None else trace.frames[frame].depth
    inside = trace.depths[min(times) : max(times) + 1].tolist()
    found = inside if len(inside) == len(times) else [*inside, last]
    return found if times.step > 0 else found[::-1]


def run_to(trace: Trace, at: int, breakpoints: Iterable[Breakpoint]) -> int:
    """Continue to the next breakpoint behind `at`, or to the end."""
    found = len(trace)
    for breakpoint in breakpoints:
        if _is_plain_write(breakpoint, trace):
            nearest = nearest_written(trace, breakpoint.function, breakpoint.register, at, is_back=False)
            found = found if nearest is None else min(found, nearest)
            continue
        times = places_met(trace, breakpoint)
        start = int(np.searchsorted(times, at, side="right"))
        end = int(np.searchsorted(times, found))
        found = next((hit.time for hit in _hits(trace, breakpoint, times, range(start, end)) if hit.stops), found)
    return found


def run_back_to(trace: Trace, at: int, breakpoints: Iterable[Breakpoint]) -> int:
    """Continue backwards to the nearest breakpoint before `at`, or to the start."""
    found = 0
    for breakpoint in breakpoints:
        if _is_plain_write(breakpoint, trace):
            nearest = nearest_written(trace, breakpoint.function, breakpoint.register, at, is_back=True)
            found = found if nearest is None else max(found, nearest)
            continue
        times = places_met(trace, breakpoint)
        start = int(np.searchsorted(times, found, side="right"))
        end = int(np.searchsorted(times, at))
        before = _hits(trace, breakpoint, times, range(end - 1, start - 1, -1))
        found = next((hit.time for hit in before if hit.stops), found)
    return found


def _is_plain_write(breakpoint: Breakpoint, trace: Trace) -> TypeGuard[WriteBreakpoint]:
    """Tell whether the nearest write alone can be looked for: of a condition all hits are counted."""
    return isinstance(breakpoint, WriteBreakpoint) and breakpoint.condition is None and trace.is_read_by_parts


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
            # Values that were given up are made again in the direction in which they are asked for.
            near = trace.near(time, *((0, time) if places.step < 0 else (time, len(trace))))
            holds = breakpoint.condition is None or breakpoint.condition.holds(near, time, place + 1)
            yield Hit(time, holds)
        except RunError as error:
            yield Hit(time, stops=False, fault=error.diagnostics[0])


def places_met(trace: Trace, breakpoint: Breakpoint) -> Ints:
    """Return the times at which the place of a breakpoint is met, whatever its condition."""
    if isinstance(breakpoint, WriteBreakpoint):
        return times_written(trace, breakpoint.function, breakpoint.register)
    return np.flatnonzero(_places(trace, breakpoint)[trace.pcs])


def _places(trace: Trace, breakpoint: Breakpoint) -> npt.NDArray[np.bool_]:
    match breakpoint:
        case LineBreakpoint(line=line):
            return (trace.lines.line_of == line) & trace.lines.starts_binding
        case PcBreakpoint(pc=pc):
            return np.arange(len(trace.executable.instructions)) == pc
        case AnyBreakpoint():
            return np.ones(len(trace.executable.instructions), np.bool_)
        case WriteBreakpoint(function=function):
            entry, pcs = trace.executable.functions[function], np.arange(len(trace.executable.instructions))
            return (entry.start <= pcs) & (pcs < entry.end)
