"""The calls that a run of this machine made, in order, and which of them a recorded call is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from relax_core.bytecode.isa import CallInstruction, ConstantRef, Immediate, Register
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace


@dataclass(slots=True, eq=False)
class MachineCall:
    """A call of a kernel or of a packed function: its name, event and result, and the variable that was given it.

    `function` is the one that makes the call.
    """

    name: str
    function: str
    event: int
    result: Any
    variable: str = ""


def calls_of(trace: Trace) -> tuple[MachineCall, ...]:
    """Return the calls of kernels and packed functions; the result of one that gives none is its last tensor."""
    return tuple(_Follower(trace).found())


class _Follower:
    """Follows the registers of a run, event by event."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._registers: dict[int, list[Value]] = {}
        self._outputs: dict[int, MachineCall] = {}

    def found(self) -> Iterator[MachineCall]:
        trace, functions = self._trace, self._trace.executable.functions
        for event in range(len(trace)):
            frame = int(trace.frame_ids[event])
            instruction = trace.executable.instructions[int(trace.pcs[event])]
            if isinstance(instruction, CallInstruction):
                entry = functions[instruction.function]
                if entry.kind == "kernel" or (entry.kind == "packed" and entry.name not in BUILTINS):
                    owner = functions[trace.frames[frame].function].name
                    yield self._call(event, entry.name, owner, self._arguments(frame, instruction))
            self._write(event)

    def _call(self, event: int, name: str, owner: str, args: list[Any]) -> MachineCall:
        trace = self._trace
        has_value = trace.written_register(event) is not None
        raw: Any = trace.written_value(event) if has_value else None
        if raw is None:
            tensors: list[Any] = [item for item in args if isinstance(item, np.ndarray)]
            raw = tensors[-1] if tensors else None
        call = MachineCall(name, owner, event, trace.as_it_was(raw, event + 1) if raw is not None else None)
        self._outputs[id(raw)] = call
        return call

    def _write(self, event: int) -> None:
        """Note what an event wrote, and whose output a variable is."""
        trace = self._trace
        register, frame = trace.written_register(event), trace.written_frame(event)
        if register is None or frame < 0:
            return
        value = trace.written_value(event)
        self._of(frame)[register] = value
        entry = trace.executable.functions[trace.frames[frame].function]
        var = entry.register_vars[register] if register < len(entry.register_vars) else None
        call = self._outputs.get(id(value))
        if call is not None and var is not None and not call.variable:
            call.variable = var.name

    def _of(self, frame: int) -> list[Value]:
        if frame not in self._registers:
            record = self._trace.frames[frame]
            count = self._trace.executable.functions[record.function].register_count
            self._registers[frame] = [*record.args, *[None] * (count - len(record.args))]
        return self._registers[frame]

    def _arguments(self, frame: int, call: CallInstruction) -> list[Any]:
        registers = self._of(frame)
        found: list[Any] = []
        for item in call.args:
            match item:
                case Register(index=index):
                    found.append(registers[index])
                case ConstantRef(index=index):
                    found.append(self._trace.executable.constants[index])
                case Immediate(value=value):
                    found.append(value)
                case _:
                    found.append(None)
        return found


def aligned(recorded: Sequence[str], ours: Sequence[str]) -> dict[int, int]:
    """Return which of our calls each recorded one is, both given by their names in order."""
    if list(recorded) == list(ours):
        return {at: at for at in range(len(ours))}
    found: dict[int, int] = {}
    for block in SequenceMatcher(None, list(recorded), list(ours), autojunk=False).get_matching_blocks():
        found.update({block.a + at: block.b + at for at in range(block.size)})
    return found
