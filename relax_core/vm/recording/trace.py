"""A recorded run: what every register held at every time, what was printed, and how it ended."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register, ReturnInstruction
from relax_core.diagnostics import Diagnostic
from relax_core.vm.external.host_results import HostResult
from relax_core.vm.external.stand_ins import StandInCall
from relax_core.vm.objects.values import (
    UNWRITTEN,
    ByteRange,
    RefValue,
    Sentinel,
    StateValue,
    Uninitialised,
    Value,
    map_leaves,
    root_of,
)
from relax_core.vm.recording.lines import LineTable
from relax_core.vm.recording.liveness import written
from relax_core.vm.recording.recorder import NO_WRITE, FrameRecord, Injection, Ints, MemoryLog, Recorder, UnreadLog
from relax_core.vm.recording.written import WrittenBytes

Outcome = Literal["returned", "error", "limit"]
NEAR: Final = 300
"""So many times before and behind one that is looked at are made again with it, since they are looked at next."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line that the program printed: at which event, and the instruction that printed it."""

    time: int
    text: str
    pc: int


@dataclass(frozen=True, slots=True)
class FrameState:
    """A frame at a time: its number, function (an index into the function table), and the instruction it is at.

    `through` is the caller's register with the closure that was called, -1 for a direct call.
    """

    frame: int
    function: int
    pc: int
    depth: int
    through: int


class Intervened(Protocol):
    """What the host did to a run at a time, besides setting values."""

    @property
    def time(self) -> int:
        """The event from which on it shows."""
        ...

    def words_for(self, trace: "Trace") -> str:
        """Say what was done, and what came of it in a run."""
        ...


class PartsAgain(Protocol):
    """What makes values again that were given up."""

    def around(self, first: int, at: int, last: int) -> "Trace":
        """Return the run with the values at time `at`, and those from `first` to `last` as far as they fit."""
        ...


class Trace:
    """A run. Time `t` is the moment before event `t`; `len(trace)` is the end.

    `frames_at`, `value_at` and `registers_at` answer for any time: a tensor is shown as it was then, one that
    nothing had been written to reads `Uninitialised`, a value that was given up to save memory is made again, or
    else reads `NOT_KEPT`, and `given_up` says why. What is raw is as it was recorded: `near` makes values again for
    it. `written` is what the run followed in the mode that finds what nothing wrote, `stand_ins` the calls that
    stand-ins answered, `interventions` the calls that the host had skipped and the functions that it had replaced.
    """

    def __init__(
        self,
        executable: Executable,
        recorder: Recorder,
        *,
        result: Value,
        error: Diagnostic | None,
        outcome: Outcome,
        output: tuple[OutputLine, ...],
        stop: tuple[int, int],
        seconds: float,
        written: WrittenBytes | None = None,
        stand_ins: tuple[StandInCall, ...] = (),
        interventions: "tuple[Intervened, ...]" = (),
    ) -> None:
        self.executable = executable
        self.result = result
        self.error = error
        self.outcome: Outcome = outcome
        self.output = output
        self.seconds = seconds
        self.written = written
        self.stand_ins = stand_ins
        self.interventions = interventions
        self.again: PartsAgain | None = None
        self.host_results: tuple[HostResult, ...] = ()
        self.given_up = "given up to save memory"
        self._recorder = recorder
        self._stop_frame, self._stop_pc = stop

    @cached_property
    def _settled(self) -> Recorder:
        """The recorder with complete lists; decoding waits until somebody looks."""
        self._recorder.settle()
        return self._recorder

    @property
    def _unread(self) -> UnreadLog | None:
        """A long run as long as nobody has asked for complete lists."""
        return None if "_settled" in self.__dict__ else self._found_unread

    @cached_property
    def _found_unread(self) -> UnreadLog | None:
        return self._recorder.unread()

    @property
    def is_read_by_parts(self) -> bool:
        """Whether values are decoded where somebody looks: then a tensor changes in the call that made it alone."""
        return self._unread is not None

    def near(self, at: int, first: int | None = None, last: int | None = None) -> "Trace":
        """Return the run with values at time `at` that were given up, and from `first` to `last` as far as they fit.

        They are made by running the program again from the nearest state that is kept.

        Raises:
            RunError: VM008, it was cancelled.
        """
        if self.again is None or self._unread is not None or not self._settled.has_given_up:
            return self
        first = max(0, at - NEAR) if first is None else min(first, at)
        last = min(len(self), at + NEAR) if last is None else max(last, at)
        return self.again.around(first, at, last)

    @property
    def since(self) -> int:
        """The time from which on values are there; before, they may be missing."""
        return 0

    @property
    def until(self) -> int:
        """The time until which values are there; behind it they may be missing."""
        return len(self)

    @property
    def recorder(self) -> Recorder:
        """The log with complete lists."""
        return self._settled

    @cached_property
    def injections(self) -> tuple[Injection, ...]:
        """The values that the host put into registers, in the order of time."""
        return () if self._unread is not None else tuple(self._settled.injections)

    @cached_property
    def lines(self) -> LineTable:
        """The lines of the instructions."""
        return LineTable.of(self.executable)

    @cached_property
    def pcs(self) -> Ints:
        """The instruction of each event."""
        unread = self._unread
        return np.asarray(self._settled.pcs, dtype=np.int64) if unread is None else unread.pcs

    @cached_property
    def frame_ids(self) -> Ints:
        """The number of each event's frame."""
        unread = self._unread
        return np.asarray(self._settled.frame_ids, dtype=np.int64) if unread is None else unread.frame_ids

    @property
    def frames(self) -> Sequence[FrameRecord]:
        """All calls, in the order of entry."""
        unread = self._unread
        return self._settled.frames if unread is None else unread.frames

    def _frame_column(self, name: Literal["function", "parent", "depth", "enter", "leave"]) -> Ints:
        unread = self._unread
        if unread is not None:
            return getattr(unread, f"{name}s")
        return np.fromiter((getattr(frame, name) for frame in self.frames), np.int64, len(self.frames))

    @cached_property
    def frame_depths(self) -> Ints:
        """The depth of each frame, 0 being the entry function's."""
        return self._frame_column("depth")

    @cached_property
    def frame_functions(self) -> Ints:
        """The function of each frame, as an index into the function table."""
        return self._frame_column("function")

    @cached_property
    def frame_parents(self) -> Ints:
        """The frame that called each frame, -1 for none."""
        return self._frame_column("parent")

    @cached_property
    def frame_ends(self) -> tuple[Ints, Ints]:
        """The events that entered each frame and that left it, -1 for none."""
        return self._frame_column("enter"), self._frame_column("leave")

    @property
    def frame_spans(self) -> tuple[Ints, Ints]:
        """From which event to which time each frame runs: until after it returned, or to the end."""
        enters, leaves = self.frame_ends
        return np.maximum(enters, 0), np.where(leaves >= 0, leaves + 1, len(self))

    @cached_property
    def binding_starts(self) -> Ints:
        """The events at which a binding starts."""
        return np.flatnonzero(self.lines.starts_binding[self.pcs])

    @cached_property
    def depths(self) -> Ints:
        """The depth of each event's frame."""
        return self.frame_depths[self.frame_ids]

    def __len__(self) -> int:
        return len(self.pcs)

    @property
    def executed_pcs(self) -> tuple[int, ...]:
        """The instructions that were executed at least once."""
        return self.executed_before(len(self))

    def executed_before(self, at: int) -> tuple[int, ...]:
        """Return the instructions that were executed at least once before time `at`."""
        return tuple(np.flatnonzero(np.bincount(self.pcs[:at])).tolist())

    @property
    def stopped_at(self) -> int | None:
        """The instruction at which an error ended the run, recorded or not; `None` if none did."""
        return self._stop_pc if self.error is not None and self._stop_pc >= 0 else None

    @property
    def stop(self) -> tuple[int, int]:
        """The frame and the instruction at which the run stopped; -1 for none."""
        return self._stop_frame, self._stop_pc

    def pc_at(self, at: int) -> int | None:
        """Return the instruction that is next at time `at`; `None` behind the last return."""
        if at < len(self):
            return int(self.pcs[at])
        return self._stop_pc if self._stop_frame >= 0 else None

    def frame_at(self, at: int) -> int | None:
        """Return the number of the running frame at time `at`; `None` behind the last return."""
        if at < len(self):
            return int(self.frame_ids[at])
        return self._stop_frame if self._stop_frame >= 0 else None

    def frames_at(self, at: int) -> tuple[FrameState, ...]:
        """Return the stack at time `at`, oldest first."""
        number, pc = self.frame_at(at), self.pc_at(at)
        functions, depths, parents, enters = (
            self.frame_functions,
            self.frame_depths,
            self.frame_parents,
            self.frame_ends[0],
        )
        through_of = {-1: -1}
        found: list[FrameState] = []
        while number is not None and pc is not None and number >= 0:
            enter = int(enters[number])
            caller_pc = int(self.pcs[enter]) if enter >= 0 else -1
            if caller_pc not in through_of:
                through_of[caller_pc] = self._through(caller_pc)
            depth = int(depths[number])
            found.append(FrameState(number, int(functions[number]), pc, depth, through_of[caller_pc]))
            number, pc = int(parents[number]), caller_pc
        return tuple(reversed(found))

    def _through(self, caller_pc: int) -> int:
        match self.executable.instructions[caller_pc]:
            case CallInstruction(function=function, args=(_, Register(index=index), *_)) if (
                self.executable.functions[function].name == "vm.builtin.invoke_closure"
            ):
                return index
            case _:
                return -1

    def raw_registers_at(self, at: int, frame: int) -> tuple[Value, ...]:
        """Return the objects in a frame's registers at time `at`, tensors with what they hold at the end of the run."""
        record = self.frames[frame]
        entry = self.executable.functions[record.function]
        registers: list[Value] = [UNWRITTEN] * entry.register_count
        if record.enter < at:
            registers[: len(record.args)] = record.args
        injected = [item for item in self.injections if item.frame == frame and item.time <= at]
        for event in self.writes_of(frame):
            if event >= at:
                break
            while injected and injected[0].time <= event:
                item = injected.pop(0)
                registers[item.register] = item.value
            register = self.written_register(event)
            if register is not None:
                registers[register] = self.written_value(event)
        for item in injected:
            registers[item.register] = item.value
        return tuple(registers)

    def registers_at(self, at: int, frame: int) -> tuple[Value, ...]:
        """Return the values of a frame's registers at time `at`."""
        near = self.near(at)
        return tuple(near.as_it_was(value, at) for value in near.raw_registers_at(at, frame))

    def value_at(self, at: int, frame: int, register: int) -> Value:
        """Return the value of a register of a frame at time `at`, `UNWRITTEN` if it has none yet."""
        near = self.near(at)
        return near.as_it_was(near.raw_registers_at(at, frame)[register], at)

    def as_it_was(self, value: Value, at: int) -> Value:
        """Return `value` with every tensor in it as it was at time `at`."""
        return map_leaves(value, lambda leaf: self._leaf_at(leaf, at), into_captures=True)

    def _leaf_at(self, value: Value, at: int) -> Value:
        match value:
            case np.ndarray():
                return self._tensor_at(value, at)
            case StateValue():
                # What a snapshot holds is no reference, so that this ends.
                return value.like(self.as_it_was(value.past(at), at))
            case RefValue():
                return value.like(value.past(at))
            case _:
                return value

    def _tensor_at(self, value: npt.NDArray[Any], at: int) -> Value:
        memory = self._memory(id(root_of(value)))
        if memory is None:
            return value
        past = memory.past(value, at)
        if past is None:
            return Uninitialised(value.shape, str(value.dtype))
        return past

    def written_register(self, event: int) -> int | None:
        """Return the register that `event` wrote, in the frame `written_frame(event)`; `None` if it wrote none."""
        if self.written_value(event) is NO_WRITE:
            return None
        pc = int(self.pcs[event])
        instruction = self.executable.instructions[pc]
        if isinstance(instruction, ReturnInstruction):
            enter = self.frames[int(self.frame_ids[event])].enter
            instruction = self.executable.instructions[int(self.pcs[enter])] if enter >= 0 else instruction
        return written(instruction)

    def written_frame(self, event: int) -> int:
        """Return the frame whose register `event` writes: the caller's for a return, -1 behind the entry function."""
        number = int(self.frame_ids[event])
        is_return = isinstance(self.executable.instructions[int(self.pcs[event])], ReturnInstruction)
        return self.frames[number].parent if is_return else number

    def written_value(self, event: int) -> Value:
        """Return the object that `event` wrote to its register, a tensor with what it holds at the end of the run."""
        unread = self._unread
        return self._settled.values[event] if unread is None else unread.value(event)

    def memory_changes(self, events: Sequence[int] | None = None) -> Mapping[int, tuple[ByteRange, ...]]:
        """Return for each event that changed something in place the bytes that it may have changed.

        A reference that was written is one byte of its own identity. Of some `events` there are these at least.
        """
        unread = self._unread
        is_part = unread is not None and events is not None
        if unread is not None and events is not None:
            memories = unread.memories_of(events)
        else:
            memories = self._settled.memories
        found: dict[int, list[ByteRange]] = defaultdict(list)
        for identity, memory in memories.items():
            for undo in memory.undos:
                found[undo.event].append(ByteRange(identity, undo.start, undo.stop))
        for reference in () if is_part else self.references():
            for event, _ in reference.versions[1:]:
                found[event].append(ByteRange(id(reference), 0, 1))
        return {event: tuple(ranges) for event, ranges in found.items()}

    def _memory(self, identity: int) -> MemoryLog | None:
        unread = self._unread
        return self._settled.memories.get(identity) if unread is None else unread.memory(identity)

    def changes_of(self, identity: int) -> tuple[int, ...]:
        """Return the events that changed some of a memory in place, or a reference, in order."""
        if self._unread is None:
            return self._change_events.get(identity, ())
        memory = self._memory(identity)
        return () if memory is None else tuple(sorted({undo.event for undo in memory.undos}))

    @cached_property
    def _change_events(self) -> Mapping[int, tuple[int, ...]]:
        found = {key: {undo.event for undo in memory.undos} for key, memory in self._settled.memories.items()}
        for reference in self.references():
            found.setdefault(id(reference), set()).update(event for event, _ in reference.versions[1:])
        return {key: tuple(sorted(events)) for key, events in found.items() if events}

    def references(self) -> tuple[RefValue, ...]:
        """Return the references that were in a register, or in a tuple there; what they hold is not entered."""
        if self._unread is not None:
            return ()
        found: dict[int, RefValue] = {}
        entered: set[int] = set()
        stack: list[Value] = [*self._settled.values, *(arg for frame in self.frames for arg in frame.args)]
        while stack:
            item = stack.pop()
            if isinstance(item, RefValue):
                found.setdefault(id(item), item)
            elif type(item) is tuple and id(item) not in entered:
                entered.add(id(item))
                stack.extend(item)
        return tuple(found.values())

    def writes_of(self, frame: int) -> Iterator[int]:
        """Yield the events that may write registers of `frame`, in order."""
        unread = self._unread
        if unread is not None:
            yield from unread.writes_of(frame)
            return
        order, starts = self._write_index
        for event in order[starts[frame] : starts[frame + 1]]:
            yield int(event)

    @cached_property
    def _write_index(self) -> tuple[Ints, Ints]:
        is_return = np.fromiter(
            (isinstance(item, ReturnInstruction) for item in self.executable.instructions), np.bool_
        )
        parents = self.frame_parents
        targets = self.frame_ids.copy()
        returned = is_return[self.pcs] if len(self.pcs) else np.zeros(0, np.bool_)
        targets[returned] = parents[self.frame_ids[returned]]
        order = np.argsort(targets, kind="stable")
        return order, np.searchsorted(targets[order], np.arange(len(self.frames) + 1))

    def is_state(self, value: Value) -> bool:
        """Tell whether a register's content is a state (unwritten, uninitialised, not kept) and not a value."""
        return isinstance(value, Sentinel | Uninitialised)
