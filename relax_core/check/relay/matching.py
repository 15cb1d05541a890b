"""The patterns of `match`: what they bind, whether they fit the value, and whether they cover it.

What no clause takes, and which clauses nothing reaches, is found by specialising a matrix of patterns column by column.

See: L. Maranget, "Warnings for pattern matching", JFP 17 (2007)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.check.relay.context import UNKNOWN, Context, constructor_type
from relax_core.ir.expr import Expr, FuncType, ObjectType, TensorType, TupleType, Type, Var
from relax_core.ir.relay import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from relax_core.ops.relay.show import show_type

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


def bind_clause(context: Context, match_: Match, clause: Clause, value: Type) -> bool:
    """Give the variables of a clause's pattern their types; tell whether the pattern fits `value`."""
    stack: list[tuple[Pattern, Type]] = [(clause.pattern, value)]
    is_sound = True
    while stack:
        pattern, type_ = stack.pop()
        match pattern:
            case PatternVar(var=var):
                _bind(context, var, type_)
            case PatternConstructor(patterns=patterns):
                fields = _constructor_fields(context, pattern, type_, match_.value)
                is_sound = is_sound and fields is not None
                filled = fields or (UNKNOWN,) * len(patterns)
                stack.extend(reversed(tuple(zip(patterns, filled, strict=False))))
            case PatternTuple(patterns=patterns):
                fields = _tuple_fields(context, pattern, type_, match_.value)
                is_sound = is_sound and fields is not None
                filled = fields or (UNKNOWN,) * len(patterns)
                stack.extend(reversed(tuple(zip(patterns, filled, strict=False))))
            case PatternWildcard():
                pass
            case _:
                context.report(pattern, "RY018", f"{type(pattern).__name__} is no pattern")
    return is_sound


def _bind(context: Context, var: Var, type_: Type) -> None:
    if var.annotation is None:
        context.type_of[var] = type_
        return
    declared = context.intake(var.annotation, var, f"the type of %{var.name}")
    context.type_of[var] = declared
    context.unify(var, declared, type_, "RY003", f"what %{var.name} is bound to")


def _constructor_fields(
    context: Context, pattern: PatternConstructor, type_: Type, value: Expr
) -> tuple[Type, ...] | None:
    constructor = pattern.constructor
    made, _ = context.solver.instantiated(
        constructor_type(constructor, context.data_of.get(constructor.type_name)), pattern, f"`{constructor.name}`"
    )
    found = context.solver.find(type_)
    if isinstance(found, TensorType | FuncType | TupleType):
        shown = show_type(context.solver.resolved(found))
        message = f"the pattern {constructor.name} takes a {constructor.type_name}, but the value is {shown}"
        context.report(
            pattern, "RY018", message, "only values of a data type have constructors", related=context.reasons(value)
        )
        return None
    before = len(context.diagnostics)
    context.unify(pattern, found, made.ret, "RY018", f"the pattern {constructor.name}", value)
    if len(context.diagnostics) > before:
        return None
    fields = made.params or ()
    if len(fields) != len(pattern.patterns):
        message = f"{constructor.name} has {len(fields)} fields, the pattern {len(pattern.patterns)}"
        context.report(pattern, "RY017", message, "write _ for a field that does not matter")
        return None
    return fields


def _tuple_fields(context: Context, pattern: PatternTuple, type_: Type, value: Expr) -> tuple[Type, ...] | None:
    count = len(pattern.patterns)
    found = context.solver.find(type_)
    match found:
        case TupleType(fields=fields) if len(fields) == count:
            return fields
        case ObjectType():
            return (found,) * count
        case _ if context.solver.open_hole(found) is not None:
            holes = tuple(
                context.solver.hole(item, "a field of the tuple", is_derived=True) for item in pattern.patterns
            )
            context.unify(pattern, found, TupleType(holes), "RY018", "the pattern", value)
            return holes
        case _:
            message = f"a pattern of {count} fields in parentheses does not fit {context.show(found)}"
            context.report(pattern, "RY018", message, related=context.reasons(value))
            return None


def check_coverage(context: Context, match_: Match) -> None:
    """Report values that no clause takes, unless it is `match?`, and clauses that take nothing."""
    found = coverage([clause.pattern for clause in match_.clauses], context.data_of)
    if not found.is_known:
        context.report(
            match_, "RY020", "the patterns are too many to tell whether they cover all values", severity="note"
        )
    if found.missing is not None and match_.is_complete:
        *others, last = (found.missing, *found.further)
        listed = f"{', '.join(others)} and {last}" if others and not found.is_cut else ", ".join((*others, last))
        context.report(
            match_,
            "RY015",
            f"the match has no clause for {listed}{', and for more' if found.is_cut else ''}",
            f"add `{found.missing} => ...`, or write `match?` for a match that may fail",
        )
    for k in found.redundant:
        clause = match_.clauses[k]
        context.report(
            clause.pattern if clause.pattern.span is not None else clause,
            "RY016",
            f"clause {k + 1} takes nothing: those before it take every value that it matches",
            severity="warning",
        )
