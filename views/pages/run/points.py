"""Breakpoints as the address of a page holds them, with commas between: `8`, `-@12`, `8?i > 3`, `*?isnan(written)`.

A logpoint has its message between the place and the condition: `8~sum is {sum(x)}?i > 3`.
"""

import re
from typing import Final
from urllib.parse import unquote

from relax_core.present.running.run_models import Breakpoint

_PLACE: Final = re.compile("[0-9]{1,9}")


def written(points: tuple[Breakpoint, ...]) -> str:
    """Write breakpoints: `8` a line, `@12` an instruction, `*` anywhere; `-` in front if off, the texts behind."""
    return ",".join(map(_one, points))


def _one(point: Breakpoint) -> str:
    place = f"@{point.pc}" if point.pc >= 0 else str(point.line or "*")
    message = f"~{_escaped(point.message).replace('?', '%3F')}" if point.message else ""
    condition = f"?{_escaped(point.condition)}" if point.condition else ""
    return f"{'' if point.is_on else '-'}{place}{message}{condition}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace(",", "%2C")


def read(text: str) -> tuple[Breakpoint, ...]:
    """Read breakpoints; anything else is dropped."""
    points: list[Breakpoint] = []
    for part in text.split(","):
        rest, _, condition = part.partition("?")
        place, _, message = rest.partition("~")
        number = place.removeprefix("-").removeprefix("@")
        if number == "*" and condition:
            points.append(Breakpoint(0, -1, not part.startswith("-"), unquote(condition), unquote(message)))
        if not _PLACE.fullmatch(number):
            continue
        line, pc = (0, int(number)) if "@" in place else (int(number), -1)
        points.append(Breakpoint(line, pc, not part.startswith("-"), unquote(condition), unquote(message)))
    return tuple(points)
