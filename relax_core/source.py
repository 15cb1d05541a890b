"""Source texts, half-open spans in code points, and excerpts of them."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

_LONG_LINE, _BEFORE = 160, 60
_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A named text. Two sources are the same only if they are the same object."""

    name: str
    text: str
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A search for one line end after the other is quadratic in a text of empty lines.
        starts = (0, *(found.end() for found in _LINE_END.finditer(self.text)))
        object.__setattr__(self, "line_starts", starts)

    @property
    def line_count(self) -> int:
        """Number of lines; a text that ends in a newline has an empty last line."""
        return len(self.line_starts)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and the 1-based column (code points) of `offset`."""
        clamped = min(max(offset, 0), len(self.text))
        line = bisect_right(self.line_starts, clamped)
        return line, clamped - self.line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column, clamped to the text."""
        line = min(max(line, 1), self.line_count)
        return min(self.line_starts[line - 1] + max(column, 1) - 1, len(self.text))

    def line_text(self, line: int) -> str:
        """Return the 1-based `line` without its newline."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < self.line_count else len(self.text)
        return self.text[start:end]


class Span(NamedTuple):
    """A half-open range `[start, end)` of code points of one source.

    There are five to a line; a tuple is made in half the time of a frozen dataclass.
    """

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """1-based line of the first code point."""
        return self.source.line_column(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of the first code point."""
        return self.source.line_column(self.start)[1]

    @property
    def end_line_column(self) -> tuple[int, int]:
        """1-based line and column just behind the last code point."""
        return self.source.line_column(self.end)

    @property
    def text(self) -> str:
        """The text that the span covers."""
        return self.source.text[self.start : self.end]

    def holds(self, other: "Span | None") -> bool:
        """Tell whether `other` is a part of this span."""
        return other is not None and self.source is other.source and self.start <= other.start and other.end <= self.end

    def to(self, other: "Span") -> "Span":
        """Return the smallest span that covers this one and `other`."""
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))


def excerpt(span: Span) -> str:
    """Return the first line of `span` with a caret line below it; of a long line, what is around the carets."""
    line, column = span.source.line_column(span.start)
    text = span.source.line_text(line)
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    if len(text) <= _LONG_LINE:
        return f"{text}\n{' ' * (column - 1)}{'^' * width}"
    first = max(0, min(column - 1 - _BEFORE, len(text) - _LONG_LINE))
    shown = text[first : first + _LONG_LINE]
    head, tail = "..." if first else "", "..." if first + _LONG_LINE < len(text) else ""
    at = column - 1 - first
    return f"{head}{shown}{tail}\n{' ' * (len(head) + at)}{'^' * min(width, len(shown) - at + 1)}"
