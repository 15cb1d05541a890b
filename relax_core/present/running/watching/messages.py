"""The messages of logpoints, written where a run passes."""

from collections.abc import Sequence
from typing import NamedTuple

from relax_core.diagnostics import DiagnosedError
from relax_core.present.running import moment
from relax_core.present.running.moment_models import Logged, Logs
from relax_core.present.running.watching.message_text import MESSAGES, expressions_in, filled
from relax_core.vm.recording.trace import Trace


class LogHit(NamedTuple):
    """A time at which a logpoint writes its message; `hits`: its place is met for the so manieth time."""

    time: int
    hits: int
    message: str


def logs(trace: Trace, hits: Sequence[LogHit]) -> Logs:
    """Write what logpoints say at their hits, which are in the order of time."""
    return Logs(tuple(_logged(trace, hit) for hit in hits[:MESSAGES]), len(hits))


def _logged(trace: Trace, hit: LogHit) -> Logged:
    depth = len(trace.frames_at(hit.time)) - 1
    values: list[str] = []
    is_fault = False
    for expression in expressions_in(hit.message):
        try:
            wanted = moment.Wanted(expression, hits=hit.hits)
            values.append(moment.parts_at(trace, hit.time, depth, wanted).value.text)
        except DiagnosedError as error:
            is_fault = True
            values.append(moment.without_value(error))
    pc = trace.pc_at(hit.time)
    line = 0 if pc is None else int(trace.lines.line_of[pc])
    return Logged(hit.time, line, filled(hit.message, values), is_fault)
