"""A log of generated code that is not decoded: columns of all events at once, values where somebody looks.

Decoding takes microseconds an event, so that a run of a million would be shown after seconds. Here what is written is
decoded by parts, the frame of a function that has a shape heap, else a segment, and the latest parts are kept. In such
a run whatever changes in place is made in the part that changes it: each part has its own memories.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from relax_core.vm.objects.values import DTypeValue, ShapeValue, StorageValue, Value, root_of
from relax_core.vm.recording.recorder import FrameRecord, MemoryLog, Recorder
from relax_core.vm.tiers.log import Effect, OpenFrame, RawLog, Segment

Ints = npt.NDArray[np.int64]

LEAST_EVENTS: Final = 50_000
"""A shorter log is decoded as a whole, which takes no longer than anybody waits for."""
_KEPT_EVENTS: Final = 200_000
_KEPT_FRAMES: Final = 20_000
_ANY_BYTES: Final = 1 << 62
_MOST_WAITING_BYTES: Final = 64 << 20
"""With more bytes of tensors a log is decoded in order, so that the oldest are given up."""
_WITHOUT_PARTS: Final = frozenset(
    (int, bool, float, str, type(None), np.ndarray, bytes, ShapeValue, DTypeValue, StorageValue)
)


def unread_run(log: RawLog) -> "UnreadRun | None":
    """Return the run of a log that has all of it; `None` if it has to be decoded in order.

    That is so if anything else was recorded, or if values have parts, are given up or shared with other parts.
    """
    return UnreadRun(log) if can_wait(log, min(_MOST_WAITING_BYTES, log.recorder.retained_limit)) else None


def can_wait(log: RawLog, most_bytes: int = _MOST_WAITING_BYTES) -> bool:
    """Tell whether a log is long, has all of the run so far, and need not be decoded in order."""
    recorder, segments = log.recorder, log.segments
    if recorder.pcs or recorder.frames or log.open or recorder.injections or _is_short(log):
        return False
    log.survey()
    types = log.value_types
    if not types <= _WITHOUT_PARTS or (np.ndarray in types and _bytes_of_tensors(log) > most_bytes):
        return False
    return all(_is_closed(segments[number]) for number in log.segments_seen)


def _is_short(log: RawLog) -> bool:
    numbers, segments = log.numbers, log.segments
    return len(numbers) < LEAST_EVENTS and sum(len(segments[number].events) for number in numbers) < LEAST_EVENTS


def _bytes_of_tensors(log: RawLog) -> int:
    arrays: Iterable[Any] = (item for item in log.values if type(item) is np.ndarray)
    return sum({id(root): root.nbytes for root in map(root_of, arrays)}.values())


def _is_closed(segment: Segment) -> bool:
    """Tell whether every tensor that a segment makes and logs is written there: nobody else sees it unwritten."""
    unwritten: set[int] = set()
    place = 0
    for item in segment.events:
        match item.effect:
            case Effect.WRITE:
                unwritten.difference_update(item.positions)
            case Effect.SLOTS:
                place += sum(compute is None for _, compute in item.slots)
            case Effect.TENSOR:
                unwritten.add(place)
                place += 1
            case Effect.VALUE:
                place += 1
            case _:
                pass
    return not unwritten


class _DecodedPart(Recorder):
    """What is decoded of a log at a time: the values of the events of some segments, and the memories made there."""

    __slots__ = ("_event", "found", "segments")

    def __init__(self, segments: Sequence[int]) -> None:
        super().__init__(_ANY_BYTES)
        self.segments = segments
        self.found: dict[int, Value] = {}
        self._event = 0

    @property
    def next_event(self) -> int:
        return self._event

    def go_to(self, event: int) -> None:
        """Go on with another segment."""
        self._event = event

    def record(self, pc: int, frame: int, value: Value) -> None:
        self.found[self._event] = value
        self._event += 1

    def leave(self, number: int) -> None:
        pass


class UnreadRun:
    """A whole run in segments: `pcs` and `frame_ids` are columns by event, `functions` and what follows by frame."""

    def __init__(self, log: RawLog) -> None:
        self._log = log
        self._segments = segments = log.segments
        numbers = self._numbers = np.asarray(log.numbers, np.int64)
        lengths = np.array([len(item.events) for item in segments], np.int64)[numbers]
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        offsets = np.cumsum([0, *(len(item.events) for item in segments)])[:-1]
        flat = np.array([event.pc for item in segments for event in item.events], np.int64)
        total = int(self._ends[-1])
        self.pcs: Ints = flat[np.arange(total) + np.repeat(offsets[numbers] - self._starts, lengths)]
        entered = np.array([item.enters for item in segments], np.int64)[numbers]
        sizes = np.array([_size(item) for item in segments], np.int64)[numbers]
        self._value_starts = np.cumsum(sizes) - sizes
        self._find_frames(entered, numbers)
        self.frame_ids: Ints = np.repeat(self._frame_of, lengths)
        self._on_heap = np.array([_has_heap(item) for item in segments], np.bool_)
        self._parts: dict[int, _DecodedPart] = {}
        self._part_of_memory: dict[int, _DecodedPart] = {}
        self._latest = _DecodedPart(())
        self._kept_events = 0
        self.frames: Sequence[FrameRecord] = _Frames(self)
        """All calls, in the order of entry."""

    def _find_frames(self, entered: Ints, numbers: Ints) -> None:
        """Find the frame of each segment, and of each frame who made it, from when to when it ran, and how deep."""
        is_first = entered >= 0
        returns = np.array([bool(_last(item) is Effect.RETURN) for item in self._segments])[numbers]
        depths = np.cumsum(is_first) - np.cumsum(returns) + returns - 1
        order = np.argsort(depths, kind="stable")
        latest = np.maximum.accumulate(np.where(is_first[order], np.arange(len(order)), 0))
        frame_numbers = np.cumsum(is_first) - 1
        self._frame_of = np.empty(len(order), np.int64)
        self._frame_of[order] = frame_numbers[order[latest]]
        self._first_segments = np.flatnonzero(is_first)
        self.functions: Ints = entered[self._first_segments]
        self.depths: Ints = depths[self._first_segments]
        self.parents: Ints = np.where(self._first_segments > 0, self._frame_of[self._first_segments - 1], -1)
        self.enters: Ints = self._starts[self._first_segments] - 1
        self.leaves: Ints = np.full(len(self.functions), -1, np.int64)
        self.leaves[self._frame_of[returns]] = self._ends[returns] - 1

    @cached_property
    def _of_frames(self) -> tuple[Ints, Ints]:
        """The segments in the order of their frames, and where those of each frame start."""
        order = np.argsort(self._frame_of, kind="stable")
        return order, np.searchsorted(self._frame_of[order], np.arange(len(self.functions) + 1))

    def _segments_of(self, frame: int) -> Ints:
        order, starts = self._of_frames
        return order[starts[frame] : starts[frame + 1]]

    def frame(self, number: int) -> FrameRecord:
        """Return the record of a call."""
        segment = int(self._first_segments[number])
        at = int(self._value_starts[segment])
        args = self._log.values[at : at + self._kind(segment).param_count]
        columns = (self.functions, self.parents, self.depths, self.enters)
        function, parent, depth, enter = (int(column[number]) for column in columns)
        return FrameRecord(function, parent, depth, enter, tuple(args), int(self.leaves[number]))

    def value(self, event: int) -> Value:
        """Return what an event wrote to its destination."""
        return self._part(event).found[event]

    def writes_of(self, frame: int) -> Iterator[int]:
        """Yield the events that may write registers of a frame, in order, those of the calls that it makes included."""
        for place, segment in enumerate(self._segments_of(frame).tolist()):
            start, end = int(self._starts[segment]), int(self._ends[segment])
            is_return = _last(self._kind(segment)) is Effect.RETURN
            is_returned_to = place > 0 and self._frame_of[segment - 1] != frame
            yield from range(start - is_returned_to, end - is_return)

    def memory(self, identity: int) -> MemoryLog | None:
        """Return the log of a memory that a part which is kept has made."""
        part = self._part_of_memory.get(identity)
        return None if part is None else part.memories.get(identity)

    def memories_of(self, events: Iterable[int]) -> dict[int, MemoryLog]:
        """Return the memories that these events may have changed."""
        parts = dict.fromkeys(map(self._part, events))
        return {identity: memory for part in parts for identity, memory in part.memories.items()}

    def _segment_at(self, event: int) -> int:
        return int(np.searchsorted(self._ends, event, "right"))

    def _part(self, event: int) -> _DecodedPart:
        """Return the part that holds an event."""
        # Whoever looks at one event of a part looks at others of it next.
        if event not in self._latest.found:
            segment = self._segment_at(event)
            self._latest = self._parts.get(segment) or self._decoded(segment)
        return self._latest

    def _decoded(self, segment: int) -> _DecodedPart:
        frame = int(self._frame_of[segment])
        segments = [segment]
        function_segments = self._segments_of(frame)
        if self._on_heap[self._numbers[function_segments]].any():
            segments = function_segments.tolist()
        self._make_room()
        part = _DecodedPart(segments)
        log = RawLog(part, self._segments, self._log.arena)
        log.values = self._log.values
        has_destination = frame > 0 and self._has_destination(frame)
        opened = OpenFrame(frame, has_destination)
        for item in segments:
            part.go_to(int(self._starts[item]))
            log.open = [opened]
            kind = self._kind(item)
            log.retire(kind, int(self._value_starts[item]) + (kind.param_count if kind.enters >= 0 else 0))
            self._parts[item] = part
        self._part_of_memory |= dict.fromkeys(part.memories, part)
        self._kept_events += len(part.found)
        return part

    def _has_destination(self, frame: int) -> bool:
        """Tell whether the caller of a frame keeps what it returns."""
        return self._kind(int(self._first_segments[frame]) - 1).events[-1].has_destination

    def _kind(self, segment: int) -> Segment:
        return self._segments[int(self._numbers[segment])]

    def _make_room(self) -> None:
        """Forget the parts that were decoded first, if there are many: they are decoded again when they are needed."""
        while self._kept_events > _KEPT_EVENTS:
            oldest = self._parts[next(iter(self._parts))]
            self._kept_events -= len(oldest.found)
            for segment in oldest.segments:
                del self._parts[segment]
            for identity in oldest.memories:
                self._part_of_memory.pop(identity, None)


class _Frames(Sequence[FrameRecord]):
    """The calls of a run, each made when it is asked for."""

    def __init__(self, run: UnreadRun) -> None:
        self._run = run
        self._made: dict[int, FrameRecord] = {}

    def __len__(self) -> int:
        return len(self._run.functions)

    @overload
    def __getitem__(self, index: int) -> FrameRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FrameRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> FrameRecord | tuple[FrameRecord, ...]:
        if isinstance(index, slice):
            return tuple(map(self._run.frame, range(*index.indices(len(self)))))
        found = self._made.get(index)
        if found is not None:
            return found
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        if len(self._made) >= _KEPT_FRAMES:
            self._made.clear()
        found = self._made[index] = self._run.frame(index % len(self))
        return found


def _size(segment: Segment) -> int:
    """Return how many entries of the log a segment takes."""
    return segment.value_count + segment.is_in_arena + (segment.param_count if segment.enters >= 0 else 0)


def _last(segment: Segment) -> Effect | None:
    return segment.events[-1].effect if segment.events else None


def _has_heap(segment: Segment) -> bool:
    return any(item.effect in (Effect.HEAP, Effect.SLOTS) for item in segment.events)
