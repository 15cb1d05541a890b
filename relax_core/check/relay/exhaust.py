"""Which values no clause of a match takes, and which clauses no value reaches.

See: L. Maranget, "Warnings for pattern matching", JFP 17 (2007). A matrix of patterns is specialised column by column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.ir.relay import (
    Constructor,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternWildcard,
    TypeData,
)

STEP_LIMIT = 20_000
MOST_SHOWN = 4

Row: TypeAlias = tuple[Pattern, ...]
Head: TypeAlias = Constructor | int
"""What a pattern asks for: a constructor, or a tuple of so many fields."""

ANYTHING = PatternWildcard()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the clauses of a match leave out: the shortest pattern as text, or `None`; the numbers of needless clauses.

    `further` are more patterns that are left out, none of which overlaps another; with `missing` they are all of them
    unless `is_cut`. `is_known` is false if the patterns are too many to decide whether anything is left out.
    """

    missing: str | None
    redundant: tuple[int, ...]
    is_known: bool = True
    further: tuple[str, ...] = ()
    is_cut: bool = False


class _TooManyError(Exception):
    """The search took more steps than it may."""


def coverage(patterns: Sequence[Pattern], data_of: Mapping[str, TypeData]) -> Coverage:
    """Return what `patterns`, tried in order, leave out. Complexity: exponential in the worst case, so bounded."""
    search = _Search(data_of)
    rows: list[Row] = []
    redundant: list[int] = []
    try:
        for k, pattern in enumerate(patterns):
            if search.example(rows, (pattern,)) is None:
                redundant.append(k)
            rows.append((pattern,))
        found = search.example(rows, (ANYTHING,))
    except _TooManyError:
        return Coverage(None, (), is_known=False)
    missing: list[Pattern] = []
    is_cut = False
    try:
        while found is not None and not is_cut:
            missing.append(found[0])
            rows.append(found)
            found = search.example(rows, (ANYTHING,))
            is_cut = found is not None and len(missing) == MOST_SHOWN
    except _TooManyError:
        is_cut = True
    shown = sorted(map(_show, missing), key=len)
    return Coverage(next(iter(shown), None), tuple(redundant), further=tuple(shown[1:]), is_cut=is_cut)


def _head(pattern: Pattern) -> Head | None:
    match pattern:
        case PatternConstructor(constructor=constructor):
            return constructor
        case PatternTuple(patterns=fields):
            return len(fields)
        case _:
            return None


def _fields(pattern: Pattern, width: int) -> Row:
    match pattern:
        case PatternConstructor(patterns=fields) | PatternTuple(patterns=fields):
            return (*fields[:width], *(ANYTHING,) * (width - len(fields)))
        case _:
            return (ANYTHING,) * width


def _width(head: Head) -> int:
    return head if isinstance(head, int) else len(head.field_types)


def _same(a: Head | None, b: Head) -> bool:
    if isinstance(a, Constructor) and isinstance(b, Constructor):
        return a is b or (a.name == b.name and a.type_name == b.type_name)
    return a == b


class _Search:
    def __init__(self, data_of: Mapping[str, TypeData]) -> None:
        self._data_of = data_of
        self._steps = 0

    def example(self, rows: list[Row], query: Row) -> Row | None:
        """Return values that `query` matches and no row does."""
        self._steps += 1
        if self._steps > STEP_LIMIT:
            raise _TooManyError
        if not query:
            return None if rows else ()
        wanted = _head(query[0])
        if wanted is not None:
            return self._specialised(rows, query, wanted)
        heads = list[Head]()
        for row in rows:
            head = _head(row[0])
            if head is not None and not any(_same(head, item) for item in heads):
                heads.append(head)
        others = self._others(heads)
        if heads and others is None:
            found = (self._specialised(rows, query, head) for head in self._all(heads))
            return next((item for item in found if item is not None), None)
        rest = self.example([row[1:] for row in rows if _head(row[0]) is None], query[1:])
        return None if rest is None else (_value(others), *rest)

    def _specialised(self, rows: list[Row], query: Row, head: Head) -> Row | None:
        width = _width(head)
        kept = [
            (*_fields(row[0], width), *row[1:]) for row in rows if _head(row[0]) is None or _same(_head(row[0]), head)
        ]
        found = self.example(kept, (*_fields(query[0], width), *query[1:]))
        if found is None:
            return None
        inner = found[:width]
        value = PatternTuple(inner) if isinstance(head, int) else PatternConstructor(head, inner)
        return (value, *found[width:])

    def _all(self, heads: Sequence[Head]) -> Sequence[Head]:
        first = heads[0]
        if isinstance(first, int):
            return heads
        data = self._data_of.get(first.type_name)
        return heads if data is None else data.constructors

    def _others(self, heads: Sequence[Head]) -> tuple[Constructor, ...] | None:
        """Return the constructors that do not occur; an empty tuple if it cannot be said which."""
        if not heads or isinstance(heads[0], int):
            return () if not heads else None
        data = self._data_of.get(heads[0].type_name)
        if data is None or data.is_extern:
            return ()
        found = tuple(item for item in data.constructors if not any(_same(item, head) for head in heads))
        return found or None


def _value(others: tuple[Constructor, ...] | None) -> Pattern:
    return PatternConstructor(others[0], (ANYTHING,) * len(others[0].field_types)) if others else ANYTHING


def _show(pattern: Pattern) -> str:
    match pattern:
        case PatternConstructor(constructor=constructor, patterns=fields):
            return f"{constructor.name}({', '.join(map(_show, fields))})" if fields else constructor.name
        case PatternTuple(patterns=fields):
            return f"({', '.join(map(_show, fields))}{',' if len(fields) == 1 else ''})"
        case _:
            return "_"
