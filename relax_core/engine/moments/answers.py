"""Answers about one time of a recorded run, and about where it stops."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from relax_core.engine import breakpoints
from relax_core.engine.debug import changed
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import FrameOf, HistoriesOf, PartsOf, StackOf, Step, StepOf, StopTimesOf, TextsOf
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import LogsOf
from relax_core.engine.replies import Stop
from relax_core.present.running import moment
from relax_core.present.running.moment_models import FrameView, Histories, Logs, Parts, Stack, Texts
from relax_core.present.running.run_models import PointList
from relax_core.present.running.watching import messages
from relax_core.present.running.watching.history import histories
from relax_core.vm import debugger
from relax_core.vm.recording.trace import Trace

_STEPS: Final[Mapping[Step, Callable[[Trace, int, debugger.By], int]]] = MappingProxyType(
    {
        "into": debugger.step_in,
        "over": debugger.step_over,
        "out": debugger.step_out,
        "back": debugger.step_back,
        "back_over": debugger.back_over,
        "back_out": debugger.back_out,
    }
)


def stack(message: StackOf, context: RequestContext) -> Stack:
    """Show frames of the stack."""
    trace, time = run_at(message.program, message.time, context)
    return moment.stack_at(trace, time, message.first, message.limit)


def frame(message: FrameOf, context: RequestContext) -> FrameView:
    """Show the registers of a frame."""
    trace, time = run_at(message.program, message.time, context)
    return moment.frame_at(trace, time, message.depth)


def parts(message: PartsOf, context: RequestContext) -> Parts:
    """Evaluate an expression, and show parts of its value."""
    trace, time = run_at(message.program, message.time, context)
    wanted = moment.Wanted(message.expression, message.path, message.first, message.limit)
    return moment.parts_at(trace, time, message.depth, wanted)


def texts(message: TextsOf, context: RequestContext) -> Texts:
    """Evaluate expressions at several times."""
    trace, _ = run_at(message.program, 0, context)
    times = tuple(min(max(time, 0), len(trace)) for time in message.times)
    return moment.texts_at(trace, message.expressions, times)


def histories_of(message: HistoriesOf, context: RequestContext) -> Histories:
    """Evaluate expressions over the whole run."""
    trace, _ = run_at(message.program, 0, context)
    return histories(trace, message.expressions, context.is_cancelled)


def logs(message: LogsOf, context: RequestContext) -> Logs:
    """Write the messages of logpoints over the whole run."""
    trace, _ = run_at(message.program, 0, context)
    return messages.logs(trace, breakpoints.log_hits(trace, message.breakpoints, context.is_cancelled))


def step(message: StepOf, context: RequestContext) -> Stop:
    """Make a step."""
    trace, time = run_at(message.program, message.time, context)
    return Stop(_STEPS[message.step](trace, time, message.by))


def stop_times(message: StopTimesOf, context: RequestContext) -> PointList:
    """List the times at which breakpoints stop."""
    trace, _ = run_at(message.program, 0, context)
    return breakpoints.point_list(trace, message.places, range(len(trace) + 1), context.is_cancelled)


def run_at(program: Program, time: int, context: RequestContext) -> tuple[Trace, int]:
    """Return the run of a program, with its changes, and the time of it that is nearest to `time`."""
    trace = changed.trace_of(context.opened_by(program), program.changes, context)
    return trace, min(max(time, 0), len(trace))
