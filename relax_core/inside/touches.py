"""The accesses of each statement, as statements that count them: once for each time that one happens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relax_core.inside.instrument import every
from relax_core.inside.owners import Owners
from relax_core.inside.sites import Layout, Site
from relax_core.ir.node import children
from relax_core.ir.prim import (
    Binary,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    Select,
    Unary,
    binary,
    dtype_of,
    lanes_of,
)
from relax_core.ir.tir import (
    AssertStmt,
    Buffer,
    BufferLoad,
    BufferStore,
    Evaluate,
    IfThenElse,
    LetStmt,
    Stmt,
)

Enclose = Callable[[Stmt], Stmt]
"""Puts the conditions and variables around a statement that an access stands under."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """An access of a statement: the element of the buffer with the memory, and what encloses it there."""

    site: Site
    node: "BufferLoad | BufferStore"
    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    is_write: bool
    enclose: Enclose

    def counted(self, stmt: Stmt) -> Stmt:
        """Return `stmt` for when the access happens, and is inside of its buffer."""
        inside = [
            item
            for dim, index in zip(self.buffer.shape, self.indices, strict=True)
            for item in (binary(">=", index, IntImm(0, dtype_of(index))), binary("<", index, dim))
        ]
        return self.enclose(IfThenElse(every(inside), stmt))


def touches_of(layout: Layout) -> tuple[Touch, ...]:
    """Return the accesses of all statements, in order; those of memory that is not told are left out."""
    owners = Owners(layout.function)
    return tuple(item for site in layout.sites for item in _OfSite(site, owners).touches())


class _OfSite:
    """Yields the accesses of one statement, in the order in which they happen."""

    def __init__(self, site: Site, owners: Owners) -> None:
        self._site = site
        self._owners = owners

    def touches(self) -> Iterator[Touch]:
        """Yield all of them."""
        match self._site.node:
            case BufferStore(indices=indices, value=value) as store:
                for item in (value, *indices):
                    yield from self._loads(item, _itself)
                yield from self._found(store, _itself, is_write=True)
            case IfThenElse(condition=expr) | AssertStmt(condition=expr) | Evaluate(value=expr):
                yield from self._loads(expr, _itself)
            case _:
                pass

    def _found(self, node: "BufferLoad | BufferStore", enclose: Enclose, *, is_write: bool) -> Iterator[Touch]:
        place = self._owners.place(node.buffer, node.indices)
        if place is not None:
            for indices in _lanes(place[1]):
                yield Touch(self._site, node, place[0], indices, is_write, enclose)

    def _loads(self, expr: PrimExpr, enclose: Enclose) -> Iterator[Touch]:
        match expr:
            case BufferLoad(indices=indices):
                for item in indices:
                    yield from self._loads(item, enclose)
                yield from self._found(expr, enclose, is_write=False)
            case Select(condition=condition, true_value=yes, false_value=no, is_lazy=True):
                yield from self._loads(condition, enclose)
                yield from self._loads(yes, _under(enclose, condition))
                yield from self._loads(no, _under(enclose, Unary("not", condition, "bool")))
            case Binary(op="and" | "or" as op, a=a, b=b):
                yield from self._loads(a, enclose)
                yield from self._loads(b, _under(enclose, a if op == "and" else Unary("not", a, "bool")))
            case LetExpr(var=var, value=value, body=body):
                yield from self._loads(value, enclose)
                yield from self._loads(body, lambda stmt: enclose(LetStmt(var, value, stmt)))
            case _:
                for part in children(expr):
                    if isinstance(part, PrimExpr):
                        yield from self._loads(part, enclose)


def _itself(stmt: Stmt) -> Stmt:
    return stmt


def _under(enclose: Enclose, condition: PrimExpr) -> Enclose:
    return lambda stmt: enclose(IfThenElse(condition, stmt))


def _lanes(indices: tuple[PrimExpr, ...]) -> Iterator[tuple[PrimExpr, ...]]:
    """Yield the indices of each lane."""
    count = max((lanes_of(dtype_of(item)) for item in indices), default=1)
    for lane in range(count):
        yield tuple(item if lanes_of(dtype_of(item)) == 1 else _lane(item, lane) for item in indices)


def _lane(index: PrimExpr, lane: int) -> PrimExpr:
    match index:
        case Intrinsic(name="Ramp", args=(base, stride, _)):
            return binary("+", base, binary("*", stride, IntImm(lane, dtype_of(base))))
        case Intrinsic(name="Broadcast", args=(value, _)):
            return value
        case Binary(op=op, a=a, b=b):
            return binary(op, _lane(a, lane), _lane(b, lane))
        case _:
            return index
