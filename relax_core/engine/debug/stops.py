"""Stops of a run at breakpoints as text: the lines around, the stack, and the registers of its top frame."""

from collections.abc import Callable

from relax_core.diagnostics import Diagnostic
from relax_core.engine.breakpoints import checked
from relax_core.engine.debug.replies import StopText
from relax_core.present.running.run_models import Breakpoint as Point
from relax_core.present.running.values import Values
from relax_core.vm.debugger import hits_of
from relax_core.vm.objects.values import UNWRITTEN
from relax_core.vm.recording.trace import FrameState, Trace

_AROUND = 2
_FRAMES = 20


def times_of(
    trace: Trace, points: tuple[Point, ...], is_cancelled: Callable[[], bool]
) -> tuple[tuple[int, ...], int, tuple[Diagnostic, ...]]:
    """Return the times of the stops in order, how often the run came by a place, and conditions without a value.

    Raises:
        CompileError: VM030 or VM031, a condition that cannot be read.
    """
    times: set[int] = set()
    faults: list[Diagnostic] = []
    met = 0
    for point in points:
        faults += _nowhere(trace, point)
        for hit in hits_of(trace, checked(trace, point)):
            met += point.is_placed
            if hit.stops:
                times.add(hit.time)
            elif hit.fault is not None:
                faults.append(hit.fault)
            if is_cancelled():
                return (), met, ()
    return tuple(sorted(times)), met, tuple(faults)


def _nowhere(trace: Trace, point: Point) -> tuple[Diagnostic, ...]:
    """Say of a breakpoint that no instruction stands at its place, and where the next ones stand."""
    last = len(trace.executable.instructions) - 1
    if point.pc > last:
        return (Diagnostic("VM033", f"there is no instruction @{point.pc}; the last is @{last}", severity="warning"),)
    table = trace.lines
    lines = sorted({int(line) for line in table.line_of[table.starts_binding]} - {0})
    if not point.line or point.line in lines:
        return ()
    near = [
        str(line) for line in (*[k for k in lines if k < point.line][-1:], *[k for k in lines if k > point.line][:1])
    ]
    message = f"nothing is computed at line {point.line}, so that it is never met"
    hint = f"the nearest lines that can be met: {', '.join(near)}"
    return (Diagnostic("VM033", message, None, hint, "warning"),)


def stop_texts(trace: Trace, times: tuple[int, ...], name: str, text: str) -> tuple[StopText, ...]:
    """Print the stops of a run at some times; `name` and `text` are those of the program."""
    values = Values(trace, lambda _: 0)
    lines = text.split("\n")
    return tuple(_stop(trace, values, time, name, lines) for time in times)


def _stop(trace: Trace, values: Values, time: int, name: str, lines: list[str]) -> StopText:
    frames = trace.frames_at(time)
    pc = trace.pc_at(time)
    line = int(trace.lines.line_of[pc]) if pc is not None else 0
    where = f"{name}:{line}" if line else name
    head = f"{where}: time {time} of {len(trace)}, before instruction {pc}"
    top = _registers(trace, values, time, frames[-1]) if frames else []
    shown = [_heading(trace, frame, number) for number, frame in enumerate(reversed(frames[-_FRAMES:]))]
    shown[1:1] = top
    more = [f"and {len(frames) - _FRAMES} older frames"] if len(frames) > _FRAMES else []
    return StopText(time, line, -1 if pc is None else pc, "\n".join((head, *_excerpt(lines, line), *shown, *more)))


def _excerpt(lines: list[str], line: int) -> list[str]:
    first, last = max(1, line - _AROUND), min(len(lines), line + _AROUND)
    return [f"{'>' if at == line else ' '}{at:>5} | {lines[at - 1]}" for at in range(first, last + 1)] if line else []


def _heading(trace: Trace, frame: FrameState, number: int) -> str:
    line = int(trace.lines.line_of[frame.pc]) if frame.pc >= 0 else 0
    return f"#{number} {trace.executable.functions[frame.function].name}, line {line}"


def _registers(trace: Trace, values: Values, time: int, frame: FrameState) -> list[str]:
    entry = trace.executable.functions[frame.function]
    rows: list[tuple[str, str, str, str]] = []
    trace = trace.near(time)
    for register, raw in enumerate(trace.raw_registers_at(time, frame.frame)):
        if raw is UNWRITTEN:
            continue
        var = entry.register_vars[register] if register < len(entry.register_vars) else None
        own = entry.param_names[register] if register < len(entry.param_names) else ""
        model = values.table[values.index(raw, time)]
        rows.append((f"%{register}", var.name if var is not None else own, model.type, model.short))
        captures = () if model.closure is None else model.closure.captures
        for capture in captures:
            held = values.table[capture.value]
            rows.append(("", f"  {capture.name}", held.type, held.short))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    table = (
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3])) for row in rows
    )
    return [f"    {text}".rstrip() for text in table]
