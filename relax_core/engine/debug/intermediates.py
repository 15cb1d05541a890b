"""The values of a recorded run's bindings, each as it was when it was bound."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.isa import CallInstruction
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.inputs import members_of
from relax_core.ir.expr import Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.present.measures import bytes_text
from relax_core.vm.objects.values import ByteRange, Uninitialised, Value, ranges_in
from relax_core.vm.recording.trace import Trace

ARCHIVE_BYTES = 48 << 20
"""Size of the values that one archive holds, or that are compared at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Intermediate:
    """A value that a binding gave its variable `variable`.

    `name` is `FUNCTION.VARIABLE`, from the second time on with its number: `fib.r`, `fib.r#2`. `time` is when it was
    bound. A tensor that was bound before it was written reads as after the first write. `arrays` are its leaves, see
    `members_of`. `trace` is the run, and `pc` where in its code the value came from.
    """

    name: str
    variable: str
    time: int
    arrays: dict[str, npt.NDArray[Any]]
    trace: Trace
    pc: int

    @property
    def line(self) -> int:
        """The line of the binding, worked out when it is asked for: to compare values takes none."""
        return int(self.trace.lines.line_of[self.pc])


def intermediates(trace: Trace, is_cancelled: Callable[[], bool] = lambda: False) -> tuple[Intermediate, ...]:
    """Return the values of all bindings of a run, in the order of time; what holds no data is left out.

    Raises:
        RunError: EN010 if they are too large together, VM008 if it was cancelled.
    """
    found: list[Intermediate] = []
    size_bytes = 0
    for item in bound_values(trace):
        found.append(item)
        size_bytes += sum(array.nbytes for array in item.arrays.values())
        if size_bytes > ARCHIVE_BYTES:
            words = f"the values of the bindings up to `{item.name}` take more than {bytes_text(ARCHIVE_BYTES)}"
            raise RunError((Diagnostic("EN010", words, hint="choose smaller sizes, or run a part of the program"),))
        if is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while collecting the values of bindings"),))
    return tuple(found)


def members(values: tuple[Intermediate, ...]) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of some values by name, in the order of time."""
    return {name: array for item in values for name, array in item.arrays.items()}


def names_in(module: IRModule) -> frozenset[str]:
    """Return the names of the variables of a module."""
    return frozenset(node.name for node in preorder(module) if isinstance(node, Var))


def bound_values(trace: Trace) -> Iterator[Intermediate]:
    """Yield the values of all bindings of a run, in the order of time; what holds no data is left out."""
    functions = trace.executable.functions
    run, writes = trace, _Writes(trace)
    seen: dict[str, int] = {}
    for event in range(len(trace)):
        register = trace.written_register(event)
        frame = trace.written_frame(event)
        if register is None or frame < 0:
            continue
        entry = functions[trace.frames[frame].function]
        var = entry.register_vars[register] if register < len(entry.register_vars) else None
        if var is None:
            continue
        time = event + 1
        near = run.near(min(time + 1, len(run)), time, len(run))
        if near is not trace:
            trace, writes = near, _Writes(near)
        value = trace.as_it_was(trace.written_value(event), time)
        if isinstance(value, Uninitialised) or is_allocated(trace, event):
            # What lies in the bytes of a new tensor is not its value, but what was there before.
            time = writes.first_behind(trace.written_value(event), event)
            value = trace.as_it_was(trace.written_value(event), time)
        name = f"{entry.name}.{var.name}"
        arrays = members_of(name, value)
        if not arrays:
            continue
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            suffix = f"#{seen[name]}"
            arrays = {f"{name}{suffix}{key.removeprefix(name)}": array for key, array in arrays.items()}
            name += suffix
        call = trace.frames[int(trace.frame_ids[event])].enter if frame != int(trace.frame_ids[event]) else event
        copies = {key: np.array(array) for key, array in arrays.items()}
        yield Intermediate(name, var.name, time, copies, trace, int(trace.pcs[call]))


def is_allocated(trace: Trace, event: int) -> bool:
    """Tell whether an event made a tensor in a storage."""
    match trace.executable.instructions[int(trace.pcs[event])]:
        case CallInstruction(function=function):
            return trace.executable.functions[function].name == "vm.builtin.alloc_tensor"
        case _:
            return False


class _Writes:
    """When the memory of a tensor was written."""

    def __init__(self, trace: Trace) -> None:
        self._written: dict[int, list[tuple[int, ByteRange]]] = {}
        for event, ranges in sorted(trace.memory_changes().items()):
            for item in ranges:
                self._written.setdefault(item.memory, []).append((event, item))

    def first_behind(self, value: Value, event: int) -> int:
        """Return the time behind the first write to `value` after `event`, or else that behind `event`."""
        for own in ranges_in(value):
            written = self._written.get(own.memory, [])
            place = bisect_right(written, event, key=lambda item: item[0])
            found = next((at for at, item in written[place:] if item.overlaps(own)), None)
            if found is not None:
                return found + 1
        return event + 1
