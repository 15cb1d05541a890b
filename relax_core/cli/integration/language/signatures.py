"""The call in which the caret stands: its signature, and which of its parameters is being written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from relax_core.cli.integration.language.document import Document

_REACH: Final = 4000
"""Characters before the caret in which the call begins."""
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_CALLEE: Final = re.compile(r"[@%]?[\w.?]+\s*$")
_KEYWORD: Final = re.compile(r"\s*(\w+)\s*=(?!=)")
_NAME: Final = re.compile(r"[*%]*(\w+)")
_SEPARATORS: Final = ("*", "/")


@dataclass(frozen=True, slots=True)
class Signature:
    """How something is called; `parameters` are places in `label`, `active` is the number of one of them."""

    label: str
    summary: str
    parameters: tuple[tuple[int, int], ...]
    active: int | None


def signature_at(document: Document, line: int, column: int) -> Signature | None:
    """Return the signature of the innermost call of a known operator or function that is open at a place."""
    before = document.code_before(line, column)[-_REACH:]
    for callee, argument, index in _open_calls(before):
        at = column if "\n" not in callee else 0
        label, summary = _label(document, callee.strip(), line, at)
        if label:
            parameters = tuple(_parameters(label))
            return Signature(label, summary, parameters, _active(label, parameters, argument, index))
    return None


def _open_calls(before: str) -> Iterator[tuple[str, str, int]]:
    """Yield the calls that are open at the end, inner ones first: callee, argument that is begun, and its number."""
    depth, index, end = 0, 0, len(before)
    for at in range(len(before) - 1, -1, -1):
        character = before[at]
        if character in _CLOSING:
            depth += 1
        elif character in _OPENING and depth:
            depth -= 1
        elif character in _OPENING:
            found = _CALLEE.search(before, 0, at) if character == "(" else None
            if found is not None:
                yield found[0], before[at + 1 : end] if index == 0 else before[_behind_comma(before, at) :], index
            index, end = 0, at
        elif character == "," and depth == 0:
            index += 1


def _behind_comma(before: str, opened: int) -> int:
    """Return where the last argument of the call begins that is open since `opened`."""
    depth, found = 0, opened + 1
    for at in range(opened + 1, len(before)):
        if before[at] in _OPENING:
            depth += 1
        elif before[at] in _CLOSING:
            depth -= 1
        elif before[at] == "," and depth == 0:
            found = at + 1
    return found


def _label(document: Document, callee: str, line: int, column: int) -> tuple[str, str]:
    """Return how a name is called, and what it does; empty if it is not known."""
    term = document.term_of(callee)
    if term is not None and term.signature:
        return term.signature, term.summary
    fact = document.fact_of(callee, line)
    if fact is None or not fact.type.startswith("(") or "→" not in fact.type:
        return "", ""
    return f"{fact.name}{fact.type}", ""


def _parameters(label: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the parameters in a signature."""
    opened = label.find("(")
    depth, start = 0, opened + 1
    for at in range(opened + 1, len(label)):
        character = label[at]
        is_end = depth == 0 and character in ",)"
        if is_end and label[start:at].strip() and label[start:at].strip() not in _SEPARATORS:
            yield start + len(label[start:at]) - len(label[start:at].lstrip()), at
        if is_end and character == ")":
            return
        start = at + 1 if is_end else start
        depth += (character in _OPENING) - (character in _CLOSING)


def _active(label: str, parameters: tuple[tuple[int, int], ...], argument: str, index: int) -> int | None:
    """Return which parameter an argument is for: by its name, or by its place."""
    names = [found[1] if (found := _NAME.match(label, *place)) else "" for place in parameters]
    named = _KEYWORD.match(argument)
    if named is not None:
        return names.index(named[1]) if named[1] in names else None
    if index < len(parameters):
        return index
    is_any = bool(parameters) and label.startswith("*", parameters[-1][0])
    return len(parameters) - 1 if is_any else None
