"""Fork a recorded run at a time: another run continues from there, and the first stays as it was.

What the stack can reach at that time is copied with the bytes that it held then. Aliases stay aliases: views, tuples,
captures and references share copies as they shared originals. The rest of the past, which nothing can write to any
more, is shared by both runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import Argument, CallInstruction, ConstantRef, Immediate
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.vm.builtin.heap import origins_of
from relax_core.vm.decode import DecodedFunction
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.objects.placed import PlacedArray, placed
from relax_core.vm.objects.values import (
    NOT_KEPT,
    AdtValue,
    Array,
    RefValue,
    ShapeValue,
    StorageValue,
    Value,
    arrays_in,
    map_leaves,
    root_of,
    storages_in,
)
from relax_core.vm.recording.liveness import live_registers, written
from relax_core.vm.recording.recorder import FrameRecord, Injection, Recorder
from relax_core.vm.recording.trace import FrameState, OutputLine, Trace
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.stack import Frame

_INVOKE: Final = "vm.builtin.invoke_closure"
_GIVEN_UP: Final = "values of that time were given up to save memory"
_GIVEN_UP_HINT: Final = "choose a later time, smaller sizes, or a program that changes less in place"


@dataclass(frozen=True, slots=True)
class StoppedFrame:
    """A frame to continue: its registers, its number in the log, and where its result goes."""

    function: int
    registers: tuple[Value, ...]
    pc: int
    """Counted over the whole executable."""
    number: int
    dst: int
    slot_origins: dict[int, str]
    """What set the slots of its shape heap, for messages."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """A register of a frame (0: the oldest), or a field of the tuple in it, and the value it gets.

    In place, `value` is written to the tensor that is there, and every alias sees it; otherwise the register gets a
    value of its own and aliases of the old one keep it.
    """

    depth: int
    register: int
    value: Value
    path: tuple[int, ...] = ()
    """The field of the tuple, the field of that, and so on."""
    element: tuple[int, ...] | None = None
    """Where in the tensor; `None`: all of it."""
    is_in_place: bool = False

    def make(self, recorder: Recorder, written: WrittenBytes | None, frames: Sequence[Frame], at: int) -> None:
        """Change the register of the stopped frame, and log it."""
        frame = frames[self.depth]
        outer: list[Value] = [frame.registers[self.register]]
        for place in self.path:
            outer.append(fields_of(outer[-1])[place])
        held = outer.pop()
        value: Value = own_copies((self.value,))[0]
        if self.element is not None and isinstance(held, np.ndarray):
            whole = held.copy()
            whole[self.element] = value
            value = whole
        if self.is_in_place and isinstance(held, np.ndarray) and isinstance(value, np.ndarray):
            if written is not None:
                written.put_in(held)
            recorder.overwrite(held, value)
            return
        for whole, place in zip(reversed(outer), reversed(self.path), strict=True):
            fields = fields_of(whole)
            value = with_fields(whole, (*fields[:place], value, *fields[place + 1 :]))
        frame.registers[self.register] = value
        recorder.inject(Injection(at, frame.number, self.register, value))


def fields_of(value: Value) -> tuple[Value, ...]:
    """Return the fields of a tuple or of a constructed value, nothing of any other."""
    match value:
        case AdtValue(fields=fields):
            return fields
        case tuple() if not isinstance(value, ShapeValue):
            return value
        case _:
            return ()


def with_fields(value: Value, fields: tuple[Value, ...]) -> Value:
    """Return a value like `value` with other fields."""
    return AdtValue(value.name, value.tag, fields) if isinstance(value, AdtValue) else fields


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """The stack at a time, oldest frame first, and the output until then."""

    frames: tuple[StoppedFrame, ...]
    output: tuple[OutputLine, ...]


def fork(trace: Trace, at: int, recorder: Recorder, written: WrittenBytes | None) -> Fork:
    """Fill the empty `recorder` and `written` with the past of `trace` until time `at`; return the stack then.

    Raises:
        RunError: VM050, the run cannot go on from there.
    """
    # Before anything is taken out of it: the values of a run that is read by parts are others afterwards.
    old = trace.recorder
    stack = stack_at(trace, at)
    registers = tuple(trace.raw_registers_at(at, state.frame) for state in stack)
    _check_kept(trace, at, stack, registers)
    copies = _Copies(trace, at, registers)
    frames = tuple(frame for frame in old.frames if frame.enter < at)
    injections = tuple(item for item in old.injections if item.time <= at)
    past = (
        tuple(frame.args for frame in frames),
        tuple(old.values[:at]),
        tuple(item.value for item in injections),
        registers,
    )
    args, values, injected, live = copies.of(past)
    recorder.injections += [
        Injection(item.time, item.frame, item.register, value) for item, value in zip(injections, injected, strict=True)
    ]
    _replay(recorder, old, at, [replace(frame, args=own) for frame, own in zip(frames, args, strict=True)], values)
    copies.add_past(recorder, written)
    lines = tuple(line for line in trace.output if line.time < at)
    return Fork(tuple(_stopped(trace, at, stack, live)), lines)


def stack_at(trace: Trace, at: int) -> tuple[FrameState, ...]:
    """Return the frames to continue at a time, oldest first.

    Raises:
        RunError: VM050, the run cannot go on from there.
    """
    if not 0 <= at <= len(trace):
        _refuse(trace, at, f"the run has the times 0 to {len(trace)}, and no time {at}")
    stack = trace.frames_at(at)
    if not stack:
        _refuse(trace, at, "the run is over then, and no frame is left to go on with", "choose an earlier time")
    for caller, callee in pairwise(stack):
        match trace.executable.instructions[caller.pc]:
            case CallInstruction(function=function):
                entry = trace.executable.functions[function]
            case _:
                continue
        if entry.kind != "vm" and entry.name != _INVOKE:
            name = trace.executable.functions[callee.function].name
            words = f"`{name}` was called back by the packed function `{entry.name}`, which cannot be gone on with"
            _refuse(trace, at, words, "choose a time before that call, or behind it")
    return stack


def made_frame(stopped: StoppedFrame, code: DecodedFunction, start: int) -> Frame:
    """Return a frame of the explicit tier for a function that begins at `start`."""
    registers = [*stopped.registers, *code.template[len(stopped.registers) :]]
    frame = Frame(stopped.function, code.steps, registers, start, stopped.dst, stopped.number)
    frame.pc = stopped.pc - start
    frame.slot_origins = stopped.slot_origins
    return frame


def _check_kept(trace: Trace, at: int, stack: tuple[FrameState, ...], registers: tuple[tuple[Value, ...], ...]) -> None:
    """Check that every register that is still live was kept."""
    for state, held in zip(stack, registers, strict=True):
        if not any(value is NOT_KEPT for value in held):
            continue
        entry = trace.executable.functions[state.function]
        code = trace.executable.instructions[entry.start : entry.end]
        # A caller resumes behind its call, whose result is yet to fill the destination.
        is_top = state is stack[-1]
        needed = live_registers(code, state.pc - entry.start + (not is_top))
        needed -= frozenset() if is_top else {written(trace.executable.instructions[state.pc])}
        if any(held[register] is NOT_KEPT for register in needed):
            _refuse(trace, at, _GIVEN_UP, _GIVEN_UP_HINT)


def _refuse(trace: Trace, at: int, message: str, hint: str = "") -> NoReturn:
    pc = trace.pc_at(at) if 0 <= at <= len(trace) else None
    span = trace.executable.span_of(pc) if pc is not None and pc >= 0 else None
    raise RunError((Diagnostic("VM050", message, span, hint),))


def _stopped(
    trace: Trace, at: int, stack: tuple[FrameState, ...], registers: Iterable[tuple[Value, ...]]
) -> Iterator[StoppedFrame]:
    dst = -1
    for state, held in zip(stack, registers, strict=True):
        origins = origins_of(_calls(trace, at, state.frame))
        yield StoppedFrame(state.function, held, state.pc, state.frame, dst, origins)
        index = written(trace.executable.instructions[state.pc])
        dst = -1 if index is None else index


def _calls(trace: Trace, at: int, frame: int) -> Iterator[tuple[str, tuple[object, ...]]]:
    """List the calls that a frame has made until time `at`: names, and arguments as far as the instructions tell."""
    executable = trace.executable
    for pc in trace.pcs[:at][trace.frame_ids[:at] == frame]:
        instruction = executable.instructions[int(pc)]
        if isinstance(instruction, CallInstruction):
            arguments = tuple(_known(executable, item) for item in instruction.args)
            yield executable.functions[instruction.function].name, arguments


def _known(executable: Executable, argument: Argument) -> object:
    match argument:
        case Immediate(value=value):
            return value
        case ConstantRef(index=index):
            return executable.constants[index]
        case _:
            return None


def _replay(recorder: Recorder, old: Recorder, at: int, frames: list[FrameRecord], values: tuple[Value, ...]) -> None:
    """Log what happened until time `at`, in the order in which it was logged."""
    pending = iter(frames)
    frame = next(pending, None)
    for event in range(at):
        while frame is not None and frame.enter <= event:
            recorder.add_frame(_until(frame, at))
            frame = next(pending, None)
        recorder.record(old.pcs[event], old.frame_ids[event], values[event])
    while frame is not None:
        recorder.add_frame(_until(frame, at))
        frame = next(pending, None)


def _until(frame: FrameRecord, at: int) -> FrameRecord:
    return frame if frame.leave < at else replace(frame, leave=-1)


class _Copies:
    """Copies of what `registers` reach at a time: arrays by the memory that they share, and references."""

    def __init__(self, trace: Trace, at: int, registers: tuple[tuple[Value, ...], ...]) -> None:
        self._trace = trace
        self._at = at
        self._memories = trace.recorder.memories
        self._roots: dict[int, Array] = {}
        self._references: dict[int, RefValue] = {}
        self._unfilled: list[RefValue] = []
        self._storages: dict[int, StorageValue] = {}
        # What a reference held at any time counts as live, since its past and future may share tensors.
        reached = (*registers, *_versions_in(trace))
        self._live = {id(root_of(array)) for array in arrays_in(*reached)}
        # A storage without tensors may get new ones, which see its bytes.
        self._live |= {id(item.memory) for item in storages_in(*reached) if item.memory is not None}

    def of(self, value: Value) -> Any:
        """Return `value` with its arrays and references replaced by their copies."""
        found = self._mapped(value)
        while self._unfilled:
            reference = self._unfilled.pop()
            earlier = [item for item in reference.versions if item[0] < self._at] or reference.versions[:1]
            held = self._mapped(tuple(value for _, value in earlier))
            own = self._references[id(reference)]
            own.versions[:] = [(event, value) for (event, _), value in zip(earlier, held, strict=True)]
        return found

    def _mapped(self, value: Value) -> Any:
        return map_leaves(value, self._leaf, into_captures=True)

    def _leaf(self, value: Value) -> Value:
        match value:
            case np.ndarray():
                return self._array(value)
            case StorageValue():
                if id(value) not in self._storages:
                    self._storages[id(value)] = self._storage(value)
                return self._storages[id(value)]
            case RefValue():
                if id(value) not in self._references:
                    self._references[id(value)] = value.like(None)
                    self._unfilled.append(value)
                return self._references[id(value)]
            case _:
                return value

    def _storage(self, storage: StorageValue) -> StorageValue:
        """Return a storage of its own: one without bytes gets them later, in each run its own."""
        memory = storage.memory
        if memory is not None and id(memory) in self._live:
            if id(memory) not in self._memories:
                _refuse(self._trace, self._at, _GIVEN_UP, _GIVEN_UP_HINT)
            memory = self._array(memory)
        return StorageValue(storage.size_bytes, storage.device, memory)

    def _array(self, array: Array) -> Array:
        root = root_of(array)
        if id(root) not in self._live or not root.flags.writeable:
            return array
        copy = self._roots.get(id(root))
        if copy is None:
            copy = self._roots[id(root)] = self._copy(root)
        if array is root:
            return copy
        return _view(array, root, copy)

    def _copy(self, root: Array) -> Array:
        """Return the memory as it was."""
        copy = root.copy()
        memory = self._memories.get(id(root))
        past = memory.past(root, self._at) if memory is not None else root
        if past is NOT_KEPT:
            _refuse(self._trace, self._at, _GIVEN_UP, _GIVEN_UP_HINT)
        if isinstance(past, np.ndarray):
            np.copyto(copy, past)
        else:
            copy.reshape(-1).view(np.uint8).fill(memory.fill if memory is not None else 0)
        return copy

    def add_past(self, recorder: Recorder, written: WrittenBytes | None) -> None:
        """Hand `recorder` the undo logs from before the fork, whose bytes both runs share."""
        for identity, memory in self._memories.items():
            copy = self._roots.get(identity)
            if copy is None:
                known = recorder.memories.get(identity)
                if known is not None:
                    known.fresh, known.fill = memory.fresh, memory.fill
                    recorder.keep_undos(known, (replace(undo) for undo in memory.undos))
                continue
            known = recorder.memory_of(copy)
            earlier = [replace(undo) for undo in memory.undos if undo.event < self._at]
            known.fresh, known.fill = memory.fresh_at(self._at), memory.fill
            if written is not None:
                written.adopt(self._trace.written, memory.root, copy, self._at)
            recorder.keep_undos(known, earlier)


def _view(array: Array, root: Array, copy: Array) -> Array:
    """Return the part of `copy` that `array` is of `root`, on the device of `array`."""
    start = array.ctypes.data - root.ctypes.data
    part = copy.reshape(-1).view(np.uint8)[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    return placed(part, array.place, array.placed_at) if isinstance(array, PlacedArray) else part


def _versions_in(trace: Trace) -> Iterator[Value]:
    """Yield what references of the run hold or held."""
    for reference in trace.references():
        for _, value in reference.versions:
            yield value
