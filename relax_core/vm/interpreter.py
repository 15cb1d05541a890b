"""The explicit tier: an interpreter of decoded instructions with a stack of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from relax_core.diagnostics import DiagnosedError
from relax_core.vm.builtin.builtins import (
    callable_value,
    null_value,
    read_if_cond,
    run_assert,
    run_print,
    tensor_to_shape,
    to_device,
    unbox_scalar,
)
from relax_core.vm.calls import Calls
from relax_core.vm.changes.redirect import redirected
from relax_core.vm.context import fail
from relax_core.vm.decode import BUILTIN, FUNCTION, IF, KERNEL, PACKED, RETURN, DecodedFunction, decode
from relax_core.vm.objects.values import Array, Value
from relax_core.vm.recording.locate import too_deep, wrong_count
from relax_core.vm.recording.recorder import NO_WRITE, FrameRecord
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.running import Running
from relax_core.vm.stack import Frame, Opened, Step

_READERS: Final = MappingProxyType(
    {
        read_if_cond: "the condition of `if` reads",
        unbox_scalar: "`unbox_scalar` reads",
        tensor_to_shape: "`tensor_to_shape` reads",
        run_print: "`R.print` reads",
        run_assert: "`R.assert_op` reads",
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What checked instructions need: the flags of the run, and the instruction that runs."""

    written: Callable[[], WrittenBytes | None]
    pc: Callable[[], int]

    def checked(self, code: DecodedFunction) -> DecodedFunction:
        """Return decoded instructions that check what they read, and note whose life they end."""
        return DecodedFunction(tuple(map(self._checked, code.steps)), code.template)

    def _checked(self, step: Step) -> Step:
        what, target, fetch, dst = step
        if what != BUILTIN:
            return step
        if target is null_value and dst >= 0:
            return what, self._kill, lambda registers: (registers[dst],), dst
        if target is to_device:
            return what, self._copy, fetch, dst
        words = _READERS.get(target)
        return step if words is None else (what, self._read(target, words), fetch, dst)

    def _kill(self, context: Any, value: Value) -> None:
        written = self.written()
        if written is not None:
            written.kill(value)

    def _copy(self, context: Any, tensor: Array, *args: Any) -> Array:
        made, written = to_device(context, tensor, *args), self.written()
        if written is not None:
            written.copied(tensor, made, self.pc())
        return made

    def _read(self, target: Callable[..., Any], words: str) -> Callable[..., Any]:
        def read(context: Any, *args: Value) -> Any:
            written = self.written()
            if written is not None:
                written.require(args, words)
            return target(context, *args)

        return read


class Interpreter:
    """Interprets the functions of a machine; `frames` are the open calls.

    They are on top of `outer` calls of generated code.
    """

    def __init__(self, machine: Running, calls: Calls) -> None:
        self._machine = machine
        self._calls = calls
        self.frames: list[Frame] = []
        self.outer = 0
        self._codes: dict[int, DecodedFunction] = {}
        self._reading = Reading(lambda: machine.written, lambda: machine.pc)
        self._target_of: Mapping[int, int] = MappingProxyType({})

    @property
    def depth(self) -> int:
        """The number of open calls, those of generated code included."""
        return self.outer + len(self.frames)

    def redirect(self, target_of: Mapping[int, int]) -> None:
        """Have other functions called in place of some, in what is decoded from here on."""
        if target_of or self._target_of:
            self._target_of = target_of
            self._codes.clear()

    def target(self, function: int) -> int:
        """Return the function that is called for one: itself, unless another one has its place."""
        return self._target_of.get(function, function)

    def code(self, function: int) -> DecodedFunction:
        """Return the decoded instructions of a VM function."""
        found = self._codes.get(function)
        if found is None:
            executable = self._machine.executable
            found = decode(executable, executable.functions[function])
            if self._machine.written is not None:
                found = self._reading.checked(found)
            if self._target_of:
                found = redirected(found, executable, self._target_of)
            self._codes[function] = found
        return found

    def start(self, function: int, args: tuple[Value, ...], opened: Opened) -> Value:
        """Call a function and run it until it returns."""
        floor = len(self.frames)
        if not floor:
            self.outer = opened.depth
        try:
            self._push(function, args, opened)
            return self._loop(floor + 1)
        except DiagnosedError as failure:
            self._machine.note(failure)
            raise
        finally:
            del self.frames[floor:]

    def resume(self, frames: list[Frame], outer: int) -> Value:
        """Continue the last of `frames`, on top of `outer` calls, until the first of them returns."""
        self.outer = outer
        self.frames += frames
        try:
            return self._loop(1)
        except DiagnosedError as failure:
            self._machine.note(failure)
            raise
        finally:
            self.frames.clear()

    def _loop(self, floor: int) -> Value:
        """Run the top frame, and the calls that it makes, until frame number `floor` returns."""
        machine, meter = self._machine, self._machine.meter
        frame = self.frames[-1]
        steps, registers, pc = frame.steps, frame.registers, frame.pc
        record = self._record if machine.recorder is not None else None
        call_kernel = self._calls.kernel
        while True:
            value: Value
            what, target, fetch, dst = steps[pc]
            frame.pc = pc
            if meter.fuel <= 0:
                machine.refuel()
            meter.fuel -= 1
            if what == BUILTIN:
                value = target(machine, *fetch(registers))
            elif what == KERNEL:
                value = call_kernel(target, fetch(registers))
            elif what == RETURN:
                value = registers[dst]
                if machine.written is not None and len(self.frames) == 1:
                    machine.written.require(value, "the host is given")
                self._pop(value)
                if len(self.frames) < floor:
                    return value
                if frame.dst >= 0:
                    self.frames[-1].registers[frame.dst] = value
                frame = self.frames[-1]
                steps, registers, pc = frame.steps, frame.registers, frame.pc + 1
                continue
            elif what >= IF:
                if record is not None:
                    record(frame, NO_WRITE)
                pc = pc + 1 if what == IF and registers[dst] else target
                continue
            elif what == PACKED:
                value = self._calls.call(target, fetch(registers))
            else:
                function, args = self._callee(what, target, fetch(registers))
                if machine.executable.functions[function].kind == "vm":
                    frame = self._enter(function, args, dst)
                    steps, registers, pc = frame.steps, frame.registers, 0
                    continue
                value = self._calls.call(function, args)
            if dst >= 0:
                registers[dst] = value
            if record is not None:
                record(frame, value if dst >= 0 else NO_WRITE)
            pc += 1

    def _callee(self, what: int, function: int, args: tuple[Value, ...]) -> tuple[int, tuple[Value, ...]]:
        if what == FUNCTION:
            return function, args
        closure = callable_value(args[1])
        return self.target(closure.function), (*args[2:], *closure.captures)

    def _enter(self, function: int, args: tuple[Value, ...], dst: int) -> Frame:
        machine, caller = self._machine, self.frames[-1]
        if self.depth >= machine.limits.depth:
            fail("VM003", too_deep(machine.executable, machine.frames, function), "give the recursion an end")
        event = len(machine.recorder.pcs) if machine.recorder is not None else -1
        self._push(function, args, Opened(self.depth, caller.number, event, dst))
        if machine.recorder is not None:
            self._record(caller, NO_WRITE)
        return self.frames[-1]

    def _push(self, function: int, args: tuple[Value, ...], opened: Opened) -> None:
        machine = self._machine
        entry = machine.executable.functions[function]
        if len(args) != entry.param_count:
            fail("VM010", wrong_count(entry, args))
        code = self.code(function)
        registers = list(code.template)
        registers[: len(args)] = args
        number = -1
        if machine.recorder is not None:
            record = FrameRecord(function, opened.parent, opened.depth, opened.event, args)
            number = machine.recorder.add_frame(record)
        frame = Frame(function, code.steps, registers, entry.start, opened.dst, number)
        if self._machine.stand_ins is not None:
            frame.args = args
        self.frames.append(frame)

    def _pop(self, value: Value) -> None:
        frame = self.frames[-1]
        recorder = self._machine.recorder
        if recorder is not None:
            recorder.frames[frame.number].leave = len(recorder.pcs)
            self._record(frame, value if frame.dst >= 0 else NO_WRITE)
        self.frames.pop()

    def _record(self, frame: Frame, value: Value) -> None:
        """Log that the instruction at which `frame` stands has retired."""
        recorder = self._machine.recorder
        assert recorder is not None
        recorder.record(frame.start + frame.pc, frame.number, value)
