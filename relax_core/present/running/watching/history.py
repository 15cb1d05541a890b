"""What expressions are over a whole run, each in the frame that runs at the time."""

import math
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.present.running import moment
from relax_core.present.running.moment_models import Histories, History, Reading
from relax_core.vm.recording.trace import Trace

READINGS: Final = 2_000
"""The most times that are looked at."""


def histories(trace: Trace, expressions: tuple[str, ...], is_cancelled: Callable[[], bool]) -> Histories:
    """Evaluate expressions at the times of a run and keep the times at which they change.

    Raises:
        RunError: VM008, it was cancelled.
    """
    step = max(1, -(-len(trace) // READINGS))
    times = [*range(0, len(trace), step), len(trace)]
    rows = tuple(History(item, _readings(trace, item, times, is_cancelled)) for item in expressions)
    return Histories(rows, step)


def _readings(trace: Trace, expression: str, times: list[int], is_cancelled: Callable[[], bool]) -> tuple[Reading, ...]:
    found: list[Reading] = []
    for time in times:
        if is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while evaluating expressions"),))
        reading = reading_at(trace, time, expression)
        last = found[-1] if found else None
        if last is None or (last.text, last.number) != (reading.text, reading.number):
            found.append(reading)
    return tuple(found)


def reading_at(trace: Trace, time: int, expression: str) -> Reading:
    """Evaluate an expression in the frame that runs at a time."""
    # Whoever evaluates it at many times goes forwards.
    trace = trace.near(time, time, len(trace))
    depth = len(trace.frames_at(time)) - 1
    if depth < 0:
        return Reading(time, "no frame is left", is_fault=True)
    try:
        text = moment.parts_at(trace, time, depth, moment.Wanted(expression)).value.text
        return Reading(time, text, _number(moment.value_at(trace, time, depth, expression)))
    except DiagnosedError as error:
        return Reading(time, error.diagnostics[0].message, is_fault=True)


def _number(value: Any) -> float | None:
    match value:
        case bool() | int() | float() | np.generic():
            found = cast("Any", value)
        case np.ndarray(size=1):
            found = value.reshape(-1)[0]
        case _:
            return None
    try:
        number = float(found)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
