"""What the variables of a program held last in a run, for whoever looks at its text."""

import re
from collections.abc import Mapping
from typing import Final

from relax_core.present.running.run_models import LastValue, Pop, Push, Register, Run, Write

_SIGNATURE_LINES: Final = 400
"""So many lines of a signature are looked at."""


def last_values(run: Run) -> tuple[LastValue, ...]:
    """Return for each variable that a window of a run wrote, or that its first frames hold, what it was given last."""
    stack = [frame.function for frame in run.frames]
    found: dict[tuple[int, int], tuple[int, int]] = {}
    # What was written before the window has no time that is known.
    start = -1 if run.first_event else 0
    for frame in run.frames:
        found |= {(frame.function, number): (start, value) for number, value in enumerate(frame.registers)}
    for time, event in enumerate(run.events, run.first_event + 1):
        for change in event.changes:
            match change:
                case Push(function=function):
                    stack.append(function)
                case Pop():
                    stack.pop()
                case Write(depth=depth, register=register, value=value):
                    found[stack[depth], register] = time, value
    texts = {line.number: "".join(token.text for token in line.tokens) for line in run.source}
    latest: dict[tuple[str, int], LastValue] = {}
    for (function, number), (time, place) in sorted(found.items(), key=lambda item: item[1][0]):
        register = run.functions[function].registers[number]
        if not register.variable or place < 0 or run.values[place].kind in ("unwritten", "void"):
            continue
        value, name = run.values[place], register.variable
        line = _parameter_line(texts, register) if register.is_parameter else register.line
        of = run.functions[function].name
        latest[name, line] = LastValue(name, line, value.type, value.short, value.summary, of, time)
    return tuple(latest.values())


def _parameter_line(texts: Mapping[int, str], parameter: Register) -> int:
    """Return the line in which a parameter stands; what a run tells is that of its function."""
    wanted = re.compile(rf"(?<!\w){re.escape(parameter.variable)}\s*:")
    first = parameter.line
    return next((n for n in range(first, first + _SIGNATURE_LINES) if wanted.search(texts.get(n, ""))), first)
