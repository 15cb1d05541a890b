"""When a register of a function was written, in any of its frames."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from relax_core.vm.objects.values import ByteRange, Value, ranges_in
from relax_core.vm.recording.trace import Ints, Trace

Changes = Mapping[int, list[tuple[int, ByteRange]]]
"""By memory, the events that changed some of it, in order, with the bytes."""


def times_written(trace: Trace, function: int, register: int) -> Ints:
    """Return the times behind each assignment to a register of a function and each change in place of what it holds.

    Times at which it has no value, since it was only allocated, are left out.
    """
    changes: dict[int, list[tuple[int, ByteRange]]] = defaultdict(list)
    for event, ranges in sorted(trace.memory_changes().items()):
        for item in ranges:
            changes[item.memory].append((event, item))
    times: set[int] = set()
    for number, record in enumerate(trace.frames):
        if record.function == function:
            times.update(_in_frame(trace, number, register, changes))
    return np.array(sorted(times), np.int64)


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
            for event, written in inside[bisect_left(inside, start, key=lambda item: item[0]) :]:
                if event >= until:
                    break
                if written.overlaps(held):
                    yield event + 1
