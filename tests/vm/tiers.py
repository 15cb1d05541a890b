"""Run a program on every tier and tell where the runs differ."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import AdtValue, Closure, ObjectValue, RefValue, StorageValue, Value
from relax_core.vm.recording.trace import Trace
from tests.narrow import is_array, is_tuple

# A program, and what makes its arguments: a program may change them.
Given = Callable[[], tuple[Value, ...]]


def differences(executable: Executable, entry: str, given: Given, **options: Any) -> tuple[str, ...]:
    """Return what the generated tiers do otherwise than the explicit one: event by event, and without a log."""
    wanted = Machine(executable, tier="explicit", **options).run(entry, given())
    logged = Machine(executable, **options).run(entry, given())
    plain = Machine(executable, record=False, **options).run(entry, given())
    silent = Machine(executable, record=False, tier="explicit", **options).run(entry, given())
    return (*_compare_traces(wanted, logged), *_compare_ends("plain", silent, plain))


def _compare_traces(wanted: Trace, found: Trace) -> Iterator[str]:
    yield from _compare_ends("logged", wanted, found)
    if len(wanted) != len(found):
        yield f"{len(found)} events, not {len(wanted)}"
        return
    if wanted.pcs.tolist() != found.pcs.tolist() or wanted.frame_ids.tolist() != found.frame_ids.tolist():
        yield "other instructions retired"
        return
    for one, other in zip(wanted.frames, found.frames, strict=True):
        same = ("function", "parent", "depth", "enter", "leave")
        if any(getattr(one, name) != getattr(other, name) for name in same) or not is_same(one.args, other.args):
            yield f"another frame: {other}, not {one}"
    for event in range(len(wanted)):
        if wanted.written_register(event) != found.written_register(event):
            yield f"event {event} writes another register"
        one, other = (trace.as_it_was(trace.written_value(event), event + 1) for trace in (wanted, found))
        if not is_same(one, other):
            yield f"event {event}: {other}, not {one}"
    yield from _compare_pasts(wanted, found)


def _compare_pasts(wanted: Trace, found: Trace) -> Iterator[str]:
    """Compare all registers at some times, and at the end."""
    if set(wanted.memory_changes()) != set(found.memory_changes()):
        yield "other events change memory"
    for time in sorted({*range(0, len(wanted), max(len(wanted) // 7, 1)), len(wanted)}):
        if wanted.frames_at(time) != found.frames_at(time):
            yield f"other frames at {time}"
            continue
        for state in wanted.frames_at(time)[-3:]:
            pair = (trace.registers_at(time, state.frame) for trace in (wanted, found))
            for index, (one, other) in enumerate(zip(*pair, strict=True)):
                if not is_same(one, other):
                    yield f"register {index} of frame {state.frame} at {time}: {other}, not {one}"


def _compare_ends(tier: str, wanted: Trace, found: Trace) -> Iterator[str]:
    if not is_same(wanted.result, found.result):
        yield f"{tier}: the result is {found.result}, not {wanted.result}"
    if _words(wanted.error) != _words(found.error) or wanted.outcome != found.outcome:
        yield f"{tier}: it ends with {_words(found.error)}, not {_words(wanted.error)}"
    if [line.text for line in wanted.output] != [line.text for line in found.output]:
        yield f"{tier}: other output"
    if [(line.time, line.pc) for line in wanted.output] != [(line.time, line.pc) for line in found.output]:
        yield f"{tier}: output at another time or place"
    if (wanted.frame_at(len(wanted)), wanted.pc_at(len(wanted))) != (
        found.frame_at(len(found)),
        found.pc_at(len(found)),
    ):
        yield f"{tier}: it stops elsewhere"


def _words(error: Diagnostic | None) -> str | None:
    return None if error is None else error.render()


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two values of two runs are the same."""
    if type(one) is not type(other):
        return False
    match one:
        case _ if is_array(one):
            return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        case _ if is_tuple(one):
            return len(one) == len(other) and all(map(is_same, one, other))
        case Closure():
            return one.function == other.function and is_same(one.captures, other.captures)
        case AdtValue():
            return (one.name, one.tag) == (other.name, other.tag) and is_same(one.fields, other.fields)
        case RefValue():
            return is_same(tuple(one.versions), tuple(other.versions))
        case StorageValue():
            return (one.size_bytes, one.device) == (other.size_bytes, other.device)
        case ObjectValue():
            return type(one.content) is type(other.content)
        case float():
            return one == other or one != one
        case _:
            return bool(one == other)
