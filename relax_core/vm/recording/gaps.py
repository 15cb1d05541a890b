"""The times of a recorded run at which a value is missing that was given up to save memory."""

from typing import Final

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.isa import ReturnInstruction
from relax_core.vm.objects.values import NOT_KEPT
from relax_core.vm.recording.liveness import written
from relax_core.vm.recording.recorder import NO_WRITE, Ints
from relax_core.vm.recording.trace import Trace

_NO_REGISTER: Final = -1


def gaps(trace: Trace) -> npt.NDArray[np.bool_]:
    """Tell for each time from 0 to the end whether a register of any frame lacks its value, or may have lacked it.

    A value is missing from the event that wrote it until its register is written again, or its frame has ended.
    """
    count = len(trace)
    recorder = trace.recorder
    changes = np.zeros(count + 2, np.int64)
    is_lost = np.fromiter((value is NOT_KEPT for value in recorder.values), np.bool_, count)
    if is_lost.any():
        events, ends = _lives(trace)
        lost = is_lost[events]
        np.add.at(changes, events[lost] + 1, 1)
        np.add.at(changes, ends[lost] + 1, -1)
    for frame in recorder.frames:
        if frame.args and frame.args[0] is NOT_KEPT:
            changes[frame.enter + 1] += 1
            changes[(frame.leave if frame.leave >= 0 else count) + 1] -= 1
    undone = (undo.event for memory in recorder.memories.values() for undo in memory.undos if undo.before is NOT_KEPT)
    changes[0] += 1
    changes[max(undone, default=-1) + 1] -= 1
    return np.cumsum(changes)[: count + 1] > 0


def _lives(trace: Trace) -> tuple[Ints, Ints]:
    """Return the events that write registers, and the last time at which each of these values is in its register."""
    instructions = trace.executable.instructions
    destinations = np.array([_destination(written(item)) for item in instructions], np.int64)
    is_return = np.array([isinstance(item, ReturnInstruction) for item in instructions], np.bool_)[trace.pcs]
    frames, registers = trace.frame_ids.copy(), destinations[trace.pcs]
    enters, leaves = trace.frame_ends
    returned = trace.frame_ids[is_return]
    registers[is_return] = np.where(enters[returned] >= 0, destinations[trace.pcs[enters[returned]]], _NO_REGISTER)
    frames[is_return] = trace.frame_parents[returned]
    writes = np.fromiter((value is not NO_WRITE for value in trace.recorder.values), np.bool_, len(trace))
    events = np.flatnonzero(writes & (registers >= 0) & (frames >= 0))
    events = events[np.lexsort((events, registers[events], frames[events]))]
    owners = frames[events]
    ends = np.where(leaves[owners] >= 0, leaves[owners], len(trace))
    is_followed = (owners[1:] == owners[:-1]) & (registers[events[1:]] == registers[events[:-1]])
    ends[:-1][is_followed] = events[1:][is_followed]
    return events, ends


def _destination(register: int | None) -> int:
    return _NO_REGISTER if register is None else register
