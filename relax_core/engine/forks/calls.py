"""The call that a run stands at, what its result would be if it were skipped, and what can take its place."""

from functools import partial

import numpy as np

from relax_core.bytecode.isa import CallInstruction
from relax_core.diagnostics import RunError
from relax_core.engine.debug.changed import definitions, trace_of
from relax_core.engine.debug.differences import type_of
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import CallAtOf
from relax_core.present.running.run_models import CallAt
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.changes.change import Change
from relax_core.vm.changes.replace import substitutes
from relax_core.vm.changes.skip import skipped
from relax_core.vm.objects.values import Value, describe
from relax_core.vm.recording.fork import stack_at
from relax_core.vm.recording.trace import Trace


def call_at(message: CallAtOf, context: RequestContext) -> CallAt:
    """Return the call at a time of a run.

    Raises:
        DiagnosedError: the program does not run, or the run is over then.
    """
    opened = context.opened_by(message.program)
    trace = trace_of(opened, message.program.changes, context)
    time = _call_from(trace, message.time)
    trace = trace.near(time)
    frames = stack_at(trace, time)
    frame, depth = frames[-1], len(frames) - 1
    instruction = trace.executable.instructions[frame.pc]
    if not isinstance(instruction, CallInstruction):
        return CallAt(message.time)
    entry = trace.executable.functions[instruction.function]
    found = substitutes(trace.executable, entry, partial(definitions, opened=opened, limits=context.limits))
    try:
        skip = skipped(trace, time, frame, Change("skip"))
    except RunError as error:
        return CallAt(time, entry.name, error.diagnostics[0].message, is_open=True, substitutes=found, depth=depth)
    values = [array for _, array in skip.outputs] or ([skip.value] if skip.dst >= 0 else [])
    return CallAt(time, entry.name, ", ".join(map(_zeros, values)), substitutes=found, depth=depth)


def _zeros(value: Value) -> str:
    return f"zeros {type_of(value)}" if isinstance(value, np.ndarray) else describe(value)


def _call_from(trace: Trace, at: int) -> int:
    """Return when the binding that runs at a time calls a function of the program; that very time if it calls none."""
    frame = stack_at(trace, at)[-1]
    line = trace.lines.line_of[frame.pc]
    for time in range(at, len(trace) + 1):
        pc = trace.pc_at(time)
        if pc is None or pc < 0 or trace.frame_at(time) != frame.frame or trace.lines.line_of[pc] != line:
            break
        match trace.executable.instructions[pc]:
            case CallInstruction(function=function) if trace.executable.functions[function].name not in BUILTINS:
                return time
            case _:
                pass
    return at
