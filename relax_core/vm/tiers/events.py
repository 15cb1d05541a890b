"""The events that generated code stands for, and the statements that log them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from relax_core.bytecode.executable import FunctionEntry
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.vm.tiers.facts import HEAP
from relax_core.vm.tiers.log import SLOT_BYTES, Effect, Event, Segment
from relax_core.vm.tiers.segments import Body, Savings
from relax_core.vm.tiers.unboxed import UnboxedHeap

LOGGED: Final = frozenset((Effect.VALUE, Effect.TENSOR, Effect.RETURN))


class EventWriter:
    """Builds the segments of one function and the statements that log them.

    `fresh` are the registers of tensors that the open segment allocated and nothing has written yet.
    """

    def __init__(self, segments: list[Segment], function: int, entry: FunctionEntry) -> None:
        self.segments = segments
        self.function = function
        self.entry = entry
        self.fresh: set[int] = set()
        self.heap: UnboxedHeap | None = None
        self.is_entered = False
        self._unlogged: list[str] = []
        # The name of what copies the arena, from its first use in a segment until the statement that logs it.
        self._arena = ""
        self._effects: dict[int, Effect] = {}
        # The local variables with what a match has stored in slots of the heap.
        self._stored: dict[int, list[str]] = {}

    def visit(self, pc: int, body: Body) -> None:
        """Visit an instruction of the open segment."""
        if body.kind(pc) == "kernel":
            self.fresh -= {item.index for item in self._written(body.call(pc), body)}
        index = body.written[pc]
        if index is not None:
            self.fresh.discard(index)
            self.fresh.update({index} if pc in body.room_at else ())

    def is_first_write(self, call: CallInstruction, body: Body) -> bool:
        """Tell whether a kernel is the first to write, and writes only tensors that the open segment allocated."""
        positions = body.facts.written(call.function)
        written = self._written(call, body)
        return len(written) == len(positions) and {item.index for item in written} <= self.fresh

    def _written(self, call: CallInstruction, body: Body) -> tuple[Register, ...]:
        positions = (position for position in body.facts.written(call.function) if position < len(call.args))
        found = (call.args[position] for position in positions)
        return tuple(item for item in found if isinstance(item, Register))

    def enter(self, pcs: list[int], body: Body, savings: Savings) -> str:
        """Build the segment of `pcs`; return the statement that logs its start."""
        value_at: dict[int, int] = {}
        count = 0
        events: list[Event] = []
        for pc in pcs:
            event = self._event(pc, body, savings, value_at)
            events.append(event)
            self._effects[pc] = event.effect
            index = body.written[pc]
            if event.effect is Effect.SLOTS:
                count += sum(compute is None for _, compute in event.slots)
                self._stored[pc] = [f"h{slot}" for slot, compute in event.slots if compute is None]
            elif event.effect in (Effect.VALUE, Effect.TENSOR):
                value_at[event.register] = count
                count += 1
            elif event.effect is Effect.SAME:
                value_at[event.register] = event.positions[0]
            elif index is not None:
                value_at.pop(index, None)
        self.fresh.clear()
        self._arena = savings.arena
        return self._note(tuple(events), is_in_arena=bool(savings.arena))

    def call(self, pc: int, *, has_destination: bool) -> str:
        """Build the segment of a single call; return the statement that logs it."""
        event = Event(pc + self.entry.start, Effect.CALL, has_destination=has_destination)
        return self._note((event,), is_in_arena=False)

    def _note(self, events: tuple[Event, ...], *, is_in_arena: bool) -> str:
        number = len(self.segments)
        own = sum(item.effect in LOGGED and item.room is None and not item.positions for item in events)
        own += sum(compute is None for item in events for _, compute in item.slots)
        if self.is_entered:
            self.segments.append(Segment(events, value_count=own, is_in_arena=is_in_arena))
            return f"note({number})"
        self.is_entered = True
        count = self.entry.param_count
        self.segments.append(Segment(events, self.function, count, own, is_in_arena))
        params = [f"r{index}" for index in range(count)]
        return f"note({number}); {_kept(params)}" if count else f"note({number})"

    def _event(self, pc: int, body: Body, savings: Savings, value_at: Mapping[int, int]) -> Event:
        """Return the event of an instruction; `value_at` gives the positions of logged values by register."""
        at = pc + self.entry.start
        index = body.written[pc]
        if self.heap is not None and self.heap.uses(pc) and (body.name(pc) == HEAP or index is None):
            return self._heap_event(at, pc, index)
        match body.kind(pc), body.name(pc):
            case "return", _:
                found = tuple(value_at[item] for item in body.reads[pc] if item in value_at)
                return Event(at, Effect.RETURN, positions=found)
            case "call", _:
                return Event(at, Effect.CALL, has_destination=index is not None)
            case "kernel", _:
                outputs = self._written(body.call(pc), body)
                return Event(at, Effect.WRITE, positions=tuple(value_at[item.index] for item in outputs))
            case _ if index is None:
                return Event(at, Effect.NOTHING)
            case _ if pc in body.storage_at:
                return Event(at, Effect.STORAGE, index, size_bytes=body.storage_at[pc])
            case _, "vm.builtin.null_value":
                return Event(at, Effect.NULL, index)
            case _, "vm.builtin.copy":
                sources = (value_at[item] for item in body.reads[pc] if item in value_at)
                same = tuple(sources)
                return Event(at, Effect.SAME if same else Effect.VALUE, index, same)
            case _ if pc in body.room_at:
                if index not in savings.offset_of:
                    return Event(at, Effect.TENSOR, index)
                return Event(at, Effect.TENSOR, index, room=body.room_at[pc], offset=savings.offset_of[index])
            case _:
                return Event(at, Effect.VALUE, index)

    def _heap_event(self, at: int, pc: int, index: int | None) -> Event:
        """Return the event of an instruction that makes the shape heap, matches something or computes slots."""
        assert self.heap is not None, "there is a heap in local variables"
        if index is not None:
            return Event(at, Effect.HEAP, index, size_bytes=SLOT_BYTES * self.heap.size)
        sets = self.heap.sets(pc)
        return Event(at, Effect.SLOTS if sets else Effect.NOTHING, slots=sets)

    def before(self, pc: int, body: Body, savings: Savings) -> Iterator[str]:
        """Return the statement that logs values which an instruction overwrites or takes out of the frame.

        What the instruction itself writes is logged later.
        """
        effect, index = self._effects[pc], body.written[pc]
        if effect is Effect.CALL:
            yield from self.end()
        elif effect is Effect.SLOTS:
            self._unlogged += self._stored[pc]
        elif index is not None:
            place = f"r{_place(index, savings)}"
            stays = effect is Effect.SAME and place in {f"r{_place(item, savings)}" for item in body.reads[pc]}
            if place in self._unlogged and not stays and pc not in savings.skipped:
                yield from self.leave()
            if effect in (Effect.VALUE, Effect.TENSOR) and index not in savings.offset_of:
                self._unlogged.append(place)

    def before_return(self, result: str) -> Iterator[str]:
        """Return the statement that logs values before a return, the result last unless the segment has logged it."""
        returned = self.segments[-1].events[-1]
        if not returned.positions:
            self._unlogged.append(result)
        yield from self.end()

    def end(self) -> Iterator[str]:
        """Return the statement that logs, at the end of a segment, what it has not logged yet, and the arena."""
        if self._arena:
            self._unlogged.append(f"{self._arena}()")
        self._arena = ""
        yield from self.leave()

    def leave(self) -> Iterator[str]:
        """Return the statement that logs what is not logged yet."""
        if self._unlogged:
            yield _kept(self._unlogged)
        self._unlogged.clear()


def _kept(values: Sequence[str]) -> str:
    """Return the statement that logs some values."""
    return f"put({values[0]})" if len(values) == 1 else f"keep(({', '.join(values)}))"


def _place(index: int, savings: Savings) -> int:
    """Return the register that holds a value until it is logged; for a tensor in the arena its own."""
    place = savings.place_of.get(index, index)
    return place if place >= 0 else index
