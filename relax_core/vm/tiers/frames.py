"""Read the state of generated code from Python's own frames and tracebacks.

Generated code keeps registers in local variables and has no frame object of the machine's. When a run is interrupted
(a limit, an error, a debugger's question), the Python frame tells which line runs, and the line tells the instruction.
"""

from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any

from relax_core.vm.builtin.heap import origins_of
from relax_core.vm.decode import DecodedFunction
from relax_core.vm.objects.values import UNWRITTEN, Array, StorageValue, Value
from relax_core.vm.stack import Frame
from relax_core.vm.tiers.generate import Generated
from relax_core.vm.tiers.log import in_slot
from relax_core.vm.tiers.unboxed import HeapState, heap_of


@dataclass(frozen=True, slots=True)
class GeneratedFrame:
    """An activation of generated code: the function, the line that runs (from 1), and Python's frame."""

    generated: Generated
    line: int
    frame: FrameType

    @property
    def pc(self) -> int:
        """The instruction that runs, counted from the start of the function."""
        return self.generated.pc(self.line)

    @property
    def has_settled(self) -> bool:
        """Whether every instruction that the log mentions has retired.

        That is so on the lines that charge a segment: the segment before has ended, and this one has not begun.
        """
        return self.line - 1 in self.generated.text.charges

    @property
    def is_entered(self) -> bool:
        """Whether the log has an entry for this frame, which is written with its first segment."""
        return self.line - 1 >= self.generated.text.entered_at

    @property
    def charged_ahead(self) -> tuple[int, int]:
        """How many later instructions of the segment are charged already, and how many bytes these allocate."""
        return (0, 0) if self.has_settled else self.generated.text.charged_ahead.get(self.pc, (0, 0))

    @property
    def has_open_checks(self) -> bool:
        """Whether the check of a parameter was delegated to a kernel that may not have run yet."""
        return not self.has_settled and self.pc in self.generated.text.checking

    def registers(self) -> dict[int, Value]:
        """Return the registers that have a value, by index.

        A storage whose allocation was elided is materialised from its size: the tensor in it was allocated by
        itself, and no later instruction reads the storage.
        """
        local, text = self.frame.f_locals, self.generated.text
        places = text.places
        names = ((index, f"r{places.get(index, index)}") for index in range(self.generated.entry.register_count))
        storages = {index: StorageValue(size_bytes) for index, size_bytes in text.storages.items()}
        found = storages | {index: local[name] for index, name in names if name in local}
        state = self._heap_state
        if text.heap is not None and state is not None:
            found[text.heap.register] = heap_of(state, text.heap.size, local)
        return found

    def unlogged(self) -> dict[int, Value]:
        """Return what the registers hold, and the slots of the heap that have a local variable."""
        local, heap = self.frame.f_locals, self.generated.text.heap
        slots = range(0 if heap is None else heap.size)
        return self.registers() | {in_slot(slot): local[f"h{slot}"] for slot in slots if f"h{slot}" in local}

    @property
    def _heap_state(self) -> HeapState | None:
        """What is in the shape heap if that is in local variables."""
        heap = self.generated.text.heap
        return None if heap is None else heap.states.get(self.pc)

    def params(self) -> tuple[Value, ...]:
        """Return the arguments of the call. They are in registers, so ask before anything is written over them."""
        registers = self.registers()
        return tuple(registers[index] for index in range(self.generated.entry.param_count))

    def standing(self, number: int) -> Frame:
        """Return frame `number` of the log as it stands, to be looked at: it has no instructions to go on with."""
        held = self.registers()
        registers = [held.get(index, UNWRITTEN) for index in range(self.generated.entry.register_count)]
        return self._frame(DecodedFunction((), tuple(registers)), number)

    def explicit(self, number: int, code: DecodedFunction, heap: Array | None) -> Frame:
        """Return frame `number` of the log as the explicit tier continues it with the decoded instructions `code`.

        `heap` is its shape heap in the log if that is in local variables here.
        """
        frame = self._frame(code, number)
        for index, value in self.registers().items():
            frame.registers[index] = value
        if heap is not None and self.generated.text.heap is not None:
            frame.registers[self.generated.text.heap.register] = heap
        state = self._heap_state
        frame.slot_origins = self.frame.f_locals.get("origins", {}) if state is None else origins_of(state.origins)
        return frame

    def _frame(self, code: DecodedFunction, number: int) -> Frame:
        index, entry = self.generated.index, self.generated.entry
        frame = Frame(index, code.steps, list(code.template), entry.start, -1, number)
        frame.pc = self.pc
        return frame


class FrameFinder:
    """Walks Python's stack for the frames of generated code of one machine, which share a namespace of globals.

    A walk costs time in proportion to the depth of the stack, so it is made when a run is interrupted and never in it.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._entries: set[CodeType] = set()
        self._generated_of: dict[CodeType, Generated] = {}

    def add(self, generated: Generated) -> None:
        """Recognise the frames of a generated function from here on."""
        self._generated_of[generated.function.__code__] = generated

    def enter_from(self, caller: CodeType) -> None:
        """Recognise `caller` as Python code that enters generated code: the frames above it belong to one entry."""
        self._entries.add(caller)

    def of_index(self, index: int) -> Generated | None:
        """Return the generated code of a function by its index in the function table."""
        return next((item for item in self._generated_of.values() if item.index == index), None)

    def generated(self, frame: FrameType) -> Generated | None:
        """Return the generated code that a Python frame runs, `None` for any other frame."""
        return self._generated_of.get(frame.f_code) if frame.f_globals is self._namespace else None

    def below(self, frame: FrameType | None) -> tuple[list[GeneratedFrame], FrameType | None]:
        """Return the generated frames from `frame` outwards to the nearest entry, oldest first, and the entry's frame.

        The second result is `None` if `frame` does not stand on an entry.
        """
        frames: list[GeneratedFrame] = []
        while frame is not None and frame.f_code not in self._entries:
            generated = self.generated(frame)
            if generated is not None:
                frames.append(GeneratedFrame(generated, frame.f_lineno, frame))
            frame = frame.f_back
        return frames[::-1], frame

    def innermost(self, frame: FrameType | None) -> GeneratedFrame | None:
        """Return the nearest generated frame from `frame` outwards, beyond entries too."""
        while frame is not None:
            generated = self.generated(frame)
            if generated is not None:
                return GeneratedFrame(generated, frame.f_lineno, frame)
            frame = frame.f_back
        return None

    def failed(self, traceback: TracebackType | None) -> list[GeneratedFrame]:
        """Return the generated frames that an exception unwound, oldest first; `traceback` starts at their entry.

        The frames themselves are gone from the stack, but the traceback keeps them with their local variables.
        """
        frames: list[GeneratedFrame] = []
        traceback = traceback.tb_next if traceback is not None else None
        # Frames beyond a second entry belong to that entry, which has dealt with the exception already.
        while traceback is not None and traceback.tb_frame.f_code not in self._entries:
            generated = self.generated(traceback.tb_frame)
            if generated is not None:
                frames.append(GeneratedFrame(generated, traceback.tb_lineno, traceback.tb_frame))
            traceback = traceback.tb_next
        return frames
