"""The state of a run: its budget of memory, time and instructions, and its output.

`Running` is the machine as builtins, calls and both tiers see it. What re-enters the machine (a closure that a builtin
calls) and where the program stands is declared here and implemented by `machine.py`.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic
from relax_core.source import Span
from relax_core.vm.context import fail
from relax_core.vm.external.host_results import HostResults
from relax_core.vm.external.packed import Registry
from relax_core.vm.external.stand_ins import StandIns
from relax_core.vm.limits import Limits
from relax_core.vm.meter import Meter
from relax_core.vm.objects.values import (
    Array,
    Closure,
    StorageValue,
    Value,
    arrays_in,
    item_bytes,
    no_memory,
    root_of,
    shape_text,
    storages_in,
)
from relax_core.vm.recording.liveness import live_registers
from relax_core.vm.recording.recorder import Recorder
from relax_core.vm.recording.trace import OutputLine
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.stack import Frame

_RECORDED_BYTES: Final = 64 << 20
"""A recorded run counts what it retains after so many bytes."""


class Running(ABC):
    """The state of the latest run of a machine.

    `recorder` is the log of a run that is recorded, `host_results` what functions of the host gave in it, `written`
    what it follows in the mode that finds what nothing wrote, `stand_ins` what answers for packed functions.
    `origins` says what set the slots of the shape heap of generated code, `generated_depth` on how many of its
    calls the running instruction stands. A tensor in a storage starts as bytes `fill`.
    """

    def __init__(
        self,
        executable: Executable,
        limits: Limits,
        registry: Registry,
        *,
        fill: int = 0,
        on_output: Callable[[str], None] | None = None,
        stand_ins: StandIns | None = None,
    ) -> None:
        self.executable = executable
        self.stand_ins = stand_ins
        self.limits = limits
        self.registry = registry
        self.meter = Meter(limits)
        self.recorder: Recorder | None = None
        self.written: WrittenBytes | None = None
        self.host_results: HostResults | None = None
        self.origins: dict[int, str] = {}
        self.generated_depth = 0
        self.is_cancelled = False
        self.deadline = math.inf
        self.output: list[OutputLine] = []
        self._output_bytes = 0
        self._fill = fill
        self._on_output = on_output

    @property
    @abstractmethod
    def frames(self) -> list[Frame]:
        """The calls that have not returned, the oldest first."""

    @property
    @abstractmethod
    def here(self) -> Frame | None:
        """The call that is running, `None` if none is."""

    @property
    @abstractmethod
    def slot_origins(self) -> dict[int, str]:
        """For each set slot of the running function's shape heap, the words for what set it."""

    @abstractmethod
    def invoke(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure and wait for its result."""

    @abstractmethod
    def note(self, failure: DiagnosedError, latest: list[Frame] | None = None) -> tuple[tuple[int, int], Diagnostic]:
        """Return where the program stood when `failure` was raised, and the diagnostic with its place."""

    @abstractmethod
    def give_up(self, failure: DiagnosedError, latest: list[Frame]) -> NoReturn:
        """Raise `failure` of generated code, whose frames `latest` have ended."""
        raise NotImplementedError

    @abstractmethod
    def settle(self) -> None:
        """Decode what generated code has logged."""

    @abstractmethod
    def outstanding_bytes(self) -> int:
        """Return how much generated code may still allocate without being counted."""

    @property
    def pc(self) -> int:
        """The running instruction, counted over the whole executable; -1 if none is."""
        here = self.here
        return -1 if here is None else here.absolute_pc

    def start_recording(self, recorder: Recorder | None, written: WrittenBytes | None) -> None:
        """Forget the run before; what the next one does goes to `recorder`."""
        self.recorder = recorder
        self.written = written
        if recorder is not None:
            self.meter.room = min(self.meter.room, _RECORDED_BYTES)
        self.generated_depth = 0
        self.put_output(())

    def put_output(self, lines: tuple[OutputLine, ...]) -> None:
        """Set the output so far."""
        self.output = list(lines)
        self._output_bytes = sum(len(line.text.encode("utf-8", "replace")) + 1 for line in lines)

    @property
    def moment(self) -> int | None:
        """The number of the event that the running instruction will be; `None` if nothing is recorded."""
        return len(self.recorder.pcs) if self.recorder is not None else None

    def allocate(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Allocate an unwritten tensor; its bytes are zero, so that runs are reproducible."""
        size_bytes = math.prod(shape) * item_bytes(dtype)
        if size_bytes <= 0 and min(shape, default=0) < 0:
            fail("VM020", f"a tensor cannot have the shape {shape_text(shape)}")
        self.reserve(size_bytes, "a tensor", shape, dtype)
        return self._filled(shape, dtype)

    def bytes_of(self, storage: StorageValue) -> Array:
        """Return the bytes of a storage, which are made for its first tensor; they were counted with the storage."""
        if storage.memory is None:
            storage.memory = self._filled((storage.size_bytes,), "uint8", self._fill)
            if self.written is not None:
                self.written.add(storage.memory)
        return storage.memory

    def begin(self, tensor: Array) -> None:
        """Poison the bytes of a new tensor in a storage, if that is asked for, and note where it lies."""
        if self.written is not None:
            self.written.begin(tensor, self.pc, is_poisoned=bool(self._fill))
        if self._fill:
            if self.recorder is not None:
                self.recorder.before_forget(tensor, self._fill)
            tensor.reshape(-1).view(np.uint8).fill(self._fill)

    def _filled(self, shape: tuple[int, ...], dtype: str, fill: int = 0) -> Array:
        try:
            array = np.full(shape, fill, dtype) if fill else np.zeros(shape, dtype)
        except MemoryError:
            fail("VM006", no_memory(shape, dtype))
        if self.recorder is not None:
            self.recorder.mark_fresh(array, fill)
        return array

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Charge memory that is about to be allocated; VM006 if it is too much."""
        self.meter.room -= size_bytes
        if self.meter.room >= 0:
            return
        live_bytes = self._live_bytes()
        if live_bytes + size_bytes <= self.limits.memory_bytes:
            self._set_room(live_bytes + size_bytes)
            return
        limit = f"the limit of a run is {self.limits.memory_bytes:,}"
        alive = f"; {live_bytes:,} bytes are in use" if live_bytes else ""
        words = f"{what} {shape_text(shape)} {dtype}" if shape is not None else what
        fail("VM006", f"{words} needs {size_bytes:,} bytes, {limit}{alive}", "make the tensors smaller")

    def recount(self, size_bytes: int) -> bool:
        """Count the memory in use; return whether `size_bytes` more, and what the fuel may allocate, surely fit."""
        return self._set_room(self._live_bytes() + size_bytes)

    def _set_room(self, used_bytes: int) -> bool:
        room = self.limits.memory_bytes - used_bytes - self.outstanding_bytes()
        return self.meter.set_room(min(room, _RECORDED_BYTES) if self.recorder is not None else room)

    def _live_bytes(self) -> int:
        self.settle()
        values = [value for frame in self.frames for value in self._live_values(frame)]
        sizes = {id(root): root.nbytes for root in map(root_of, arrays_in(*values))}
        sizes |= {id(item if item.memory is None else item.memory): item.size_bytes for item in storages_in(*values)}
        live = sum(sizes.values())
        return max(live, self.recorder.retained_bytes) if self.recorder is not None else live

    def _live_values(self, frame: Frame) -> Iterator[Value]:
        entry = self.executable.functions[frame.function]
        live = live_registers(self.executable.instructions[entry.start : entry.end], frame.pc)
        return (frame.registers[index] for index in sorted(live))

    def will_write(self, array: Array) -> None:
        """Save the contents of `array`, which the running instruction is about to change."""
        if self.recorder is not None:
            self.recorder.before_write(array)

    def is_over(self) -> bool:
        """Tell whether the run was cancelled or has exceeded its time."""
        return self.is_cancelled or time.monotonic() >= self.deadline

    def check_time(self, span: Span | None) -> None:
        """Stop if the run was cancelled or has exceeded its time."""
        if self.is_cancelled:
            fail("VM008", "the run was cancelled", span=span)
        if time.monotonic() >= self.deadline:
            fail("VM005", f"the program ran longer than {self.limits.seconds:g} seconds", span=span)

    def refuel(self) -> None:
        """Check the limits before an instruction of the explicit tier."""
        self.check_time(None)
        if not self.meter.refuel(1):
            fail("VM004", f"the program retired more than {self.limits.events:,} instructions")

    def write_output(self, text: str) -> None:
        """Print a line; VM007 if the output is too long."""
        self._output_bytes += len(text.encode("utf-8", "replace")) + 1
        if self._output_bytes > self.limits.output_bytes:
            fail("VM007", f"the program printed more than {self.limits.output_bytes:,} bytes")
        here = self.here
        self.output.append(OutputLine(self.moment or 0, text, here.absolute_pc if here is not None else -1))
        if self._on_output is not None:
            self._on_output(text)
