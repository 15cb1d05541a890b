"""The machine: frames on a stack of its own, a loop over decoded instructions, limits, and a log for the debugger."""

import math
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.source import Span
from relax_core.vm.builtins import callable_value
from relax_core.vm.calls import Calls
from relax_core.vm.context import fail
from relax_core.vm.convert import own_copies
from relax_core.vm.decode import BUILTIN, FUNCTION, IF, KERNEL, PACKED, RETURN, Code, decode
from relax_core.vm.kernels import KernelEngine
from relax_core.vm.limits import Limits
from relax_core.vm.locate import located, too_deep, wrong_count
from relax_core.vm.packed import HOST, Registry
from relax_core.vm.recorder import NO_WRITE, FrameRecord, Recorder
from relax_core.vm.stack import Frame
from relax_core.vm.trace import Outcome, OutputLine, Trace
from relax_core.vm.values import Array, Closure, Value, arrays_in, item_bytes, root_of, shape_text

_CHUNK: Final = 1024
_HEAVY: Final = (np.ndarray, tuple, Closure)
_LIMIT_CODES: Final = ("VM003", "VM004", "VM005", "VM006", "VM007", "VM008", "VM019")


class Machine:
    """Runs functions of one executable.

    With `record` the run's trace holds every event; without it only result, output and error. Kernels stay compiled
    between runs. `on_output` is called with every line as it is printed. Not to be used by two threads at once, but for
    `cancel`.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        limits: Limits | None = None,
        record: bool = True,
        registry: Registry = HOST,
        engine: KernelEngine | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> None:
        self.executable = executable
        self.limits = limits or Limits()
        self.registry = registry
        self.frames: list[Frame] = []
        self.recorder: Recorder | None = None
        self._is_recording = record
        self._codes: dict[int, Code] = {}
        self._on_output = on_output
        self.calls = Calls(self, engine)
        self._is_cancelled = False
        self._reset()

    def _reset(self) -> None:
        self.frames.clear()
        self.recorder = Recorder(self.limits.retained_bytes) if self._is_recording else None
        self._output: list[OutputLine] = []
        self._output_bytes = 0
        self._allocated_bytes = 0
        self._granted_events = 0
        self._nested_count = 0
        self._deadline = time.monotonic() + self.limits.seconds
        self._failure: tuple[DiagnosedError, tuple[int, int], Diagnostic] | None = None

    def run(self, entry: str, args: tuple[Value, ...] = ()) -> Trace:
        """Run the function `entry` on machine values; a failure is the trace's `error`, never an exception.

        A recording machine copies the tensors in `args`, so that the host cannot change the past.
        """
        self._reset()
        start = time.perf_counter()
        error: Diagnostic | None = None
        result: Value = None
        stop = (-1, -1)
        if self._is_recording:
            args = own_copies(args)
        try:
            with self.calls.guarded():
                result = self._start(self._entry(entry), args)
        except DiagnosedError as failure:
            stop, error = self._stopped(failure)
        finally:
            self._is_cancelled = False
        is_limit = error is not None and error.code in _LIMIT_CODES
        outcome: Outcome = "limit" if is_limit else "error" if error else "returned"
        return Trace(
            self.executable,
            self.recorder or Recorder(0),
            result=result,
            error=error,
            outcome=outcome,
            output=tuple(self._output),
            stop=stop,
            seconds=time.perf_counter() - start,
        )

    def cancel(self) -> None:
        """Stop the run soon, or the next one if none is running; may be called from another thread."""
        self._is_cancelled = True
        self.calls.cancel()

    def call_closure(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure that an earlier run returned; raises `RunError`. Nothing is recorded."""
        was_recording, self._is_recording = self._is_recording, False
        self._reset()
        try:
            with self.calls.guarded():
                return self.invoke(closure, args)
        except DiagnosedError as failure:
            raise RunError((self._stopped(failure)[1],)) from failure
        finally:
            self._is_recording = was_recording

    @property
    def slot_origins(self) -> dict[int, str]:
        """For each set slot of the running function's shape heap, the words for what set it."""
        return self.frames[-1].slot_origins

    @property
    def moment(self) -> int | None:
        """The number of the event that the running instruction will be; `None` if nothing is recorded."""
        return len(self.recorder.pcs) if self.recorder is not None else None

    def allocate(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Make a tensor to which nothing was written; its bytes are zero, so that runs are alike."""
        size_bytes = math.prod(shape) * item_bytes(dtype)
        if size_bytes <= 0 and min(shape, default=0) < 0:
            fail("VM020", f"a tensor cannot have the shape {shape_text(shape)}")
        self.reserve(size_bytes, "a tensor", shape, dtype)
        try:
            array = np.zeros(shape, dtype)
        except MemoryError:
            fail("VM006", f"there is no memory for a tensor {shape_text(shape)} {dtype}")
        if self.recorder is not None:
            self.recorder.mark_fresh(array)
        return array

    def reserve(self, size_bytes: int, what: str, shape: tuple[int, ...] | None = None, dtype: str = "") -> None:
        """Count memory that is about to be taken; VM006 if it is too much."""
        self._allocated_bytes += size_bytes
        if self._allocated_bytes <= self.limits.memory_bytes:
            return
        live_bytes = self._live_bytes()
        if live_bytes + size_bytes > self.limits.memory_bytes:
            limit = f"the limit of a run is {self.limits.memory_bytes:,}"
            alive = f"; {live_bytes:,} bytes are in use" if live_bytes else ""
            words = f"{what} {shape_text(shape)} {dtype}" if shape is not None else what
            fail("VM006", f"{words} needs {size_bytes:,} bytes, {limit}{alive}", "make the tensors smaller")
        self._allocated_bytes = live_bytes + size_bytes

    def _live_bytes(self) -> int:
        roots = (root_of(array) for frame in self.frames for array in arrays_in(tuple(frame.registers)))
        live = sum({id(root): root.nbytes for root in roots}.values())
        return max(live, self.recorder.retained_bytes) if self.recorder is not None else live

    def will_write(self, array: Array) -> None:
        """Remember what `array` holds: the running instruction is about to change it."""
        if self.recorder is not None:
            self.recorder.before_write(array)

    def is_over(self) -> bool:
        """Tell whether the run was cancelled or is over its time."""
        return self._is_cancelled or time.monotonic() >= self._deadline

    def check_time(self, span: Span | None) -> None:
        """Stop if the run was cancelled or is over its time."""
        if self._is_cancelled:
            fail("VM008", "the run was cancelled", span=span)
        if time.monotonic() >= self._deadline:
            fail("VM005", f"the program ran longer than {self.limits.seconds:g} seconds", span=span)

    def write_output(self, text: str) -> None:
        """Print a line; VM007 if the output is too long."""
        self._output_bytes += len(text.encode("utf-8", "replace")) + 1
        if self._output_bytes > self.limits.output_bytes:
            fail("VM007", f"the program printed more than {self.limits.output_bytes:,} bytes")
        event = len(self.recorder.pcs) if self.recorder is not None else 0
        self._output.append(OutputLine(event, text, self.frames[-1].absolute_pc))
        if self._on_output is not None:
            self._on_output(text)

    def invoke(self, closure: Closure, args: tuple[Value, ...]) -> Value:
        """Call a closure from the host's side and wait for its result; its frames come on top of the stack."""
        args = (*args, *closure.captures)
        if self.executable.functions[closure.function].kind != "vm":
            return self.calls.call(closure.function, args)
        if self._nested_count >= self.limits.nested_runs:
            fail("VM019", f"packed functions and closures call each other {self._nested_count} deep")
        self._nested_count += 1
        floor = len(self.frames)
        try:
            with self.calls.interrupted():
                return self._start(closure.function, args)
        except DiagnosedError as failure:
            self._stopped(failure)
            del self.frames[floor:]
            raise
        finally:
            self._nested_count -= 1

    def _start(self, function: int, args: tuple[Value, ...]) -> Value:
        enter = -1
        if self.recorder is not None and self.frames:
            # The running packed call is an event of its own each time that it calls back.
            enter = len(self.recorder.pcs)
            self._record(self.frames[-1], NO_WRITE)
        self._push(function, args, dst=-1, enter=enter)
        return self._loop(len(self.frames))

    def _loop(self, floor: int) -> Value:
        """Run the top frame, and those that it makes, until it returns."""
        frame = self.frames[-1]
        steps, registers, pc = frame.steps, frame.registers, 0
        record = self._record if self.recorder is not None else None
        call_kernel = self.calls.kernel
        fuel = self._refuel()
        while True:
            value: Value
            what, target, fetch, dst = steps[pc]
            frame.pc = pc
            if not fuel:
                fuel = self._refuel()
            fuel -= 1
            if what == BUILTIN:
                value = target(self, *fetch(registers))
            elif what == KERNEL:
                value = call_kernel(target, fetch(registers))
            elif what == RETURN:
                value = registers[dst]
                self._pop(value)
                if len(self.frames) < floor:
                    return value
                frame = self.frames[-1]
                steps, registers, pc = frame.steps, frame.registers, frame.pc + 1
                continue
            elif what >= IF:
                if record is not None:
                    record(frame, NO_WRITE)
                pc = pc + 1 if what == IF and registers[dst] else target
                continue
            elif what == PACKED:
                value = self.calls.call(target, fetch(registers))
            else:
                function, args = self._callee(what, target, fetch(registers))
                if self.executable.functions[function].kind == "vm":
                    frame = self._enter(function, args, dst)
                    steps, registers, pc = frame.steps, frame.registers, 0
                    continue
                value = self.calls.call(function, args)
            if dst >= 0:
                registers[dst] = value
            if record is not None:
                record(frame, value if dst >= 0 else NO_WRITE)
            pc += 1

    def _callee(self, what: int, function: int, args: tuple[Value, ...]) -> tuple[int, tuple[Value, ...]]:
        if what == FUNCTION:
            return function, args
        closure = callable_value(args[1])
        return closure.function, (*args[2:], *closure.captures)

    def _enter(self, function: int, args: tuple[Value, ...], dst: int) -> Frame:
        caller = self.frames[-1]
        if len(self.frames) >= self.limits.depth:
            fail("VM003", too_deep(self.executable, self.frames, function), "give the recursion an end")
        event = len(self.recorder.pcs) if self.recorder is not None else -1
        self._push(function, args, dst=dst, enter=event)
        if self.recorder is not None:
            self._record(caller, NO_WRITE)
        return self.frames[-1]

    def _push(self, function: int, args: tuple[Value, ...], *, dst: int, enter: int) -> None:
        entry = self.executable.functions[function]
        if len(args) != entry.param_count:
            fail("VM010", wrong_count(entry, args))
        code = self._codes.get(function)
        if code is None:
            code = self._codes[function] = decode(self.executable, entry)
        registers = list(code.template)
        registers[: len(args)] = args
        number = -1
        if self.recorder is not None:
            parent = self.frames[-1].number if self.frames else -1
            number = self.recorder.add_frame(FrameRecord(function, parent, len(self.frames), enter, args))
        self.frames.append(Frame(function, code.steps, registers, entry.start, dst, number))

    def _pop(self, value: Value) -> None:
        frame = self.frames[-1]
        if self.recorder is not None:
            self.recorder.frames[frame.number].leave = len(self.recorder.pcs)
            self._record(frame, value if frame.dst >= 0 else NO_WRITE)
        self.frames.pop()
        if frame.dst >= 0:
            self.frames[-1].registers[frame.dst] = value

    def _record(self, frame: Frame, value: Value) -> None:
        """Log that the instruction at which `frame` stands has retired."""
        recorder = self.recorder
        assert recorder is not None
        recorder.pcs.append(frame.start + frame.pc)
        recorder.frame_ids.append(frame.number)
        recorder.values.append(value)
        if type(value) in _HEAVY:
            recorder.keep(value)

    def _refuel(self) -> int:
        """Check the limits and return the number of instructions until the next check."""
        self.check_time(None)
        left = self.limits.events - self._granted_events
        if left <= 0:
            fail("VM004", f"the program retired more than {self.limits.events:,} instructions")
        granted = min(left, _CHUNK)
        self._granted_events += granted
        return granted

    def _entry(self, name: str) -> int:
        index = self.executable.index_of.get(name)
        if index is None or not self.executable.functions[index].is_entry:
            names = tuple(entry.name for entry in self.executable.functions if entry.kind == "vm" and entry.is_entry)
            fail("VM009", f"there is no function `{name}` to run", f"functions that can run: {', '.join(names)}")
        return index

    def _stopped(self, failure: DiagnosedError) -> tuple[tuple[int, int], Diagnostic]:
        """Return where the program stood when `failure` was raised, and the diagnostic with its place."""
        if self._failure is None or self._failure[0] is not failure:
            stop = (self.frames[-1].number, self.frames[-1].absolute_pc) if self.frames else (-1, -1)
            self._failure = (failure, stop, located(self.executable, self.frames, failure.diagnostics[0]))
        return self._failure[1], self._failure[2]
