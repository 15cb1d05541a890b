"""Answers about a run on the clock."""

from relax_core.diagnostics import RunError
from relax_core.engine.debug.replies import ChromeTrace
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import ChromeTraceOf
from relax_core.engine.protocol import Progress
from relax_core.present.running.timing.chrome_trace import chrome_trace
from relax_core.vm.recording.lines import LineTable
from relax_core.vm.recording.profile import TimedMachine, timeline
from relax_core.vm.virtual_machine import entry_arguments


def chrome(message: ChromeTraceOf, context: RequestContext) -> ChromeTrace:
    """Time a run and write it."""
    opened = context.opened_by(message.program)
    opened.runs.require_machine("it cannot be measured when what runs")
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    name, args = opened.source.call()
    context.report(Progress(f"Timing `{name}`"))
    machine = TimedMachine(executable, context.limits, context.engine_of(opened), opened.source.stand_ins)
    given, stop = entry_arguments(executable, name, args), context.is_cancelled
    found, error = opened.runs.watched(machine, lambda: timeline(machine, name, given, stop), stop)
    if error is not None and context.is_cancelled():
        raise RunError((error,))
    lines = LineTable.of(executable).line_of
    content = chrome_trace(executable, found, message.program.name, lambda pc: int(lines[pc]))
    return ChromeTrace(content, "" if error is None else error.render())
