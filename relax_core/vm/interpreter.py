"""The explicit tier: an interpreter of decoded instructions with a stack of its own."""

from relax_core.diagnostics import DiagnosedError
from relax_core.vm.builtins import callable_value
from relax_core.vm.calls import Calls
from relax_core.vm.context import fail
from relax_core.vm.decode import BUILTIN, FUNCTION, IF, KERNEL, PACKED, RETURN, DecodedFunction, decode
from relax_core.vm.locate import too_deep, wrong_count
from relax_core.vm.reading import Reading
from relax_core.vm.recorder import NO_WRITE, FrameRecord
from relax_core.vm.running import Running
from relax_core.vm.stack import Frame, Opened
from relax_core.vm.values import Value


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

    @property
    def depth(self) -> int:
        """The number of open calls, those of generated code included."""
        return self.outer + len(self.frames)

    def code(self, function: int) -> DecodedFunction:
        """Return the decoded instructions of a VM function."""
        found = self._codes.get(function)
        if found is None:
            executable = self._machine.executable
            found = decode(executable, executable.functions[function])
            if self._machine.written is not None:
                found = self._reading.checked(found)
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
        return closure.function, (*args[2:], *closure.captures)

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
        self.frames.append(Frame(function, code.steps, registers, entry.start, opened.dst, number))

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
