"""Calls on the time axis."""

import numpy as np

from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.present.running.now import short_name
from relax_core.present.running.run_models import FlameSpan
from relax_core.vm.recording.trace import Trace

_SPAN_LIMIT = 500
_SHORT_RUN = 400
"""In a run of at most so many events, kernels and packed functions are shown as well."""
_QUIET = ("check_", "match_", "alloc_shape_heap", "null_value", "copy", "make_shape", "make_prim_value", "read_if_cond")
_INVOKED = "cat3"


def flame_spans(trace: Trace) -> tuple[FlameSpan, ...]:
    """Return the calls of a run in the order of their start, cut to the longest."""
    executable = trace.executable
    starts, ends = trace.frame_spans
    longest = np.argsort(starts - ends, kind="stable")[:_SPAN_LIMIT].tolist()
    spans = [
        FlameSpan(
            executable.functions[trace.frame_functions[frame]].name,
            int(starts[frame]),
            int(ends[frame]),
            int(trace.frame_depths[frame]),
            _INVOKED if through(trace, frame) >= 0 else "",
        )
        for frame in sorted(longest)
    ]
    if len(trace) <= _SHORT_RUN:
        spans += _leaves(trace)
    spans.sort(key=lambda span: span.start - span.end)
    return tuple(sorted(spans[:_SPAN_LIMIT], key=lambda span: (span.start, span.depth)))


def through(trace: Trace, frame: int) -> int:
    """Return the caller's register with the closure that a frame runs, -1 for a direct call."""
    enter = trace.frames[frame].enter
    if enter < 0:
        return -1
    match trace.executable.instructions[int(trace.pcs[enter])]:
        case CallInstruction(function=function, args=(_, Register(index=index), *_)) if (
            trace.executable.functions[function].name == "vm.builtin.invoke_closure"
        ):
            return index
        case _:
            return -1


def _leaves(trace: Trace) -> list[FlameSpan]:
    entered = {frame.enter for frame in trace.frames}
    spans: list[FlameSpan] = []
    for event in range(len(trace)):
        instruction = trace.executable.instructions[int(trace.pcs[event])]
        if isinstance(instruction, CallInstruction) and event not in entered:
            name = short_name(trace.executable.functions[instruction.function].name)
            if not name.startswith(_QUIET):
                spans.append(FlameSpan(name, event, event + 1, int(trace.depths[event]) + 1))
    return spans
