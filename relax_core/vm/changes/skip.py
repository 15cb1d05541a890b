"""Skip the call that a stopped program stands at: its result is what the host gives, or zeros of its declared type."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.check.infer import infer
from relax_core.ir.expr import ShapeType, TensorType, TupleType, Type
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimVar
from relax_core.source import Source, Span
from relax_core.vm.changes.change import SKIP, Change, Target, assigned, refuse
from relax_core.vm.condition import Moment
from relax_core.vm.external.stand_ins import destinations
from relax_core.vm.kernels import written_params
from relax_core.vm.objects.values import Array, Value
from relax_core.vm.objects.zeros import NoZerosError, zeros_of
from relax_core.vm.recording.recorder import NO_WRITE, Recorder
from relax_core.vm.recording.trace import FrameState, Trace
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.stack import Frame


@dataclass(frozen=True, slots=True, eq=False)
class Skip:
    """A call that is not made: an event as if it had been, with another result.

    `outputs` are the registers of the tensors that the call would have written, and what is written to them; `words`
    say where the result comes from.
    """

    time: int
    name: str
    dst: int
    value: Value
    outputs: tuple[tuple[int, Array], ...]
    words: str

    def words_for(self, trace: Trace) -> str:
        """Say that the call was not made, and where its result comes from."""
        return self.words

    def make(self, recorder: Recorder, written: WrittenBytes | None, frames: Sequence[Frame]) -> None:
        """Go over the call that the innermost frame stands at."""
        frame = frames[-1]
        for register, content in self.outputs:
            held = frame.registers[register]
            assert isinstance(held, np.ndarray), "an output of a call is a tensor"
            recorder.before_write(held)
            np.copyto(held, content)
            if written is not None:
                written.wrote(held, frame.absolute_pc)
        if self.dst >= 0:
            frame.registers[self.dst] = self.value
        recorder.record(frame.absolute_pc, frame.number, self.value if self.dst >= 0 else NO_WRITE)
        frame.pc += 1


def skipped(trace: Trace, at: int, frame: FrameState, change: Change) -> Skip:
    """Return what `skip` or `skip: VALUE` means at time `at`, in the frame that runs.

    Raises:
        CompileError: VM030, the value cannot be read.
        RunError: VM032 or VM051, located in the change.
    """
    return _Skipping(trace, at, frame, change).found()


class _Skipping:
    def __init__(self, trace: Trace, at: int, frame: FrameState, change: Change) -> None:
        sides = SKIP.fullmatch(change.text)
        assert sides is not None, "the caller has matched it"
        self._trace, self._at, self._frame, self._change = trace, at, frame, change
        self._word = Span(Source("change", change.text), *sides.span("place"))
        self._given = sides.span("value") if sides["value"] is not None else None
        self._moment = Moment(trace, at, 1, frame.frame)

    def found(self) -> Skip:
        executable = self._trace.executable
        instruction = executable.instructions[self._frame.pc]
        if not isinstance(instruction, CallInstruction):
            self._refuse(f"the program makes no call at time {self._at}", "stop at a call")
        name = executable.functions[instruction.function].name
        registers = self._trace.raw_registers_at(self._at, self._frame.frame)
        places = [item.index for item in self._outputs(instruction) if isinstance(item, Register)]
        outputs: list[tuple[int, Array]] = []
        for place in places:
            held = registers[place]
            if not isinstance(held, np.ndarray):
                self._refuse(f"an output of `{name}` is no tensor yet", "stop at the call itself")
            given = self._value(np.zeros(held.shape, held.dtype), None)
            assert isinstance(given, np.ndarray), "a tensor is given to a tensor"
            if given.shape != held.shape:
                self._refuse(f"`{name}` writes a tensor of another shape", "its type fixes the shape")
            outputs.append((place, given))
        dst = instruction.dst.index if isinstance(instruction.dst, Register) else -1
        value = self._value(*self._zeros(name, dst)) if dst >= 0 else None
        if dst < 0 and not outputs and self._given is not None:
            self._refuse(f"`{name}` gives nothing and writes no tensor, so that no value is given for it")
        return Skip(self._at, name, dst, value, tuple(outputs), self._words(name, has_result=dst >= 0 or bool(outputs)))

    def _words(self, name: str, *, has_result: bool) -> str:
        if not has_result:
            return f"`{name}` was not called at time {self._at}; it gives nothing"
        if self._given is None:
            return f"`{name}` was not called at time {self._at}: zeros, which nothing computed, are its result"
        given = self._change.text[slice(*self._given)].strip()
        return f"`{name}` was not called at time {self._at}: `{given}`, as it was given, is its result"

    def _outputs(self, call: CallInstruction) -> tuple[object, ...]:
        executable = self._trace.executable
        entry = executable.functions[call.function]
        if entry.kind == "vm":
            return ()
        if entry.kind == "kernel":
            positions = written_params(executable.kernels[entry.name])
        else:
            positions = destinations(executable, call, self._frame.pc)
        return tuple(call.args[at] for at in positions)

    def _zeros(self, name: str, dst: int) -> tuple[Value, Type | None]:
        """Return zeros of the declared type, of the result in this very run where that leaves a size open."""
        executable = self._trace.executable
        entry = executable.functions[self._frame.function]
        var = entry.register_vars[dst] if dst < len(entry.register_vars) else None
        type_ = infer(executable.module).types.get(var, var.annotation) if var is not None else None
        try:
            if type_ is None:
                raise NoZerosError("its call declares no type")
            return zeros_of(type_, self._sizes(type_), np.zeros), type_
        except NoZerosError as error:
            held = self._result()
            if isinstance(held, np.ndarray):
                return np.zeros(held.shape, held.dtype), type_
            self._refuse(f"the result of `{name}` is not known: {error}")

    def _result(self) -> Value:
        """Return what the call gave in the run that is gone on from; `None` if it did not return."""
        trace = self._trace
        for event in trace.writes_of(self._frame.frame):
            if event >= self._at and trace.written_register(event) is not None:
                return trace.as_it_was(trace.written_value(event), event + 1)
        return None

    def _sizes(self, type_: Type) -> Mapping[PrimVar, int]:
        known = self._moment.dimensions()
        sizes = ((item, known.get(item.name)) for item in _symbols(type_))
        return {item: size for item, size in sizes if isinstance(size, int)}

    def _value(self, zeros: Value, declared: Type | None) -> Value:
        if self._given is None:
            return zeros
        target = Target(-1, (), None, zeros, declared, self._word)
        return assigned(self._moment, target, self._change, self._given)

    def _refuse(self, words: str, hint: str = "") -> NoReturn:
        refuse(words, self._word, hint)


def _symbols(type_: Type) -> Iterator[PrimVar]:
    match type_:
        case TensorType(shape=tuple() as dims) | ShapeType(values=tuple() as dims):
            yield from (item for dim in dims for item in preorder(dim) if isinstance(item, PrimVar))
        case TupleType(fields=fields):
            for field in fields:
                yield from _symbols(field)
        case _:
            pass
