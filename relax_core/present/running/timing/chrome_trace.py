"""A timed run as a file of the Chrome trace format, which Perfetto and chrome://tracing open.

See: the Trace Event Format, "Complete Events" and "Metadata Events".
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction
from relax_core.vm.recording.profile import Timeline

SPANS: Final = 200_000
"""The most spans that are written: the longest, and of a span all that it lies in."""
_NANOSECONDS: Final = 1_000.0
"""In a microsecond, in which the format counts."""


class _Span(msgspec.Struct, frozen=True):
    name: str
    category: str
    begin: int
    end: int
    event: int


def chrome_trace(executable: Executable, timeline: Timeline, title: str, line_of: Callable[[int], int]) -> bytes:
    """Write each call of bytecode, and each call of a kernel or a packed function, as a span.

    `line_of` returns the line of the source that an instruction was made from, 0 for none.
    """
    spans = [*_frames(executable, timeline), *_leaves(executable, timeline)]
    # Nothing is longer than what it lies in, and of two that are as long the earlier one in the list is the outer one.
    kept = sorted(spans, key=lambda span: span.begin - span.end)[:SPANS]
    kept.sort(key=lambda span: (span.begin, -span.end))
    events = [
        _named("process_name", title),
        _named("thread_name", "virtual machine"),
        *(_complete(span, timeline, line_of) for span in kept),
    ]
    notes = {"events": len(timeline.pcs), "spans": len(kept), "spans_left_out": len(spans) - len(kept)}
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns", "otherData": notes})


def _named(what: str, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": 1, "args": {"name": name}}


def _complete(span: _Span, timeline: Timeline, line_of: Callable[[int], int]) -> dict[str, Any]:
    pc = timeline.pcs[span.event] if span.event >= 0 else -1
    args = {} if pc < 0 else {"time": span.event, "pc": pc, "line": line_of(pc)}
    return {
        "name": span.name,
        "cat": span.category,
        "ph": "X",
        "ts": span.begin / _NANOSECONDS,
        "dur": (span.end - span.begin) / _NANOSECONDS,
        "pid": 1,
        "tid": 1,
        "args": args,
    }


def _frames(executable: Executable, timeline: Timeline) -> Iterator[_Span]:
    last = timeline.stamps[-1] if timeline.stamps else 0
    for enter, leave, function in timeline.frames:
        end = timeline.stamps[leave] if leave >= 0 else last
        yield _Span(executable.functions[function].name, "function", timeline.before(enter), end, enter)


def _leaves(executable: Executable, timeline: Timeline) -> Iterator[_Span]:
    entered = {enter for enter, _, _ in timeline.frames}
    for event, pc in enumerate(timeline.pcs):
        instruction = executable.instructions[pc]
        if isinstance(instruction, CallInstruction) and event not in entered:
            entry = executable.functions[instruction.function]
            yield _Span(entry.name, entry.kind, timeline.before(event), timeline.stamps[event], event)
