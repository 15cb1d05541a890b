"""Where expressions of a prim func occur that are worth a variable: values without loads and calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from relax_core.ir.node import Node, children
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    LetExpr,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    dtype_of,
)
from relax_core.ir.tir import (
    AttrStmt,
    BufferStore,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    ScopedStmt,
    SeqStmt,
    Stmt,
    While,
)

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "truncdiv", "truncmod", "min", "max", "&", "|", "^", "<<", ">>")
DIVISIONS = ("//", "%", "truncdiv", "truncmod", "<<", ">>")

Place = tuple[tuple[int, int], ...]
"""The way to a statement: from outside to inside the number of each list of statements, and the position in it."""


@dataclass(slots=True)
class Occurrence:
    """An expression at a place. One that is `lazy` is evaluated there only if a condition holds."""

    key: int
    expr: PrimExpr
    place: Place
    is_lazy: bool
    parts: "list[Occurrence]" = field(default_factory=list["Occurrence"])
    is_covered: bool = False

    def cover(self) -> None:
        """Mark what is in this occurrence as computed by the variable that stands for another one."""
        for part in self.parts:
            part.is_covered = True
            part.cover()

    def move(self, place: Place) -> None:
        """Let what is in this occurrence be evaluated at another place, whatever holds."""
        for part in self.parts:
            part.place, part.is_lazy = place, False
            part.move(place)


@dataclass(slots=True)
class ExpressionNumbers:
    """Numbers expressions that are written alike, and knows of each its height and whether it may stop a run."""

    numbers: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    heights: list[int] = field(default_factory=list[int])
    sizes: list[int] = field(default_factory=list[int])
    may_stop: list[bool] = field(default_factory=list[bool])

    def number(self, expr: PrimExpr) -> int | None:
        """Return the number of an expression, `None` if it is none that a variable may stand for."""
        match expr:
            case PrimVar():
                return self._numbered(("var", id(expr)), (), may_stop=False)
            case IntImm(value=value, dtype=dtype) | FloatImm(value=value, dtype=dtype):
                return self._numbered(("number", repr(value), dtype), (), may_stop=False)
            case Binary(op=op) if op in ARITHMETIC:
                return self._of(expr, op, may_stop=op in DIVISIONS and not _is_safe(op, expr.b))
            case Unary(op=op):
                return self._of(expr, op, may_stop=False)
            case Cast(value=value):
                is_narrowing = dtype_of(value).startswith(("float", "bfloat")) and not expr.dtype.startswith("float")
                return self._of(expr, "cast", may_stop=is_narrowing)
            case _:
                return None

    def _of(self, expr: PrimExpr, word: str, *, may_stop: bool) -> int | None:
        parts = [self.number(part) for part in children(expr) if isinstance(part, PrimExpr)]
        known = tuple(part for part in parts if part is not None)
        if len(known) < len(parts):
            return None
        return self._numbered((word, dtype_of(expr), *known), known, may_stop=may_stop)

    def _numbered(self, key: tuple[object, ...], parts: Sequence[int], *, may_stop: bool) -> int:
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.numbers)
            self.heights.append(max((self.heights[part] + 1 for part in parts), default=0))
            self.sizes.append(1 + sum(self.sizes[part] for part in parts))
            self.may_stop.append(may_stop or any(self.may_stop[part] for part in parts))
        return found


def _is_safe(op: str, b: PrimExpr) -> bool:
    """Tell whether an operation with this right side is defined for any left one."""
    return isinstance(b, IntImm) and (b.value > 0 if op not in ("<<", ">>") else 0 <= b.value < 31)


@dataclass(slots=True)
class Occurrences:
    """Walks a function and collects occurrences; lists of statements are numbered in the order of the walk."""

    expressions: ExpressionNumbers = field(default_factory=ExpressionNumbers)
    found: list[Occurrence] = field(default_factory=list[Occurrence])
    lists: int = 0

    def inside(self, body: Stmt, around: Place) -> None:
        """Walk a list of statements, or the one that stands for a list of one; recursion follows the text."""
        number = self.lists
        self.lists += 1
        for position, item in enumerate(items_of(body)):
            self.stmt(item, (*around, (number, position)))

    def stmt(self, stmt: Stmt, place: Place) -> None:
        for expr in exprs_of(stmt):
            self.expr(expr, place, is_lazy=False)
        for body in bodies_of(stmt):
            self.inside(body, place)

    def expr(self, expr: PrimExpr, place: Place, *, is_lazy: bool) -> list[Occurrence]:
        """Collect the outermost occurrences in an expression, each with those in it."""
        if isinstance(expr, LetExpr):
            return []
        number = self.expressions.number(expr)
        parts = [
            occurrence
            for at, part in enumerate(children(expr))
            if isinstance(part, PrimExpr)
            for occurrence in self.expr(part, place, is_lazy=is_lazy or _is_lazy_part(expr, at))
        ]
        if number is None or not self.expressions.heights[number] or not _has_variable(expr):
            return parts
        occurrence = Occurrence(number, expr, place, is_lazy, parts)
        self.found.append(occurrence)
        return [occurrence]


def _is_lazy_part(expr: PrimExpr, at: int) -> bool:
    match expr:
        case Select():
            return at > 0
        case Binary(op="and" | "or"):
            return at == 1
        case _:
            return False


def _has_variable(expr: PrimExpr) -> bool:
    stack: list[Node] = [expr]
    while stack:
        item = stack.pop()
        if isinstance(item, PrimVar):
            return True
        stack += children(item)
    return False


def items_of(body: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a list."""
    return body.stmts if isinstance(body, SeqStmt) else (body,)


def exprs_of(stmt: Stmt) -> Iterator[PrimExpr]:
    """Yield the expressions that a statement itself evaluates, in their order; sizes of memory are none."""
    match stmt:
        case LaunchThread() | AttrStmt():
            return
        case BufferStore(indices=indices, value=value):
            yield from (value, *indices)
        case LetStmt(value=value):
            yield value
        case _ if isinstance(stmt, ScopedStmt):
            return
        case For(start=start, extent=extent):
            yield from (start, extent)
        case _:
            yield from (part for part in children(stmt) if isinstance(part, PrimExpr))


def bodies_of(stmt: Stmt) -> Iterator[Stmt]:
    """Yield the lists of statements in a statement."""
    match stmt:
        case IfThenElse(then_body=then, else_body=other):
            yield from (then,) if other is None else (then, other)
        case For(body=body) | While(body=body):
            yield body
        case _ if isinstance(stmt, ScopedStmt):
            yield stmt.body
        case _:
            return
