"""Breakpoints of requests: where a run stops next, and at which hits their conditions hold."""

from collections.abc import Callable
from typing import Final

from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.engine.debug.requests import StopPlace
from relax_core.engine.protocol import StopOf
from relax_core.present.problems import problem_of
from relax_core.present.running.run_models import Breakpoint as Point
from relax_core.present.running.run_models import PointHits, PointList
from relax_core.present.running.watching.messages import LogHit
from relax_core.vm.condition import Condition
from relax_core.vm.debugger import (
    AnyBreakpoint,
    Breakpoint,
    LineBreakpoint,
    PcBreakpoint,
    WriteBreakpoint,
    check_condition,
    hits_of,
    run_back_to,
    run_to,
)
from relax_core.vm.recording.trace import Trace

_SHOWN_FUNCTIONS: Final = 12


def stop_of(trace: Trace, message: StopOf) -> int:
    """Return the time at which a run stops next; a breakpoint with an unreadable condition never stops it.

    Neither does a logpoint.
    """
    points: list[Breakpoint] = []
    for point in message.breakpoints:
        if not point.is_on or point.message:
            continue
        try:
            points.append(checked(trace, point))
        except CompileError:
            continue
    run = run_back_to if message.is_back else run_to
    return run(trace, min(max(message.time, 0), len(trace)), points)


def point_list(trace: Trace, points: tuple[Point, ...], window: range, is_cancelled: Callable[[], bool]) -> PointList:
    """Evaluate the condition of each breakpoint at each of its hits; the times in `window` are listed."""
    return PointList(tuple(_point_hits(trace, point, window, is_cancelled) for point in points))


def _point_hits(trace: Trace, point: Point, window: range, is_cancelled: Callable[[], bool]) -> PointHits:
    try:
        breakpoint = checked(trace, point)
    except CompileError as error:
        return PointHits(point, problem=problem_of(error.diagnostics[0]))
    met, first, times = 0, -1, list[int]()
    stops, faults = 0, list[Diagnostic]()
    for hit in hits_of(trace, breakpoint):
        if is_cancelled():
            raise RunError((Diagnostic("VM008", f"cancelled while looking at the hits of `{point.condition}`"),))
        met += 1
        if hit.fault is not None:
            faults.append(hit.fault)
        if hit.stops:
            stops += 1
            first = hit.time if first < 0 else first
            if hit.time in window:
                times.append(hit.time)
    problem = problem_of(faults[0]) if faults else None
    return PointHits(point, met, stops, first, tuple(times), problem, len(faults))


def log_hits(trace: Trace, points: tuple[Point, ...], is_cancelled: Callable[[], bool]) -> list[LogHit]:
    """Return where logpoints that are on write their messages, in the order of time.

    One whose condition cannot be read, or has no value, writes nothing: its hits say why, see `point_list`.

    Raises:
        RunError: VM008, it was cancelled.
    """
    found: list[LogHit] = []
    for point in points:
        if not point.message or not point.is_on:
            continue
        try:
            breakpoint = checked(trace, point)
        except CompileError:
            continue
        for met, hit in enumerate(hits_of(trace, breakpoint), 1):
            if is_cancelled():
                raise RunError((Diagnostic("VM008", f"cancelled while writing `{point.message}`"),))
            if hit.stops:
                found.append(LogHit(hit.time, met, point.message))
    return sorted(found, key=lambda hit: hit.time)


def checked(trace: Trace, point: Point) -> Breakpoint:
    """Return the machine's breakpoint.

    Raises:
        CompileError: VM030 or VM031, located in the condition, or EN005, there is no such function or register.
    """
    has_place = point.is_placed or (isinstance(point, StopPlace) and bool(point.function))
    condition = Condition.of(point.condition) if point.condition.strip() or not has_place else None
    if isinstance(point, StopPlace) and point.function:
        breakpoint = _in_function(trace, point, condition)
    elif not has_place and condition is not None:
        breakpoint = AnyBreakpoint(condition)
    else:
        breakpoint = LineBreakpoint(point.line, condition) if point.line else PcBreakpoint(point.pc, condition)
    check_condition(trace, breakpoint)
    return breakpoint


def _in_function(trace: Trace, place: StopPlace, condition: Condition | None) -> Breakpoint:
    functions = tuple((n, item) for n, item in enumerate(trace.executable.functions) if item.kind == "vm")
    number, entry = next((pair for pair in functions if pair[1].name == place.function), (-1, None))
    if entry is None:
        known = ", ".join(f"`{item.name}`" for _, item in functions[:_SHOWN_FUNCTIONS])
        words = f"no function `{place.function}` is run by instructions"
        raise CompileError((Diagnostic("EN005", words, hint=f"there are {known}"),))
    if place.register < 0:
        return PcBreakpoint(entry.start, condition)
    if place.register >= entry.register_count:
        words = f"`{entry.name}` has {entry.register_count} registers, and no `%{place.register}`"
        raise CompileError((Diagnostic("EN005", words),))
    return WriteBreakpoint(number, place.register, condition)
