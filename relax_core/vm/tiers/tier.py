"""The generated tier: runs generated code, and deoptimises to the explicit tier at a limit or a failed speculation."""

import sys
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.diagnostics import DiagnosedError
from relax_core.vm.builtin.builtins import callable_value
from relax_core.vm.calls import Calls
from relax_core.vm.context import fail
from relax_core.vm.interpreter import Interpreter
from relax_core.vm.meter import Meter
from relax_core.vm.objects.values import MACHINE, UNWRITTEN, AdtValue, Array, Closure, ShapeValue, StorageValue, Value
from relax_core.vm.recording.liveness import written
from relax_core.vm.recording.locate import too_deep, wrong_count
from relax_core.vm.recording.recorder import NO_WRITE
from relax_core.vm.running import Running
from relax_core.vm.stack import Opened
from relax_core.vm.tiers.events import EventWriter
from relax_core.vm.tiers.facts import Room
from relax_core.vm.tiers.frames import FrameFinder
from relax_core.vm.tiers.generate import function_of, generate
from relax_core.vm.tiers.generated_stack import Base, Deoptimised, GeneratedStack
from relax_core.vm.tiers.link import Callee, Linker
from relax_core.vm.tiers.log import RawLog, Segment
from relax_core.vm.tiers.segments import Untransposed
from relax_core.vm.tiers.structure import UnstructuredError
from relax_core.vm.tiers.unboxed import wrapped
from relax_core.vm.tiers.unread import can_wait, unread_run

USUAL_DEPTH: Final = 100
"""The call depth that fits Python's default recursion limit; a run that goes deeper raises that limit until it ends."""
PYTHON_FRAMES_PER_CALL: Final = 2
SPARE_PYTHON_FRAMES: Final = 500


ENDS: Final = (Deoptimised, DiagnosedError, MemoryError)
"""The exceptions by which a call of generated code may end."""


class Tier:
    """The generated code of one machine, and what it calls back; with `is_recording` it logs all values."""

    def __init__(self, machine: Running, calls: Calls, interpreter: Interpreter, *, is_recording: bool) -> None:
        self._machine = machine
        self._calls = calls
        self._interpreter = interpreter
        self._is_recording = is_recording
        self.log: RawLog | None = None
        self._segments: list[Segment] = []
        # Entries from the host rarely nest: they share one `Base`, so that a short run does not allocate one.
        self.first_base = Base(0, 0)
        self.is_deep = False
        self._recursion_limit: int | None = None
        self._namespace: dict[str, Any] = {
            "machine": machine,
            "meter": machine.meter,
            "refuel": self.refuel,
            "make_room": self.make_room,
            "deeper": self.deeper,
            "outside": self.outside,
            "charged_outside": self.charged_outside,
            "wrong_count": self.wrong_count,
            "callable_value": callable_value,
            "new_tensor": tensor_maker(machine.meter),
            "enter": [self._first_entry(index) for index in range(len(machine.executable.functions))],
            "bytecode": frozenset(
                index for index, entry in enumerate(machine.executable.functions) if entry.kind == "vm"
            ),
            "wrapped": wrapped,
            "ndarray": np.ndarray,
            "Closure": Closure,
            "ShapeValue": ShapeValue,
            "AdtValue": AdtValue,
            "StorageValue": StorageValue,
            "UNWRITTEN": UNWRITTEN,
            "MACHINE": MACHINE,
            "DEEPEST": self._usual_depth,
        }
        self._finder = FrameFinder(self._namespace)
        self.stack = GeneratedStack(machine, interpreter, self._finder)
        self.bases = self.stack.bases
        self.enter_from(Tier.start.__code__)
        self._linker = Linker(machine.executable, self._namespace, self)
        self.functions: dict[int, Callee] = {}

    @property
    def _usual_depth(self) -> int:
        return min(self._machine.limits.depth, USUAL_DEPTH)

    def reset(self) -> None:
        """Start a run, with a log if it is recorded."""
        self.log = self.stack.log = None
        recorder = self._machine.recorder
        if self._is_recording and recorder is not None:
            self.log = self.stack.log = RawLog(recorder, self._segments, self._linker.arena)
            recorder.settle = self.log.settle
            recorder.unread = partial(unread_run, self.log)
            self._namespace["note"] = self.log.numbers.append
            self._namespace["keep"] = self.log.values.extend
            self._namespace["put"] = self.log.values.append

    def settle(self) -> None:
        """Decode what is logged; the segment that runs is left for later, as is a long log of few bytes of tensors."""
        if self.log is not None and not can_wait(self.log):
            self.log.settle_finished()

    def start(self, function: int, args: tuple[Value, ...], opened: Opened) -> Value:
        """Call a VM function and run it until it returns."""
        log, bases, depth = self.log, self.bases, opened.depth
        if log is not None:
            base = Base(depth, len(log.open))
            log.expect(opened.event, has_destination=False)
        elif bases:
            base = Base(depth, 0)
        else:
            base = self.first_base
            base.depth, base.is_deoptimised = depth, False
        bases.append(base)
        try:
            generated = self.functions.get(function) or self.function(function)
            result = generated(*args, depth)
            if log is not None and base.floor:
                log.settle()
            return result
        except ENDS as failure:
            return self.ended(failure, base)
        finally:
            bases.pop()
            if self.is_deep and not bases:
                self.leave_depth()

    def ended(self, failure: Exception, base: Base) -> Value:
        """Return the result that the explicit tier has for a call that was deoptimised, or raise its failure."""
        match failure:
            case Deoptimised(value=value):
                return value
            case DiagnosedError() | MemoryError():
                return self.stack.failed(failure, base)
            case _:
                raise failure

    def leave_depth(self) -> None:
        """Restore Python's recursion limit once the outermost call has returned."""
        if self._recursion_limit is not None:
            sys.setrecursionlimit(self._recursion_limit)
        self.is_deep = False
        self._recursion_limit = None
        self._namespace["DEEPEST"] = self._usual_depth

    def enter_from(self, caller: CodeType) -> None:
        """Register `caller` as an entry into generated code, whose frames a stack walk stops at."""
        self._finder.enter_from(caller)

    def function(self, index: int) -> Callee:
        """Return the generated code of a VM function; one with unstructured control flow is interpreted."""
        if index not in self.functions:
            entry = self._machine.executable.functions[index]
            log = EventWriter(self._segments, index, entry) if self._is_recording else None
            try:
                generated = generate(self._linker, index, entry, log)
            except UnstructuredError:
                self.functions[index] = lambda *args: self._interpret(index, args[:-1], args[-1])
            else:
                self._finder.add(generated)
                self.functions[index] = generated.function
        return self.functions[index]

    def text_of(self, index: int) -> str:
        """Return the Python text of a VM function, the empty string if it is interpreted."""
        self.function(index)
        generated = self._finder.of_index(index)
        return "" if generated is None else "\n".join(generated.text.lines)

    def kernel(self, index: int, untransposed: Untransposed | None) -> Callee:
        """Return the kernel of an entry of the function table."""
        if untransposed is None:
            return self._calls.caller(index)
        return self._calls.untransposed(index, untransposed.position, untransposed.order).caller()

    def maker(self, index: int, room: Room, untransposed: Untransposed | None) -> Callee:
        """Return a variant of a kernel that allocates its output and returns it."""
        if untransposed is None:
            return self._calls.maker(index, room.shape, room.dtype)
        kernel = self._calls.untransposed(index, untransposed.position, untransposed.order)
        return kernel.allocating_caller(room.shape, room.dtype)

    def _interpret(self, index: int, args: tuple[Value, ...], depth: int) -> Value:
        if self.log is None and self._linker.facts.is_closed and self.stack.is_called():
            # The caller has charged its whole segment; it resumes at this call, which the explicit tier charges again.
            self._machine.meter.give_back(1)
            self.stack.deoptimise()
        opened = Opened(depth)
        if self.log is not None:
            self.log.settle()
            event, has_destination = self.log.take_entry()
            parent = self.log.open[-1].number if self.log.open else -1
            opened = Opened(depth, parent, event, 0 if has_destination else -1)
        return self._interpreter.start(index, args, opened)

    def _first_entry(self, index: int) -> Callee:
        """Return a callable that enters a function with a tuple of arguments; its first call generates code."""
        if self._machine.executable.functions[index].kind != "vm":
            return partial(self._call, index)

        def first(args: tuple[Value, ...], depth: int) -> Value:
            enter = self._namespace["enter"][index] = self._entry(index)
            return enter(args, depth)

        return first

    def _entry(self, index: int) -> Callee:
        count = self._machine.executable.functions[index].param_count
        params = "".join(f"r{number}, " for number in range(count))
        lines = (
            "def enter(args, depth):",
            f" if len(args) != {count}: wrong_count({index}, args)",
            f" {params}= args" if count else " pass",
            f" return {self._linker.function(index)}({params}depth)",
        )
        return function_of("\n".join(lines), self._linker)

    def outside(self, function: int, args: tuple[Value, ...], depth: int, pc: int) -> Value:
        """Make a call that may re-enter the program, or whose event the recorder logs by itself; charge it first."""
        meter = self._machine.meter
        left = meter.fuel - 1
        meter.fuel = left if left >= 0 else self.refuel(1)
        return self.charged_outside(function, args, depth, pc)

    def charged_outside(self, function: int, args: tuple[Value, ...], depth: int, pc: int) -> Value:
        """Make such a call whose fuel generated code has charged."""
        log = self.log
        if log is None:
            return self._call(function, args, depth)
        log.settle()
        value = self._call(function, args, depth)
        has_destination = written(self._machine.executable.instructions[pc]) is not None
        log.recorder.record(pc, log.open[-1].number, value if has_destination else NO_WRITE)
        return value

    def _call(self, function: int, args: tuple[Value, ...], depth: int) -> Value:
        machine = self._machine
        outer, machine.generated_depth = machine.generated_depth, depth
        try:
            return self._calls.call(function, args)
        finally:
            machine.generated_depth = outer

    def wrong_count(self, function: int, args: tuple[Value, ...]) -> NoReturn:
        """Raise the diagnostic of a call with a wrong number of arguments."""
        fail("VM010", wrong_count(self._machine.executable.functions[function], args))

    def deeper(self, function: int, depth: int) -> None:
        """Raise Python's limit on recursion for calls deeper than `USUAL_DEPTH`, or stop at the limit of the run."""
        machine = self._machine
        if depth >= machine.limits.depth:
            fail("VM003", too_deep(machine.executable, machine.frames, function), "give the recursion an end")
        if self._recursion_limit is None:
            self._recursion_limit = sys.getrecursionlimit()
        needed = self._recursion_limit + machine.limits.depth * PYTHON_FRAMES_PER_CALL + SPARE_PYTHON_FRAMES
        sys.setrecursionlimit(max(needed, sys.getrecursionlimit()))
        self._namespace["DEEPEST"] = machine.limits.depth
        self.is_deep = True

    def refuel(self, needed: int) -> int:
        """Check the limits, and return the fuel that is left after a segment of `needed` instructions is charged."""
        machine = self._machine
        machine.check_time(None)
        if not machine.meter.refuel(needed) or (machine.meter.room < 0 and not machine.recount(0)):
            self.stack.deoptimise()
        return machine.meter.fuel - needed

    def make_room(self, size_bytes: int) -> int:
        """Count the memory in use, and return the room that is left after a segment allocates `size_bytes`."""
        if not self._machine.recount(size_bytes):
            self.stack.deoptimise()
        return self._machine.meter.room


def tensor_maker(meter: Meter) -> Callable[..., Array | None]:
    """Return what makes a tensor of so many bytes, these sizes and a dtype, and counts it.

    It returns `None` where there may be no room, and where the sizes do not take just these bytes.
    """
    zeros = np.zeros

    def new_tensor(size_bytes: int, sizes: tuple[int, ...], dtype: "np.dtype[Any]") -> Array | None:
        if not 0 <= size_bytes <= meter.room:
            return None
        try:
            made = zeros(sizes, dtype)
        except (MemoryError, ValueError):
            return None
        if made.nbytes != size_bytes:
            return None
        meter.room -= size_bytes
        return made

    return new_tensor
