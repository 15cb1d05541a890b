"""The region of a buffer that a statement accesses, in the variables around the statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import add, constant, multiply, split
from relax_core.ir.node import children, preorder
from relax_core.ir.prim import Binary, IntImm, LetExpr, PrimExpr, PrimVar, Select, binary, dtype_of
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.passes.tir.memory.boxes import Number, ends, is_stable

Access = BufferLoad | BufferStore


@dataclass(frozen=True, slots=True)
class Touched:
    """An access with, per dimension, the first and the last place that it takes in one execution of the statement.

    `None` stands for a place that is not known. `is_in_range` tells whether the access is proven to lie in the buffer.
    """

    access: Access
    lows: tuple[Number | None, ...]
    highs: tuple[Number | None, ...]
    is_in_range: bool


def touched(body: Stmt, bounds: Bounds, buffers: Sequence[Buffer]) -> tuple[Touched, ...]:
    """Return the accesses of some buffers in `body`, in the order of the text; `bounds` tells what is around it."""
    walk = _Accesses(bounds, frozenset(buffers))
    return tuple(walk.stmt(body))


@dataclass(slots=True)
class _Accesses:
    """Walks the statements with what holds at each; recursion follows the nesting of the text."""

    bounds: Bounds
    buffers: frozenset[Buffer]
    inside: dict[PrimVar, frozenset[PrimVar]] = field(default_factory=dict[PrimVar, frozenset[PrimVar]])
    """The variables that are bound in the statement, each with those of them that its value depends on."""

    def stmt(self, stmt: Stmt) -> Iterator[Touched]:
        mark = self.bounds.mark()
        match stmt:
            case SeqStmt(stmts=stmts):
                for item in stmts:
                    yield from self.stmt(item)
                    if isinstance(item, AssertStmt):
                        self.bounds.assume(item.condition)
            case BufferStore(indices=indices, value=value):
                yield from self.exprs(value, *indices)
                yield from self.access(stmt)
            case For(start=start, extent=extent):
                yield from self.exprs(start, extent)
                self.enter(stmt)
                yield from self.stmt(stmt.body)
            case LaunchThread(var=var, extent=extent, body=body):
                self.enter(For(var, IntImm(0, var.dtype), extent, body))
                yield from self.stmt(body)
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                yield from self.exprs(condition)
                self.bounds.assume(condition)
                yield from self.stmt(then)
                self.bounds.leave(mark)
                if other is not None:
                    self.bounds.assume(condition, truth=False)
                    yield from self.stmt(other)
            case While(condition=condition, body=body):
                yield from self.exprs(condition)
                self.bounds.assume(condition)
                yield from self.stmt(body)
            case LetStmt(var=var, value=value, body=body):
                yield from self.exprs(value)
                self.let(var, value)
                yield from self.stmt(body)
            case Block():
                yield from self.block(stmt)
            case _:
                yield from self.parts(stmt)
        self.bounds.leave(mark)

    def parts(self, stmt: Stmt) -> Iterator[Touched]:
        for item in children(stmt):
            if isinstance(item, Stmt):
                yield from self.stmt(item)
            elif isinstance(item, PrimExpr):
                yield from self.exprs(item)

    def block(self, block: Block) -> Iterator[Touched]:
        for item in block.iter_vars:
            yield from self.exprs(item.binding)
            self.let(item.var, item.binding)
        if block.predicate is not None:
            yield from self.exprs(block.predicate)
            self.bounds.assume(block.predicate)
        if block.init is not None:
            yield from self.stmt(block.init)
        yield from self.stmt(block.body)

    def enter(self, loop: For) -> None:
        if loop.step is None:
            self.bounds.enter_loop(loop)
        else:
            self.bounds.bind_scalar(loop.var)
        self.inside[loop.var] = frozenset((loop.var,))

    def let(self, var: PrimVar, value: PrimExpr) -> None:
        self.bounds.bind_let(var, value)
        is_known = is_stable(self.bounds, self.bounds.poly(value))
        own = () if is_known else (var,)
        found = (item for part in preorder(value) if isinstance(part, PrimVar) for item in self.inside.get(part, ()))
        self.inside[var] = frozenset((*own, *found))

    def exprs(self, *exprs: PrimExpr) -> Iterator[Touched]:
        for expr in exprs:
            mark = self.bounds.mark()
            match expr:
                case Select(condition=condition, true_value=a, false_value=b, is_lazy=True):
                    yield from self.exprs(condition)
                    for side, truth in ((a, True), (b, False)):
                        self.bounds.assume(condition, truth=truth)
                        yield from self.exprs(side)
                        self.bounds.leave(mark)
                case Binary(op="and" | "or" as op, a=a, b=b):
                    yield from self.exprs(a)
                    self.bounds.assume(a, truth=op == "and")
                    yield from self.exprs(b)
                case LetExpr(var=var, value=value, body=body):
                    yield from self.exprs(value)
                    self.let(var, value)
                    yield from self.exprs(body)
                case BufferLoad(indices=indices):
                    yield from self.exprs(*indices)
                    yield from self.access(expr)
                case _:
                    yield from self.exprs(*(item for item in children(expr) if isinstance(item, PrimExpr)))
            self.bounds.leave(mark)

    def access(self, access: Access) -> Iterator[Touched]:
        if access.buffer not in self.buffers:
            return
        places = [ends(self.bounds, index) for index in access.indices]
        lows = tuple(None if item is None else self.extreme(item[0], is_low=True) for item in places)
        highs = tuple(None if item is None else self.extreme(item[1], is_low=False) for item in places)
        is_in_range = len(places) == len(access.buffer.shape) and all(
            item is not None and self.lies_in(item, size)
            for item, size in zip(places, access.buffer.shape, strict=True)
        )
        yield Touched(access, lows, highs, is_in_range)

    def lies_in(self, place: tuple[Number, Number], size: PrimExpr) -> bool:
        last = add(self.bounds.poly(size), constant(1), -1)
        return self.bounds.is_nonnegative(place[0]) and self.bounds.is_nonnegative(add(last, place[1], -1))

    def extreme(self, p: Number, *, is_low: bool) -> Number | None:
        """Return a number around the statement that `p` is never below, or never above; the innermost goes first."""
        while found := [number for monomial in p for number in monomial if self.is_inside(number)]:
            number = max(found)
            parts = split(p, number)
            if parts is None:
                return None
            sign, atom = self.bounds.interval_of(parts[0]), self.bounds.atoms[number]
            if sign.low < 0 < sign.high:
                return None
            wants_low = (sign.low >= 0) == is_low
            bound = atom.lower if wants_low else atom.upper
            if bound is None:
                bound = constant(atom.interval.low if wants_low else atom.interval.high)
            p = add(multiply(parts[0], bound), parts[1])
        # An atom of the outside may have been met in words of the inside first, which mean nothing around it.
        is_foreign = any(item in self.inside for monomial in p for at in monomial for item in self.variables(at))
        return p if is_stable(self.bounds, p) and not is_foreign else None

    def is_inside(self, number: int) -> bool:
        return any(self.inside.get(item) for item in self.variables(number))

    def variables(self, number: int) -> Iterator[PrimVar]:
        """Yield the variables in the expression of an atom."""
        return (item for item in preorder(self.bounds.atoms[number].expr) if isinstance(item, PrimVar))


def least_of(numbers: Sequence[Number | None], bounds: Bounds) -> Number | None:
    """Return the one of `numbers` that is proven to be below all others; `None` if there is none."""
    known = [item for item in numbers if item is not None]
    if len(known) < len(numbers):
        return None
    return next((p for p in known if all(bounds.is_nonnegative(add(other, p, -1)) for other in known)), None)


def greatest_of(numbers: Sequence[Number | None], bounds: Bounds) -> Number | None:
    """Return the one of `numbers` that is proven to be above all others; `None` if there is none."""
    known = [item for item in numbers if item is not None]
    if len(known) < len(numbers):
        return None
    return next((p for p in known if all(bounds.is_nonnegative(add(p, other, -1)) for other in known)), None)


def written_number(p: Number, bounds: Bounds, dtype: str) -> PrimExpr | None:
    """Write a polynomial as an expression, the constant last; `None` if an atom in it is of another dtype.

    A number that might not fit is the business of whoever asks: indices that lie in a buffer do.
    """
    result: PrimExpr | None = None
    for monomial, count in sorted(p.items(), key=lambda item: (not item[0], item[1] < 0)):
        term: PrimExpr | None = None
        for number in monomial:
            atom = bounds.atoms[number].expr
            if dtype_of(atom) != dtype:
                return None
            term = atom if term is None else binary("*", term, atom)
        size = abs(count)
        if term is None:
            term = IntImm(size, dtype)
        elif size != 1:
            term = binary("*", term, IntImm(size, dtype))
        if result is None:
            result = (
                term if count > 0 else IntImm(-size, dtype) if not monomial else binary("*", term, IntImm(-1, dtype))
            )
        else:
            result = binary("+" if count > 0 else "-", result, term)
    return IntImm(0, dtype) if result is None else result


def enter_scopes(bounds: Bounds, scopes: Sequence[Stmt]) -> None:
    """Declare the variables of the loops and blocks around a statement, the outermost first.

    The variables of a block stand for themselves: what is in the block is written in them.
    """
    for scope in scopes:
        match scope:
            case For(step=None):
                bounds.enter_loop(scope)
            case For(var=var):
                bounds.bind_scalar(var)
            case LaunchThread(var=var, extent=extent, body=body):
                bounds.enter_loop(For(var, IntImm(0, var.dtype), extent, body))
            case Block(iter_vars=items):
                for item in items:
                    start = item.start or IntImm(0, item.var.dtype)
                    bounds.enter_loop(For(item.var, start, item.extent, scope.body))
            case LetStmt(var=var, value=value):
                bounds.bind_let(var, value)
            case _:
                pass


def region_of(buffer: Buffer, accesses: Sequence[Touched], bounds: Bounds) -> BufferRegion | None:
    """Return the smallest box that holds accesses of a buffer; `None` if none is known."""
    starts: list[PrimExpr] = []
    extents: list[PrimExpr] = []
    for at in range(len(buffer.shape)):
        low = least_of([item.lows[at] for item in accesses], bounds)
        high = greatest_of([item.highs[at] for item in accesses], bounds)
        if low is None or high is None:
            return None
        dtype = dtype_of(accesses[0].access.indices[at])
        start = written_number(low, bounds, dtype)
        extent = written_number(add(add(high, low, -1), constant(1)), bounds, dtype)
        if start is None or extent is None:
            return None
        starts.append(start)
        extents.append(extent)
    return BufferRegion(buffer, tuple(starts), tuple(extents))
