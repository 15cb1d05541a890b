"""The copies between devices that a recorded run made."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relax_core.analysis.device.devices import HOST, Device
from relax_core.analysis.device.virtual_devices import default_device
from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.vm.objects.placed import PlacedArray
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace

COPY = "vm.builtin.to_device"


@dataclass(frozen=True, slots=True)
class DeviceCopy:
    """One copy: the event that made it, from where to where, and its size."""

    event: int
    source: Device
    target: Device
    size_bytes: int


def device_of_value(executable: Executable, value: Value) -> Device:
    """Return the device of a tensor; what nothing placed is on the default device, or on the host."""
    place = value.place if isinstance(value, PlacedArray) else None
    return place or default_device(executable.module) or HOST


def copies_of(trace: Trace) -> tuple[DeviceCopy, ...]:
    """Return the copies of a run, in order."""
    return tuple(sorted(_copies(trace), key=lambda copy: copy.event))


def _copies(trace: Trace) -> Iterator[DeviceCopy]:
    executable = trace.executable
    number = executable.index_of.get(COPY, -1)
    for pc, instruction in enumerate(executable.instructions):
        match instruction:
            case CallInstruction(function=function, args=(Register(index=register), *_)) if function == number:
                yield from (_copy(trace, int(event), register) for event in np.flatnonzero(trace.pcs == pc))
            case _:
                pass


def _copy(trace: Trace, event: int, register: int) -> DeviceCopy:
    before = trace.raw_registers_at(event, int(trace.frame_ids[event]))[register]
    after = trace.written_value(event)
    size = after.nbytes if isinstance(after, np.ndarray) else 0
    executable = trace.executable
    return DeviceCopy(event, device_of_value(executable, before), device_of_value(executable, after), size)
