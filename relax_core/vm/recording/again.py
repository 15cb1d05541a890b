"""Values that were given up to save memory, made again: the program runs on from the nearest state that is kept.

A part of a run that is made again is a run of its own, with the same events. Its values stand in place of those that
are missing, in a run that has all events. It is never guessed: where the part cannot be made, or is another one than
was recorded, the values stay missing, and the run says why.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import RunError
from relax_core.vm.objects.values import (
    NOT_KEPT,
    Array,
    DTypeValue,
    RefValue,
    ShapeValue,
    Value,
    root_of,
    storages_in,
)
from relax_core.vm.recording.gaps import gaps
from relax_core.vm.recording.recorder import MemoryLog, Recorder
from relax_core.vm.recording.trace import Trace
from relax_core.vm.stack import Frame

_KEPT_PARTS: Final = 2
_PLAIN: Final = frozenset((int, bool, float, str, ShapeValue, DTypeValue))
_COLUMNS: Final = (
    "lines",
    "pcs",
    "frame_ids",
    "frame_depths",
    "frame_functions",
    "frame_parents",
    "frame_ends",
    "binding_starts",
    "depths",
    "_write_index",
)
"""What two runs with the same events share."""


class ReachedError(BaseException):
    """A run has come to the time until which it is made again; no function of the host may catch it."""


class PartRecorder(Recorder):
    """Records a run until a time, and keeps what its registers hold from `first` on.

    Before, it gives up what no open call holds. From then on everything is kept, and the run ends at `last`, or
    earlier when `limit` bytes are kept besides what was held then, and the event behind time `at` has been. If that
    is so before, `first` moves on.
    """

    __slots__ = ("_at", "_held", "_last", "_released", "_room", "first", "frames_of")

    def __init__(self, limit: int, first: int, at: int, last: int) -> None:
        super().__init__(limit)
        self.first = first
        self.frames_of: Callable[[], list[Frame]] | None = None
        """The open calls of the machine; `None` while the past of another run is taken over."""
        self._at, self._last = at, last
        self._room = limit
        self._held: frozenset[int] = frozenset()
        self._released: set[int] = set()

    def record(self, pc: int, frame: int, value: Value) -> None:
        super().record(pc, frame, value)
        if self.frames_of is None:
            return
        count = len(self.pcs)
        if count == self.first:
            self._clear()
        is_full = self.retained_bytes > self._room
        if count >= self._last or (is_full and count > max(self._at, self.first)):
            raise ReachedError

    def _shrink(self) -> None:
        count = len(self.pcs)
        if self.frames_of is None or self.retained_bytes <= self._room or count > self._at:
            return
        # Before `first` nothing is needed but what open calls hold; behind it `first` has to move on.
        self.first = max(self.first, count)
        self._clear()

    def _clear(self) -> None:
        """Give up all that the registers of no open call hold."""
        frames = self.frames_of() if self.frames_of is not None else []
        in_registers = {id(value) for frame in frames for value in frame.registers}
        # A storage has its bytes, and what is known of them, as long as it may get tensors.
        storages = storages_in(*(tuple(frame.registers) for frame in frames))
        self._held = frozenset(id(item.memory) for item in storages if item.memory is not None)
        latest, order = len(self.values) - 1, list(self._order)
        self._order.clear()
        for entry in order:
            what, number, undo = entry
            if undo is not None:
                is_needed = undo.event >= latest
            elif what == "value":
                is_needed = number == latest or id(self.values[number]) in in_registers
            else:
                is_needed = self.frames[number].leave < 0
            if is_needed:
                self._order.append(entry)
            else:
                self._give_up(entry)
        released, self._released = self._released, set()
        for identity in released:
            if identity in self.memories:
                self._forget(self.memories[identity])
        self._room = self.retained_bytes + self._retained_limit

    def _forget(self, memory: MemoryLog) -> None:
        if memory.uses > 0:
            return
        if id(memory.root) in self._held:
            self._released.add(id(memory.root))
        else:
            del self.memories[id(memory.root)]
            self.retained_bytes -= memory.root.nbytes

    def _release_memory(self, array: Array) -> None:
        memory = self.memories.get(id(root_of(array)))
        if memory is not None:
            memory.uses -= 1
            self._forget(memory)


class Rerun(Protocol):
    """Runs a program again as far as `recorder` records it, from its start or from time `at` of a part of the run."""

    def __call__(self, recorder: PartRecorder, start: Trace | None, at: int) -> Trace: ...


@dataclass(frozen=True, slots=True, eq=False)
class _MadePart:
    """A part of a run that was made again: from which time on its values are there, and the whole run with them."""

    asked: range
    first: int
    made: Trace
    whole: "PatchedTrace"

    def answers(self, asked: range, at: int) -> bool:
        """Tell whether it has what is asked for, or as much of it as there can be."""
        is_inside = self.asked.start <= asked.start and asked.stop <= self.asked.stop
        has_all = self.first <= asked.start and asked.stop - 1 <= len(self.made)
        return (is_inside or has_all) and self.first <= at <= len(self.made)


class PatchedTrace(Trace):
    """A run in which the values that events until time `until` wrote are those of a part that was made again."""

    known: range
    made_memories: frozenset[int]

    @property
    def since(self) -> int:
        return self.known.start

    @property
    def until(self) -> int:
        return self.known.stop - 1

    def _leaf_at(self, value: Value, at: int) -> Value:
        # What the part made may change behind its end, which is not known.
        if at > self.until:
            if isinstance(value, np.ndarray) and id(root_of(value)) in self.made_memories:
                return NOT_KEPT
            if isinstance(value, RefValue):
                return NOT_KEPT
        return super()._leaf_at(value, at)


class Again:
    """Makes parts of one run again, and keeps the latest ones.

    Until time `begin` the run is the `earlier` one that it left.
    """

    def __init__(self, trace: Trace, rerun: Rerun, earlier: Trace | None = None, begin: int = 0) -> None:
        self._trace = trace
        self._rerun = rerun
        self._earlier, self._begin = earlier, begin
        self._parts: list[_MadePart] = []
        self._problems: dict[range, str] = {}

    @cached_property
    def _missing(self) -> npt.NDArray[np.int64]:
        """Before each time, at how many a register may lack its value."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(gaps(self._trace), dtype=np.int64)))

    def around(self, first: int, at: int, last: int) -> Trace:
        """Return the run with the values at time `at`, and those from `first` to `last` as far as they fit.

        Raises:
            RunError: VM008, it was cancelled.
        """
        trace = self._trace
        if self._missing[last + 1] == self._missing[first]:
            return trace
        asked = range(first, last + 1)
        for part in reversed(self._parts):
            if part.answers(asked, at):
                return part.whole
        if self._earlier is not None and last <= self._begin:
            near = self._earlier.near(at, first, last)
            return _patched(trace, near, range(near.since, min(near.until, last) + 1))
        problem = next((words for times, words in self._problems.items() if at in times), "")
        return _told(trace, problem) if problem else self._made(asked, at)

    def _made(self, asked: range, at: int) -> Trace:
        trace = self._trace
        limit = trace.recorder.retained_limit // _KEPT_PARTS
        for start, time in self._starts(asked.start):
            recorder = PartRecorder(limit, asked.start, at, asked.stop - 1)
            made = self._rerun(recorder, start, time)
            if made.error is not None and made.error.code == "VM008":
                raise RunError((made.error,))
            problem = self._problem(made, at)
            if not problem:
                whole = _patched(trace, made, range(recorder.first, len(made) + 1))
                self._parts = [*self._parts[1 - _KEPT_PARTS :], _MadePart(asked, recorder.first, made, whole)]
                return whole
            if start is None:
                self._problems[range(len(made) + 1, len(trace) + 1) if len(made) < at else range(at, at + 1)] = problem
                return _told(trace, problem)
        raise AssertionError("a run can be tried from its start")

    def _starts(self, first: int) -> Iterator[tuple[Trace | None, int]]:
        """Yield the kept parts that the run can go on from to `first`, the nearest one first, and its start."""
        found = [(min(len(part.made) - 1, first), part) for part in self._parts if part.first <= first]
        for time, part in sorted(found, key=lambda item: -item[0]):
            if time > self._begin:
                yield part.made, time
        yield None, 0

    def _problem(self, made: Trace, at: int) -> str:
        """Say why a part is not that of the run; "" if it is."""
        trace, count = self._trace, len(made)
        if made.error is not None and count < at:
            return made.error.message
        is_same = np.array_equal(made.pcs, trace.pcs[:count]) and np.array_equal(
            made.frame_ids, trace.frame_ids[:count]
        )
        values = zip(made.recorder.values, trace.recorder.values, strict=False)
        if count < at or not is_same or any(_is_other(one, two) for one, two in values):
            return "the program went another way when it was run again"
        return ""


def _is_other(one: Any, two: Any) -> bool:
    """Tell whether two plain values differ; tensors are not looked into."""
    return type(two) in _PLAIN and one is not two and (type(one) is not type(two) or (one != two and one == one))


def _told(trace: Trace, problem: str) -> Trace:
    """Return a run that says why its values are missing."""
    told = copy(trace)
    told.given_up = f"{trace.given_up}, and not made again: {problem}"
    return told


def _patched(trace: Trace, made: Trace, known: range) -> PatchedTrace:
    """Return a run with the values of another one, which is alike and has those of the times `known`."""
    old, own, count = trace.recorder, made.recorder, known.stop - 1
    frames = own.frames[: bisect_left(own.frames, count, key=lambda frame: frame.enter)]
    recorder = Recorder(old.retained_limit)
    recorder.pcs, recorder.frame_ids = old.pcs, old.frame_ids
    recorder.values = [*own.values[:count], *old.values[count:]]
    again = (replace(one, leave=two.leave) for one, two in zip(frames, old.frames, strict=False))
    recorder.frames = [*again, *old.frames[len(frames) :]]
    recorder.memories = {**old.memories, **own.memories}
    recorder.injections = [
        *(item for item in own.injections if item.time <= count),
        *(item for item in old.injections if item.time > count),
    ]
    recorder.has_given_up = True
    found = PatchedTrace(
        trace.executable,
        recorder,
        result=trace.result,
        error=trace.error,
        outcome=trace.outcome,
        output=trace.output,
        stop=trace.stop,
        seconds=trace.seconds,
        written=trace.written,
        stand_ins=trace.stand_ins,
        interventions=trace.interventions,
    )
    found.known, found.made_memories = known, frozenset(own.memories)
    found.__dict__.update((name, getattr(trace, name)) for name in _COLUMNS)
    return found
