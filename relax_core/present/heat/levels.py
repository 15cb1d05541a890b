"""Figures of lines as levels of a scale."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from relax_core.present.models import HeatMark, LineHeat

_LEVELS: Final = 5
_NOT_FINITE: Final = -1
_PREFIXES: Final = (("G", 1e9), ("M", 1e6), ("k", 1e3))


@dataclass(frozen=True, slots=True)
class Figure:
    """The figure of a line, as it is written, and what is said besides."""

    value: float
    text: str
    words: str = ""
    is_finite: bool = True


@dataclass(frozen=True, slots=True)
class Scale:
    """What figures are of, and whether a level is a factor between them in place of a difference."""

    name: str
    unit: str
    is_logarithmic: bool = False

    def level(self, value: float, least: float, most: float) -> int:
        """Return the level of a positive figure between the least and the largest one."""
        if not self.is_logarithmic:
            # The quotient of a figure by itself is 1, but that of five times it need not be 5.
            return max(1, math.ceil(_LEVELS * (value / most)))
        if least == most:
            return _LEVELS
        return 1 + min(_LEVELS - 1, int(_LEVELS * math.log(value / least) / math.log(most / least)))


def heat_of(scale: Scale, figures: Mapping[int, Figure], line_of: Mapping[str, int], note: str) -> LineHeat:
    """Put the figures of lines on a scale; `line_of` has the line of each node."""
    known = sorted((figure for figure in figures.values() if figure.value > 0), key=lambda figure: figure.value)
    least, most = (known[0], known[-1]) if known else (Figure(1, ""), Figure(1, ""))
    marks: dict[int, HeatMark] = {}
    for line, figure in sorted(figures.items()):
        level = scale.level(figure.value, least.value, most.value) if figure.value > 0 else 0
        words = f"{scale.name}: {', '.join(filter(None, (figure.text, figure.words)))}"
        marks[line] = HeatMark(level if figure.is_finite else _NOT_FINITE, figure.text, words)
    kind = f"logarithmic, {least.text} to {most.text}" if scale.is_logarithmic else f"linear, 0 to {most.text}"
    nodes = tuple((node, marks[line]) for node, line in line_of.items() if line in marks)
    title = ", ".join(filter(None, (scale.name, scale.unit)))
    return LineHeat(title, kind if known else "", note, tuple(marks.items()), nodes)


def count_text(count: int, unit: str) -> str:
    """`12 FLOP`, `3.4 kFLOP`, `1.2 GFLOP`."""
    for prefix, size in _PREFIXES:
        if count >= size:
            return f"{count / size:.3g} {prefix}{unit}"
    return f"{count} {unit}"


def micros_text(seconds: float) -> str:
    """`0.4 µs`, `12.3 µs`, `1,204 µs`."""
    micros = seconds * 1e6
    return f"{micros:,.0f} µs" if micros >= 1000 else f"{micros:.3g} µs"
