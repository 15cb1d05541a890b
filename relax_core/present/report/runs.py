"""The run of a report: what goes in, the steps, and the values of the function that was entered."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from relax_core.diagnostics import plural
from relax_core.present.escape import markup
from relax_core.present.report.elements import markup_lines, part, said, table
from relax_core.present.running.run_models import Event, Pop, Push, Run, Tensor, Value, Write

STEP_LIMIT: Final = 400
"""So many bindings are told step by step."""
VALUE_LIMIT: Final = 60
"""So many variables are told with their values."""
_HEAT_STEPS: Final = 5


class Step(msgspec.Struct, frozen=True):
    """A binding that ran: its instructions up to the next one."""

    time: int
    function: str
    line: int
    words: str
    writes: tuple[str, ...]
    """Such as `y = [1.00 2.00]`."""
    count: int
    """How many instructions it took."""


def steps(run: Run) -> tuple[Step, ...]:
    """Return the steps of a window of a run, a binding each, in order of time."""
    found: list[Step] = []
    group: list[Event] = []
    stack = [frame.function for frame in run.frames]
    for number, event in enumerate(run.events):
        if event.is_start and group:
            found.append(_step(run, run.first_event + number - len(group), group, stack))
            group = []
        group.append(event)
    if group:
        found.append(_step(run, run.first_event + len(run.events) - len(group), group, stack))
    return tuple(found)


def _step(run: Run, time: int, group: Sequence[Event], stack: list[int]) -> Step:
    """Return a step, and bring the stack of functions to its end."""
    first = group[0]
    writes: dict[str, str] = {}
    for event in group:
        for change in event.changes:
            match change:
                case Push(function=function):
                    stack.append(function)
                case Pop():
                    stack.pop()
                case Write():
                    name, text = _written(run, stack, change)
                    if name:
                        writes[name] = text
    words = first.now or _instruction(run, first.pc)
    told = tuple(f"{name} = {text}" for name, text in writes.items())
    return Step(time, run.functions[first.function].name, first.line, words, told, len(group))


def _written(run: Run, stack: Sequence[int], change: Write) -> tuple[str, str]:
    """Return the variable that a write goes to, empty for a temporary, and its value."""
    if not 0 <= change.depth < len(stack):
        return "", ""
    register = run.functions[stack[change.depth]].registers[change.register]
    shown = change.note or (run.values[change.value].short if change.value >= 0 else "not written")
    return register.variable, shown


def _instruction(run: Run, pc: int) -> str:
    return next((f"`{line.text.strip()}`" for line in run.instructions if line.pc == pc), "")


def parameters(run: Run) -> Iterator[tuple[str, Value]]:
    """Yield the parameters of the function that is entered, with what they hold."""
    if not run.frames:
        return
    frame = run.frames[0]
    for register, value in zip(run.functions[frame.function].registers, frame.registers, strict=False):
        if register.is_parameter and value >= 0:
            yield register.variable or register.name, run.values[value]


def variables(run: Run) -> tuple[tuple[str, Value], ...]:
    """Return the variables of the function that is entered with the last values that the window gives them.

    Of its parameters those that were changed in place.
    """
    if not run.frames:
        return ()
    frame = run.frames[0]
    registers = run.functions[frame.function].registers
    held = dict(enumerate(frame.registers))
    for event in run.events:
        for change in event.changes:
            if isinstance(change, Write) and change.depth == 0:
                held[change.register] = change.value
    given = dict(enumerate(frame.registers))
    told = ((place, value) for place, value in sorted(held.items()) if value >= 0)
    named = (
        (registers[place].variable, value)
        for place, value in told
        if not registers[place].is_parameter or value != given.get(place)
    )
    return tuple((name, run.values[value]) for name, value in named if name and name != "_")


def steps_table(found: Sequence[Step]) -> str:
    """Write the first steps as a table, and say how many there are more."""
    rows = (
        (
            f"{step.time:,}",
            f"<code>{markup(step.function)}</code>",
            f'<a href="#source-{step.line}">{step.line}</a>' if step.line else "",
            _now(step),
            "<br>".join(f"<code>{markup(text)}</code>" for text in step.writes),
        )
        for step in found[:STEP_LIMIT]
    )
    more = len(found) - STEP_LIMIT
    note = f"<p>The first {STEP_LIMIT} of {len(found):,} steps are told.</p>" if more > 0 else ""
    return table(("Time", "Function", "Line", "Now", "Writes"), rows, "Steps", figures=(0, 2)) + note


def _now(step: Step) -> str:
    more = f' <span class="g">{plural(step.count, "instruction")}</span>' if step.count > 1 else ""
    return said(step.words) + more


def values_table(found: Sequence[tuple[str, Value]], label: str) -> str:
    """Write variables with their types and values; a tensor opens to its first elements."""
    rows = (
        (
            f"<code>{markup(name)}</code>",
            f"<code>{markup(value.type)}</code>",
            f"<code>{markup(value.short)}</code>{_opened(value)}",
            markup(value.summary or value.device),
        )
        for name, value in found[:VALUE_LIMIT]
    )
    more = len(found) - VALUE_LIMIT
    note = f"<p>{VALUE_LIMIT} of {len(found):,} variables are told.</p>" if more > 0 else ""
    return table(("Name", "Type", "Value", "Summary"), rows, label) + note


def _opened(value: Value) -> str:
    if value.tensor is not None and value.tensor.cells:
        count = value.tensor.row_count * value.tensor.column_count
        return part(markup(value.tensor.cut) or plural(count, "element"), _cells(value.tensor))
    if value.long and value.long != value.short:
        return part("whole", f"<pre>{markup_lines(value.long)}</pre>")
    return ""


def _cells(tensor: Tensor) -> str:
    width = tensor.column_count
    heat = tensor.heat or (0,) * len(tensor.cells)
    cells = [
        f'<td class="h{_level(level)}">{markup(cell)}</td>' for cell, level in zip(tensor.cells, heat, strict=False)
    ]
    rows = "".join(f"<tr>{''.join(cells[start : start + width])}</tr>" for start in range(0, len(cells), max(width, 1)))
    return f'<table class="cells"><tbody>{rows}</tbody></table>'


def _level(heat: int) -> int:
    """Return one of the steps between the least and the largest element; 0 is the least, and what is no number."""
    return min(max(heat, 0) * _HEAT_STEPS // 100, _HEAT_STEPS - 1)
