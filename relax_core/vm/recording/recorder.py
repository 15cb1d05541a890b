"""The log that a running machine writes: events, frames, and what tensors held before they were changed."""

from array import array as packed_array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.vm.objects.placed import PlacedArray
from relax_core.vm.objects.values import (
    NOT_KEPT,
    AdtValue,
    Array,
    Closure,
    Sentinel,
    Value,
    arrays_in,
    fields_of,
    root_of,
)

NO_WRITE: Final = Sentinel("no write")
_HEAVY: Final = (np.ndarray, PlacedArray, tuple, Closure)

Before: TypeAlias = "np.ndarray[Any, Any] | Sentinel | None"
"""Bytes, `NOT_KEPT`, or `None` if nothing had been written yet."""

Ints: TypeAlias = npt.NDArray[np.int64]

Intervals: TypeAlias = tuple[tuple[int, int], ...]
"""Byte ranges `[start, stop)` in order, which do not touch each other."""


@dataclass(slots=True)
class FrameRecord:
    """A call: the function, who called it, and from which event to which it ran.

    `enter` is the event that made the frame (-1 for the entry function), `leave` the one that returned (-1 while it
    has not). `function` is an index into the function table.
    """

    function: int
    parent: int
    depth: int
    enter: int
    args: tuple[Value, ...]
    leave: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Injection:
    """A value that the host put into a register of a frame at a time, before the event of that number."""

    time: int
    frame: int
    register: int
    value: Value


@dataclass(slots=True)
class Undo:
    """The bytes `[start, stop)` of a memory as they were before event `event`."""

    event: int
    start: int
    stop: int
    before: Before

    def covers(self, start: int, stop: int) -> bool:
        """Tell whether it holds all bytes of a region."""
        return self.start <= start and stop <= self.stop


@dataclass(slots=True)
class MemoryLog:
    """The past of the memory that `root` owns; `uses` counts log entries.

    `fresh` are the bytes to which nothing was written yet, all of them `fill`. `first_kept` are those of an argument of
    the run whose first content is never given up, so that the run can be made again.
    """

    root: Array
    fresh: Intervals = ()
    fill: int = 0
    uses: int = 0
    first_kept: Intervals = ()
    undos: list[Undo] = field(default_factory=list["Undo"])

    def past(self, array: Array, event: int) -> Array | Sentinel | None:
        """Return what `array`, a view of this memory, held before event `event`; `None` if nothing yet."""
        first = bisect_left(self.undos, event, key=lambda undo: undo.event)
        start, stop = extent(array, self.root)
        if first == len(self.undos):
            return None if is_inside(start, stop, self.fresh) else array
        # The earliest entry that holds the whole region says what was there; only those before it matter besides.
        last = first
        while last < len(self.undos) - 1 and not self.undos[last].covers(start, stop):
            last += 1
        region = _Region(_contiguous_bytes(array), start, stop, self.fill)
        for low, high in self.fresh:
            region.forget(low, high)
        for undo in reversed(self.undos[first : last + 1]):
            region.undo(undo)
        if region.is_lost:
            return NOT_KEPT
        if start < stop and region.is_fresh.all():
            return None
        return region.content.view(array.dtype).reshape(array.shape)

    def fresh_at(self, event: int) -> Intervals:
        """Return the bytes to which nothing had been written before event `event`."""
        found = self.fresh
        for undo in reversed(self.undos):
            if undo.event < event:
                break
            join = without if undo.before is not None else with_interval
            found = join(found, undo.start, undo.stop)
        return found


class _Region:
    """Bytes of a memory on the way into the past, and to which of them nothing had been written."""

    def __init__(self, content: "np.ndarray[Any, Any]", start: int, stop: int, fill: int) -> None:
        self.content = content
        self.is_fresh = np.zeros(len(content), np.bool_)
        self.is_lost = False
        self._start = start
        self._stop = stop
        self._fill = fill

    def forget(self, low: int, high: int) -> None:
        """Go to where nothing had been written to some bytes."""
        place = slice(max(low - self._start, 0), max(min(high, self._stop) - self._start, 0))
        self.is_fresh[place] = True
        self.content[place] = self._fill

    def undo(self, undo: Undo) -> None:
        """Go to before an event."""
        low, high = max(self._start, undo.start), min(self._stop, undo.stop)
        if low >= high:
            return
        if undo.covers(self._start, self._stop):
            self.is_lost = False
        match undo.before:
            case None:
                self.forget(low, high)
            case np.ndarray() as before:
                place = slice(low - self._start, high - self._start)
                self.content[place] = before[low - undo.start : high - undo.start]
                self.is_fresh[place] = False
            case _:
                self.is_lost = True


_Entry: TypeAlias = tuple[str, int, Undo | None]
"""What is kept, the oldest first: an `undo`, the `value` of the event of a number, or the arguments of a `frame`."""


class UnreadLog(Protocol):
    """A whole run whose values are decoded where somebody looks: columns of all events, and of all calls."""

    pcs: Ints
    frame_ids: Ints
    functions: Ints
    depths: Ints
    parents: Ints
    enters: Ints
    leaves: Ints
    frames: Sequence[FrameRecord]

    def value(self, event: int) -> Value:
        """Return what an event wrote, or `NO_WRITE`."""
        ...

    def writes_of(self, frame: int) -> Iterator[int]:
        """Yield the events that may write registers of a frame, in order."""
        ...

    def memory(self, identity: int) -> MemoryLog | None:
        """Return the log of a memory, by the identity of the array that owns it; `None` if it never changed."""
        ...

    def memories_of(self, events: Iterable[int]) -> Mapping[int, MemoryLog]:
        """Return the memories that these events may have changed."""
        ...


@dataclass(slots=True)
class _Holder:
    """A tuple or closure in the log and how often it is there: what it holds counts once, however deep it is nested."""

    item: Value
    uses: int = 1
    has_tensors: bool = False
    """May also be set where only a tuple beside it has some."""


def _held(value: Value) -> tuple[Value, ...]:
    """Return what a tuple or a closure holds; data is not entered, for most of it was there before."""
    return () if isinstance(value, AdtValue) else fields_of(value, into_captures=True)


def is_inside(start: int, stop: int, intervals: Intervals) -> bool:
    """Tell whether bytes `[start, stop)`, at least one, are in one of the intervals."""
    return any(low <= start < stop <= high for low, high in intervals)


def without(intervals: Intervals, start: int, stop: int) -> Intervals:
    """Return the intervals without bytes `[start, stop)`."""
    if start >= stop:
        return intervals
    parts = [part for low, high in intervals for part in ((low, min(high, start)), (max(low, stop), high))]
    return tuple((low, high) for low, high in parts if low < high)


def with_interval(intervals: Intervals, start: int, stop: int) -> Intervals:
    """Return the intervals and bytes `[start, stop)`, joined with those that they touch."""
    if start >= stop:
        return intervals
    touching = [item for item in intervals if item[0] <= stop and start <= item[1]]
    low = min([start, *(item[0] for item in touching)])
    high = max([stop, *(item[1] for item in touching)])
    return tuple(sorted((*(item for item in intervals if item not in touching), (low, high))))


def extent(array: Array, root: Array) -> tuple[int, int]:
    """Return the byte range of a contiguous `array` within `root`."""
    start = array.ctypes.data - root.ctypes.data if array is not root else 0
    return start, start + array.nbytes


def _nothing() -> None:
    pass


def _contiguous_bytes(array: Array) -> np.ndarray[Any, Any]:
    return np.frombuffer(array.tobytes(), np.uint8).copy()


class Recorder:
    """The log, in parallel lists: event `e` was instruction `pcs[e]` in frame `frame_ids[e]`.

    `values[e]` is what it wrote to its destination, or `NO_WRITE`; a return writes to its caller's frame. `settle`
    completes the lists, which generated code fills lazily; until then `unread` may return the run to be read by parts.
    """

    __slots__ = (
        "_given",
        "_holders",
        "_order",
        "_retained_limit",
        "frame_ids",
        "frames",
        "has_given_up",
        "injections",
        "memories",
        "pcs",
        "retained_bytes",
        "settle",
        "unread",
        "values",
    )

    def __init__(self, retained_limit: int) -> None:
        self.pcs = packed_array("I")
        self.frame_ids = packed_array("I")
        self.values: list[Value] = []
        self.frames: list[FrameRecord] = []
        self.memories: dict[int, MemoryLog] = {}
        self.injections: list[Injection] = []
        self.retained_bytes: int = 0
        self.has_given_up = False
        self.settle: Callable[[], None] = _nothing
        self.unread: Callable[[], UnreadLog | None] = _nothing
        self._retained_limit = retained_limit
        self._holders: dict[int, _Holder] = {}
        self._order: deque[_Entry] = deque()
        self._given: frozenset[int] = frozenset()

    @property
    def next_event(self) -> int:
        """The number of the event that is recorded next."""
        return len(self.pcs)

    @property
    def retained_limit(self) -> int:
        """So many bytes of tensors are kept."""
        return self._retained_limit

    def keep_first(self, args: tuple[Value, ...]) -> None:
        """Keep what the arguments of the run hold at its start, whatever else is given up."""
        arrays = list(arrays_in(*args))
        for array in arrays:
            self._memory(array).uses += 1
        self._given = frozenset(id(root_of(array)) for array in arrays)

    def leave(self, number: int) -> None:
        """Record that the next event returns from a call."""
        self.frames[number].leave = self.next_event

    def add_frame(self, frame: FrameRecord) -> int:
        """Record a call and return the number of its frame."""
        self.frames.append(frame)
        number = len(self.frames) - 1
        # Every argument counts, so all are looked at.
        if sum(self._use(item) for item in frame.args):
            self._order.append(("frame", number, None))
            if self.retained_bytes > self._retained_limit:
                self._shrink()
        return number

    def record(self, pc: int, frame: int, value: Value) -> None:
        """Record that the instruction `pc` of a frame has retired, and what it wrote."""
        self.pcs.append(pc)
        self.frame_ids.append(frame)
        self.values.append(value)
        if type(value) in _HEAVY:
            self.keep(value)

    def keep(self, value: Value) -> None:
        """Count the tensors in the value that the last event wrote."""
        if self._use(value):
            self._order.append(("value", len(self.values) - 1, None))
            if self.retained_bytes > self._retained_limit:
                self._shrink()

    def mark_fresh(self, array: Array, fill: int = 0) -> None:
        """Note that `array`, which owns its memory, is unwritten; all its bytes are `fill`."""
        memory = self._memory(array)
        memory.fresh = ((0, array.nbytes),) if array.nbytes else ()
        memory.fill = fill

    def before_write(self, array: Array) -> None:
        """Save the contents of `array` to the undo log: the next event writes to it."""
        if not self._is_first_write(array, self.next_event):
            self.add_undo(array, _contiguous_bytes(array))

    def before_forget(self, array: Array, fill: int) -> None:
        """Save the contents of `array` to the undo log: the next event makes it unwritten, filled with `fill`."""
        self.before_write(array)
        memory = self._memory(array)
        memory.fresh, memory.fill = with_interval(memory.fresh, *extent(array, memory.root)), fill

    def _is_first_write(self, array: Array, event: int) -> bool:
        """Note that `event` writes the bytes of `array`; return whether all of them were unwritten.

        Otherwise an entry with all the bytes has to follow, which is undone before the ones that are made here.
        """
        memory = self._memory(array)
        if not memory.fresh:
            return False
        start, stop = extent(array, memory.root)
        if memory.fresh == ((start, stop),):
            memory.undos.append(Undo(event, start, stop, None))
            memory.fresh = ()
            return True
        parts = [(max(low, start), min(high, stop)) for low, high in memory.fresh]
        parts = [(low, high) for low, high in parts if low < high]
        memory.undos += [Undo(event, low, high, None) for low, high in parts]
        memory.fresh = without(memory.fresh, start, stop)
        return sum(high - low for low, high in parts) == stop - start

    def snapshot(self, array: Array) -> Before:
        """Return what `array` holds, to be compared later."""
        memory = self._memory(array)
        is_fresh = memory.fresh and is_inside(*extent(array, memory.root), memory.fresh)
        return None if is_fresh else _contiguous_bytes(array)

    def compare(self, array: Array, before: Before) -> None:
        """Add the snapshot `before` to the undo log if `array` holds something else by now.

        An unwritten tensor counts as written.
        """
        if before is None:
            self._is_first_write(array, self.next_event)
        elif isinstance(before, np.ndarray) and before.tobytes() != array.tobytes():
            self._is_first_write(array, self.next_event)
            self.add_undo(array, before)

    def add_undo(self, array: Array, before: np.ndarray[Any, Any]) -> None:
        """Add to the undo log that `array` held `before` until the next event."""
        memory = self._memory(array)
        start, stop = extent(array, memory.root)
        undo = Undo(self.next_event, start, stop, before)
        memory.undos.append(undo)
        self.retained_bytes += before.nbytes
        if id(memory.root) in self._given and start < stop and not is_inside(start, stop, memory.first_kept):
            memory.first_kept = with_interval(memory.first_kept, start, stop)
            return
        self._order.append(("undo", 0, undo))
        self._shrink()

    def keep_undos(self, memory: MemoryLog, undos: Iterable[Undo]) -> None:
        """Add entries of an earlier run's undo log to `memory`."""
        for undo in undos:
            memory.undos.append(undo)
            self.retained_bytes += undo.before.nbytes if isinstance(undo.before, np.ndarray) else 0
            self._order.append(("undo", 0, undo))

    def inject(self, injection: Injection) -> None:
        """Log a value that the host put into a register."""
        self.injections.append(injection)
        self._use(injection.value)

    def overwrite(self, array: Array, content: Array) -> None:
        """Overwrite `array` as if the latest event had done it."""
        memory, event = self.memory_of(array), len(self.pcs) - 1
        if not self._is_first_write(array, event):
            self.keep_undos(memory, (Undo(event, *extent(array, memory.root), _contiguous_bytes(array)),))
        np.copyto(array, content)

    def memory_of(self, array: Array) -> MemoryLog:
        """Return the log of the memory of `array`, begun here if there is none."""
        return self._memory(array)

    def _memory(self, array: Array) -> MemoryLog:
        root = root_of(array)
        memory = self.memories.get(id(root))
        if memory is None:
            memory = self.memories[id(root)] = MemoryLog(root)
            self.retained_bytes += root.nbytes
        return memory

    def _use(self, value: Value) -> bool:
        if isinstance(value, np.ndarray):
            self._memory(value).uses += 1
            return True
        found = False
        made: list[_Holder] = []
        stack: list[Value] = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, np.ndarray):
                self._memory(item).uses += 1
                found = True
                continue
            holder = self._holders.get(id(item))
            if holder is not None:
                holder.uses += 1
                found = found or holder.has_tensors
            elif fields := _held(item):
                holder = self._holders[id(item)] = _Holder(item)
                made.append(holder)
                stack += fields
        for holder in made:
            holder.has_tensors = found
        return found

    def _release(self, value: Value) -> None:
        stack: list[Value] = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, np.ndarray):
                self._release_memory(item)
                continue
            holder = self._holders.get(id(item))
            if holder is not None:
                holder.uses -= 1
                if holder.uses <= 0:
                    del self._holders[id(item)]
                    stack += _held(item)

    def _release_memory(self, array: Array) -> None:
        memory = self.memories.get(id(root_of(array)))
        if memory is not None:
            memory.uses -= 1
            if memory.uses <= 0:
                del self.memories[id(memory.root)]
                self.retained_bytes -= memory.root.nbytes

    def _shrink(self) -> None:
        """Evict the oldest values until the rest fits the limit; the newest and arguments of open calls stay."""
        held: list[_Entry] = []
        while self.retained_bytes > self._retained_limit and len(self._order) > 1:
            entry = self._order.popleft()
            what, number, _ = entry
            if what == "frame" and self.frames[number].leave < 0:
                held.append(entry)
            else:
                self._give_up(entry)
        self._order.extendleft(reversed(held))

    def _give_up(self, entry: _Entry) -> None:
        """Give up what an entry of the log holds: what was overwritten, a value, or the arguments of a call."""
        self.has_given_up = True
        what, number, undo = entry
        if undo is not None:
            if isinstance(undo.before, np.ndarray):
                self.retained_bytes -= undo.before.nbytes
            undo.before = NOT_KEPT
        elif what == "value":
            self._release(self.values[number])
            self.values[number] = NOT_KEPT
        else:
            frame = self.frames[number]
            for item in frame.args:
                self._release(item)
            frame.args = (NOT_KEPT,) * len(frame.args)
