"""The lines of each prim func of a printed module, found without parsing: one can be read without the others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_DECORATOR: Final = re.compile(r"(?P<indent>[ \t]*)@[\w.]*\bprim_func\b")
_DEFINITION: Final = re.compile(r"\s*def\s+(\w+)\s*\(")
_QUOTES: Final = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text of a function with its decorator, and the 1-based lines where it stands."""

    text: str
    first_line: int
    last_line: int

    def line_of(self, text: str) -> int:
        """Return the line where `text` begins if the excerpt is nothing else, 0 if it is not."""
        start = self.text.find(text) if text else -1
        if start < 0 or self.text[:start].strip() or self.text[start + len(text) :].strip():
            return 0
        return self.first_line + self.text.count("\n", 0, start)


def excerpts_of(text: str) -> Mapping[str, Excerpt]:
    """Return the functions of a module of prim funcs alone by name; none if the text holds anything else.

    All begin at one level of indentation, where nothing else stands but their heads and comments.
    """
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _DECORATOR.match(line)]
    if not starts or any(quotes in text for quotes in _QUOTES):
        return {}
    indent = _indent(lines[starts[0]])
    end = len(lines)
    for number in range(starts[0], len(lines)):
        line = lines[number]
        if not line.strip() or _indent(line) > indent:
            continue
        word = line.lstrip()
        if _indent(line) < indent or not (_DECORATOR.match(line) or word.startswith((")", "#", "def "))):
            end = number
            break
    if any(line.strip() and not line.lstrip().startswith("#") for line in lines[end:]):
        return {}
    found: dict[str, Excerpt] = {}
    for start, stop in zip(starts, (*starts[1:], end), strict=True):
        head = _DEFINITION.match(lines[start + 1]) if start + 1 < stop else None
        if head is None or head[1] in found or _indent(lines[start]) != indent:
            return {}
        found[head[1]] = Excerpt("\n".join(lines[start:stop]), start + 1, stop)
    return found


def masked(text: str, excerpts: Mapping[str, Excerpt], kept: Excerpt) -> str:
    """Return the text with the lines of all functions but one left blank, so that it stands in the same lines."""
    lines = text.split("\n")
    for item in excerpts.values():
        if item is not kept:
            lines[item.first_line - 1 : item.last_line] = [""] * (item.last_line - item.first_line + 1)
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
