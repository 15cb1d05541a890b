"""When a register of a function was written, in any of its frames."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from relax_core.bytecode.isa import CallInstruction
from relax_core.vm.objects.values import ByteRange, Value, ranges_in
from relax_core.vm.recording.liveness import written
from relax_core.vm.recording.recorder import Ints
from relax_core.vm.recording.trace import Trace

_EVENTS_AT_A_TIME: Final = 64

Changes = Mapping[int, list[tuple[int, ByteRange]]]
"""By memory, the events that changed some of it, in order, with the bytes."""


def times_written(trace: Trace, function: int, register: int) -> Ints:
    """Return the times behind each assignment to a register of a function and each change in place of what it holds.

    Times at which it has no value, since it was only allocated, are left out.
    """
    times: set[int] = set()
    start = 0
    while start < len(trace):
        # Values that were given up are made again by parts, of which each tells about its own times.
        near = trace.near(start + 1, start, len(trace))
        end = near.until
        changes = _by_memory(near.memory_changes())
        for number, record in enumerate(near.frames):
            if record.function == function and record.enter < end and not 0 <= record.leave < start:
                times.update(time for time in _in_frame(near, number, register, changes) if start < time <= end)
        start = end
    return np.array(sorted(times), np.int64)


def nearest_written(trace: Trace, function: int, register: int, at: int, *, is_back: bool) -> int | None:
    """Return that of these times which is nearest before `at`, or behind it, in a run that is read by parts.

    Only what may write the register is looked at, from `at` on, until something has.
    """
    events = _candidates(trace, function, register)
    if is_back:
        events = events[: np.searchsorted(events, at - 1)][::-1]
    else:
        events = events[np.searchsorted(events, at) :]
    for start in range(0, len(events), _EVENTS_AT_A_TIME):
        some = events[start : start + _EVENTS_AT_A_TIME].tolist()
        low, high = min(some), max(some) + 1
        changes = _by_memory(trace.memory_changes(some))
        frames = {trace.written_frame(event) for event in some}
        times = {time for frame in frames for time in _in_frame(trace, frame, register, changes)}
        inside = [time for time in times if low < time <= high]
        if inside:
            return max(inside) if is_back else min(inside)
    return None


def _candidates(trace: Trace, function: int, register: int) -> Ints:
    """Return the events that may assign a register of a function, or change in place what it holds."""
    executable = trace.executable
    entry = executable.functions[function]
    assigns = np.zeros(len(executable.instructions), np.bool_)
    may_write = assigns.copy()
    # What a parameter holds was made in another call, and was written there.
    is_parameter = register < entry.param_count
    for pc, instruction in enumerate(executable.instructions[entry.start : entry.end], entry.start):
        assigns[pc] = written(instruction) == register
        changes = not is_parameter and isinstance(instruction, CallInstruction) and written(instruction) is None
        may_write[pc] = assigns[pc] or changes
    own = np.flatnonzero(may_write[trace.pcs])
    enters, leaves = trace.frame_ends
    returned = (enters >= 0) & (leaves >= 0)
    returned[returned] = assigns[trace.pcs[enters[returned]]]
    return np.sort(np.concatenate((own, leaves[returned])))


def _by_memory(found: Mapping[int, tuple[ByteRange, ...]]) -> Changes:
    changes: dict[int, list[tuple[int, ByteRange]]] = defaultdict(list)
    for event, ranges in sorted(found.items()):
        for item in ranges:
            changes[item.memory].append((event, item))
    return changes


def _in_frame(trace: Trace, frame: int, register: int, changes: Changes) -> Iterator[int]:
    record = trace.frames[frame]
    end = record.leave if record.leave >= 0 else len(trace)
    lives: list[tuple[int, Value, bool]] = []
    if register < len(record.args):
        lives.append((record.enter + 1, record.args[register], False))
    for event in trace.writes_of(frame):
        if trace.written_register(event) == register:
            lives.append((event + 1, trace.written_value(event), True))
    ends = (*(start for start, _, _ in lives[1:]), end)
    for (start, value, is_assigned), until in zip(lives, ends, strict=False):
        if is_assigned and not trace.is_state(trace.as_it_was(value, start)):
            yield start
        for held in ranges_in(value):
            inside = changes.get(held.memory, [])
            for event, changed in inside[bisect_left(inside, start, key=lambda item: item[0]) :]:
                if event >= until:
                    break
                if changed.overlaps(held):
                    yield event + 1
