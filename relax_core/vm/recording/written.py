"""Which bytes of storages were written, from one kernel to the next: a flag beside every byte, for the debug mode.

Flags follow the bytes and not the tensors: what one tensor wrote, another one that lies there may read. A tensor made
where only tensors lay whose life was ended explicitly, or in poisoned memory, holds nothing. A tensor outside of
storages, such as an argument, is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.source import Span
from relax_core.vm.context import fail
from relax_core.vm.objects.values import Array, Value, arrays_in, range_of, shape_text
from relax_core.vm.recording.recorder import Recorder

_SHOWN_WRITERS: Final = 3


@dataclass(frozen=True, slots=True)
class _Note:
    """An instruction that made a tensor in bytes `[start, stop)`, or wrote to some of them."""

    event: int
    pc: int
    start: int
    stop: int
    is_allocation: bool


@dataclass(slots=True)
class _Flags:
    """The flags of the bytes of a storage: 1 for what was written, and for what belongs to no living tensor."""

    memory: Array
    written: Array
    dead: Array
    notes: list[_Note] = field(default_factory=list["_Note"])


class WrittenBytes:
    """The flags of one run; `recorder` keeps what they were before, so that another run can go on from there."""

    def __init__(self, executable: Executable, recorder: Recorder | None) -> None:
        self._executable = executable
        self._recorder = recorder
        self._of: dict[int, _Flags] = {}

    def add(self, memory: Array) -> None:
        """Know the bytes of a storage, to which nothing was written."""
        self._of[id(memory)] = _Flags(memory, np.zeros(memory.nbytes, np.uint8), np.zeros(memory.nbytes, np.bool_))

    def flags(self, array: Array) -> Array | None:
        """Return the flags of a tensor's bytes, to be changed in place; `None` if all of it was written."""
        place = range_of(array)
        found = self._of.get(place.memory)
        if found is None:
            return None
        flags = found.written[place.start : place.stop]
        return None if flags.all() else flags

    def begin(self, tensor: Array, pc: int, *, is_poisoned: bool) -> None:
        """Note that a tensor was made by the instruction `pc`."""
        place = range_of(tensor)
        found = self._of.get(place.memory)
        if found is None:
            return
        self._will_change(found, place.start, place.stop)
        part = slice(place.start, place.stop)
        if is_poisoned:
            found.written[part] = 0
        else:
            found.written[part][found.dead[part]] = 0
        found.dead[part] = False
        found.notes.append(self._note(tensor, pc, is_allocation=True))

    def kill(self, value: Value) -> None:
        """Note that the life of a tensor was ended."""
        if isinstance(value, np.ndarray):
            place = range_of(value)
            found = self._of.get(place.memory)
            if found is not None:
                found.dead[place.start : place.stop] = True

    def will_write(self, array: Array, pc: int) -> None:
        """Note that the instruction `pc` is about to write some of a tensor."""
        place = range_of(array)
        found = self._of.get(place.memory)
        if found is not None:
            self._will_change(found, place.start, place.stop)
            found.dead[place.start : place.stop] = False
            found.notes.append(self._note(array, pc, is_allocation=False))

    def wrote(self, array: Array, pc: int) -> None:
        """Note that the instruction `pc` wrote all of a tensor."""
        self.will_write(array, pc)
        flags = self.flags(array)
        if flags is not None:
            flags.fill(1)

    def put_in(self, array: Array) -> None:
        """Note that the host changes a tensor in place, as the latest event had done it."""
        place = range_of(array)
        found = self._of.get(place.memory)
        if found is not None and self._recorder is not None:
            self._recorder.overwrite(found.written[place.start : place.stop], np.ones(array.nbytes, np.uint8))
            found.dead[place.start : place.stop] = False

    def copied(self, source: Array, target: Array, pc: int) -> None:
        """Note that `target` is a copy of `source`, with what was not written there."""
        flags = self.flags(source)
        if flags is not None:
            place = range_of(target)
            self._of[place.memory] = _Flags(target, flags.copy(), np.zeros(target.nbytes, np.bool_))
            self._of[place.memory].notes.append(self._note(target, pc, is_allocation=True))

    def first_unwritten(self, array: Array) -> tuple[int, ...] | None:
        """Return the first element of a tensor that was not written in all its bytes."""
        flags = self.flags(array)
        if flags is None:
            return None
        is_written = flags.reshape(-1, array.itemsize).all(axis=1)
        return tuple(int(index) for index in np.unravel_index(int(np.argmin(is_written)), array.shape))

    def is_unwritten(self, array: Array) -> bool:
        """Tell whether nothing was written to any byte of a tensor."""
        flags = self.flags(array)
        return flags is not None and not flags.any()

    def require(self, value: Value, reader: str) -> None:
        """Stop with VM056 if `reader` reads an element of a tensor in `value` that nothing wrote."""
        for array in arrays_in(value):
            element = self.first_unwritten(array)
            if element is not None:
                name = self.name_of(array)
                message = f"{reader} element {shape_text(element)} of {name}, to which nothing was written"
                fail("VM056", message, f"write all of {name} before", related=tuple(self.blame(array, element)))

    def name_of(self, array: Array) -> str:
        """Return the variable that a tensor was allocated for, or else words for it."""
        made = self._allocation(array)
        name = "" if made is None else self._variable(made.pc)
        return f"`{name}`" if name else f"the tensor {shape_text(array.shape)} {array.dtype}"

    def blame(self, array: Array, element: tuple[int, ...]) -> Iterator[tuple[str, Span]]:
        """Yield who should have written an element: what allocated the tensor, and what wrote other parts of it."""
        made = self._allocation(array)
        place = range_of(array)
        found = self._of.get(place.memory)
        if made is None or found is None:
            return
        span = self._executable.span_of(made.pc)
        if span is not None:
            yield f"{self.name_of(array)} is allocated here", span
        since = found.notes[found.notes.index(made) + 1 :]
        touching = (note.pc for note in since if note.start < place.stop and place.start < note.stop)
        for pc in list(dict.fromkeys(touching))[-_SHOWN_WRITERS:]:
            span = self._executable.span_of(pc)
            if span is not None and pc != made.pc:
                yield f"{self._called(pc)} writes here, but not element {shape_text(element)}", span

    def adopt(self, old: "WrittenBytes | None", root: Array, copy: Array, at: int) -> None:
        """Know the bytes `copy` as another run knew `root`, of which they are a copy, at a time of it."""
        known = old._of.get(id(root)) if old is not None else None
        if old is None or known is None:
            return
        recorder = old._recorder
        past: object = known.written
        if recorder is not None and id(known.written) in recorder.memories:
            past = recorder.memories[id(known.written)].past(known.written, at)
        flags = np.array(past, np.uint8) if isinstance(past, np.ndarray) else np.ones_like(known.written)
        notes = [note for note in known.notes if note.event < at]
        self._of[id(copy)] = _Flags(copy, flags, np.zeros(copy.nbytes, np.bool_), notes)

    def _will_change(self, found: _Flags, start: int, stop: int) -> None:
        if self._recorder is not None and start < stop:
            self._recorder.before_write(found.written[start:stop])

    def _note(self, array: Array, pc: int, *, is_allocation: bool) -> _Note:
        place = range_of(array)
        event = len(self._recorder.pcs) if self._recorder is not None else 0
        return _Note(event, pc, place.start, place.stop, is_allocation)

    def _allocation(self, array: Array) -> _Note | None:
        place = range_of(array)
        found = self._of.get(place.memory)
        notes = found.notes if found is not None else ()
        covering = [
            item for item in notes if item.is_allocation and item.start <= place.start and place.stop <= item.stop
        ]
        exact = [item for item in covering if (item.start, item.stop) == (place.start, place.stop)]
        return next(reversed(exact or covering), None)

    def _variable(self, pc: int) -> str:
        executable = self._executable
        match executable.instructions[pc]:
            case CallInstruction(dst=Register(index=index)):
                owner = next((item for item in executable.functions if item.start <= pc < item.end), None)
                var = owner.register_vars[index] if owner is not None and index < len(owner.register_vars) else None
                return var.name if var is not None else ""
            case _:
                return ""

    def _called(self, pc: int) -> str:
        match self._executable.instructions[pc]:
            case CallInstruction(function=function):
                return f"`{self._executable.functions[function].name}`"
            case _:
                return "this"
