"""The log that generated code writes while it records, and its decoding into events when somebody asks.

A segment is a run of instructions that retire one after the other. Generated code appends the number of the segment
when it starts, and the values that it wrote when it ends; instructions and frames follow from the numbers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from relax_core.vm.objects.values import Array, StorageValue, Value
from relax_core.vm.recording.recorder import NO_WRITE, FrameRecord, Recorder
from relax_core.vm.tiers.facts import Room


class Effect(Enum):
    """What an event does to its destination, and how the log encodes it."""

    NOTHING = auto()
    VALUE = auto()
    """The destination gets the next value of the log."""
    STORAGE = auto()
    """The destination gets a storage of `size_bytes`; it was elided, and its only tensor has memory of its own."""
    NULL = auto()
    """The destination gets no value: a life ends."""
    SAME = auto()
    """The destination gets a copy of a value of the same segment, given by its position among them."""
    TENSOR = auto()
    """The destination gets a tensor.

    The next value of the log if nothing was written to it, else the kernel's output.
    """
    WRITE = auto()
    """Tensors of the same segment, given by their positions, are written for the first time."""
    HEAP = auto()
    """The destination gets a shape heap of `size_bytes`, all of them 0."""
    SLOTS = auto()
    """Slots of the frame's shape heap are set: to the next value of the log, or to what is computed of such slots."""
    CALL = auto()
    """A VM function is called: the next segment is of another frame."""
    RETURN = auto()
    """The caller's destination gets the next value of the log, or a value of the same segment by its position."""


@dataclass(frozen=True, slots=True)
class Event:
    """An instruction of a segment, as it is decoded.

    `register` holds a logged value until it is logged. A tensor of shape `room` lies in the arena, `offset` bytes
    behind its start; the arena is logged whole, at the end of the segment.
    """

    pc: int
    effect: Effect
    register: int = -1
    positions: tuple[int, ...] = ()
    has_destination: bool = False
    size_bytes: int = 0
    room: Room | None = None
    offset: int = 0
    slots: tuple[tuple[int, Callable[[Mapping[str, Any]], int] | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """Instructions that retire one after the other; `enters` is the function whose frame starts with them, -1 for none.

    Its values take `value_count` entries of the log, and the bytes of the arena one more if it is used.
    """

    events: tuple[Event, ...]
    enters: int = -1
    param_count: int = 0
    value_count: int = 0
    is_in_arena: bool = False


@dataclass(slots=True)
class OpenFrame:
    """A frame of generated code that has not returned; `has_destination`: its caller keeps the result.

    `heap` is its shape heap if that is in local variables, `matched` has those that matches have set.
    """

    number: int
    has_destination: bool
    heap: Array | None = None
    matched: dict[str, int] = field(default_factory=dict[str, int])


NO_EVENT: Final = -1
NOTHING_UNLOGGED: Final[Mapping[int, Value]] = MappingProxyType({})
_ANNOUNCED: Final = (Effect.WRITE, Effect.SLOTS)
"""What an instruction that did not retire may have changed nonetheless."""
SLOT_BYTES: Final = 8


def in_slot(slot: int) -> int:
    """Return the number below all registers under which the value of a slot is handed over that is not logged."""
    return -1 - slot


class RawLog:
    """The log of one run: `numbers` and `values` are appended by generated code, `arena` is written by its kernels."""

    def __init__(self, recorder: Recorder, segments: list[Segment], arena: Array) -> None:
        self.numbers: list[int] = []
        self.values: list[Value] = []
        self.open: list[OpenFrame] = []
        self.recorder = recorder
        self.segments = segments
        self.arena = arena
        self.segments_seen: set[int] = set()
        self.value_types: set[type] = set()
        self._surveyed = 0, 0
        # The event that enters the next frame, and whether that call has a destination.
        self._entering = NO_EVENT
        self._has_destination = False

    def survey(self) -> None:
        """Note which segments and which types of values are in the log, which is looked at once for that."""
        numbers, values = self._surveyed
        self.segments_seen.update(self.numbers[numbers:])
        self.value_types.update(map(type, self.values[values:]))
        self._surveyed = len(self.numbers), len(self.values)

    def settle(self) -> None:
        """Decode everything that is logged."""
        self._decode(len(self.numbers), None, {})

    def settle_finished(self) -> None:
        """Decode everything but the last segment, which may still run and have values to log."""
        self._decode(len(self.numbers) - 1, None, {})

    def settle_until(self, pc: int | None, unlogged: Mapping[int, Value]) -> None:
        """Decode everything that is logged, the last segment up to its instruction `pc`, which did not retire.

        `unlogged` maps registers to values that the segment had not logged yet.
        """
        self._decode(len(self.numbers), pc, unlogged)

    def expect(self, event: int, *, has_destination: bool) -> None:
        """Announce the event that enters the next frame."""
        self._entering, self._has_destination = event, has_destination

    def take_entry(self) -> tuple[int, bool]:
        """Return and consume what `expect` announced, or the last call of the log.

        For a frame that another tier runs.
        """
        entry = self._entering, self._has_destination
        self.expect(NO_EVENT, has_destination=False)
        return entry

    def _decode(self, count: int, pc: int | None, unlogged: Mapping[int, Value]) -> None:
        if count <= 0:
            return
        values, at = self.values, 0
        for position, number in enumerate(self.numbers[:count]):
            segment = self.segments[number]
            if segment.enters >= 0:
                args = tuple(values[at : at + segment.param_count])
                self.enter(segment.enters, args)
                at += len(args)
            stop = pc if position == count - 1 else None
            self.retire(segment, at, stop, unlogged)
            at += segment.value_count + segment.is_in_arena
        del self.numbers[:count]
        del values[:at]

    def enter(self, function: int, args: tuple[Value, ...]) -> None:
        """Record the frame that the latest call makes."""
        event, has_destination = self.take_entry()
        parent = self.open[-1].number if self.open else -1
        record = FrameRecord(function, parent, len(self.open), event, args)
        self.open.append(OpenFrame(self.recorder.add_frame(record), has_destination))

    def retire(
        self, segment: Segment, at: int, stop: int | None = None, unlogged: Mapping[int, Value] = NOTHING_UNLOGGED
    ) -> None:
        """Record a segment whose values start at position `at` of the log.

        The instruction `stop` did not retire, but may have written to memory.
        """
        recorder, frame = self.recorder, self.open[-1]
        seen: list[Value] = []
        behind = at + segment.value_count
        # A segment that was interrupted never copied the arena: what it would have logged is still there.
        arena: Any = self.values[behind] if segment.is_in_arena and behind < len(self.values) else self.arena
        for event in segment.events:
            value: Value = NO_WRITE
            if event.pc == stop and event.effect not in _ANNOUNCED:
                break
            match event.effect:
                case Effect.TENSOR if event.room is not None:
                    value = _from_arena(arena, event.room, event.offset)
                    seen.append(value)
                    recorder.mark_fresh(value)
                case Effect.RETURN if event.positions:
                    value = self._left(frame, seen[event.positions[0]])
                case Effect.VALUE | Effect.TENSOR | Effect.RETURN:
                    value = self.values[at] if at < len(self.values) else unlogged[event.register]
                    at += 1
                    seen.append(value)
                    value = self._made(frame, event.effect, value)
                case Effect.STORAGE:
                    value = StorageValue(event.size_bytes)
                case Effect.NULL:
                    value = None
                case Effect.SAME:
                    value = seen[event.positions[0]]
                case Effect.WRITE:
                    for position in event.positions:
                        recorder.before_write(_array(seen[position]))
                case Effect.HEAP | Effect.SLOTS:
                    value, end = self._on_heap(frame, event, at, unlogged, is_stopped=event.pc == stop)
                    seen += [None] * (end - at)
                    at = end
                case Effect.CALL:
                    self.expect(recorder.next_event, has_destination=event.has_destination)
                case Effect.NOTHING:
                    pass
            if event.pc == stop:
                break
            recorder.record(event.pc, frame.number, value)

    def _on_heap(
        self, frame: OpenFrame, event: Event, at: int, unlogged: Mapping[int, Value], *, is_stopped: bool
    ) -> tuple[Value, int]:
        """Make the heap of a frame, or set slots of it to values of the log from `at` on.

        Return what its register gets, and the place behind these values. An instruction that is stopped sets nothing.
        """
        heap = frame.heap
        if heap is None or event.effect is Effect.HEAP:
            heap = frame.heap = np.zeros(event.size_bytes // SLOT_BYTES, np.int64)
            self.recorder.mark_fresh(heap)
            return heap, at
        self.recorder.before_write(heap)
        if is_stopped:
            return NO_WRITE, at
        for slot, compute in event.slots:
            if compute is None:
                value: Any = self.values[at] if at < len(self.values) else unlogged[in_slot(slot)]
                frame.matched[f"h{slot}"] = value
                at += 1
            heap[slot] = frame.matched[f"h{slot}"] if compute is None else compute(frame.matched)
        return NO_WRITE, at

    def _made(self, frame: OpenFrame, effect: Effect, value: Value) -> Value:
        """Record what a logged value is: a fresh tensor, what a call returns; return what its register gets."""
        if effect is Effect.TENSOR:
            self.recorder.mark_fresh(_array(value))
        return self._left(frame, value) if effect is Effect.RETURN else value

    def _left(self, frame: OpenFrame, value: Value) -> Value:
        """Record the end of a call, and return the value that its caller's register gets."""
        self.recorder.leave(frame.number)
        self.open.pop()
        return value if frame.has_destination else NO_WRITE


def _from_arena(arena: Any, room: Room, offset: int) -> Array:
    """Return a copy of a tensor in the arena, or in a logged copy of the arena."""
    return np.frombuffer(arena, room.dtype, math.prod(room.shape), offset).reshape(room.shape).copy()


def _array(value: Value) -> Array:
    assert isinstance(value, np.ndarray), "a tensor was allocated here"
    return value
