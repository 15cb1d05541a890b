"""Plans as loop nests of TIR: what a transformation is about to emit, written as loops that compute the same values."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Literal, TypeVar

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, For, SeqStmt, Stmt
from relax_core.jit.transforms.loop_nest import Axis, Nest

N = TypeVar("N", bound=Node)
Kind = Literal["serial", "parallel", "vectorized", "unroll"]
Places = Mapping[PrimVar, PrimExpr]
Point = dict[PrimVar, PrimExpr]
NOTHING: Mapping[Node, PrimExpr] = MappingProxyType({})
Body = Callable[[PrimExpr], Stmt]


def over(name: str, extent: int, body: Body, kind: Kind = "serial", dtype: str = "int64") -> Stmt:
    """Make a loop from 0 over `extent` values; one of a single value is its body."""
    if extent == 1:
        return body(IntImm(0, dtype))
    var = PrimVar(name, dtype)
    return For(var, IntImm(0, dtype), IntImm(extent, dtype), body(var), kind)


def over_axes(axes: Sequence[Axis], body: Callable[[dict[PrimVar, PrimExpr]], Stmt]) -> Stmt:
    """Make a loop for each axis, outermost first."""

    def level(depth: int, places: dict[PrimVar, PrimExpr]) -> Stmt:
        if depth == len(axes):
            return body(places)
        axis = axes[depth]
        return over(
            axis.var.name, axis.extent, lambda at: level(depth + 1, places | {axis.var: at}), dtype=axis.var.dtype
        )

    return level(0, {})


def plus(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Add two integers; 0 is left out."""
    match a, b:
        case IntImm(value=0), _:
            return b
        case _, IntImm(value=0):
            return a
        case IntImm(), IntImm():
            return IntImm(a.value + b.value, a.dtype)
        case _:
            return binary("+", a, b)


def times(a: PrimExpr, factor: int) -> PrimExpr:
    """Multiply an integer by a constant."""
    if isinstance(a, IntImm):
        return IntImm(a.value * factor, a.dtype)
    return a if factor == 1 else binary("*", a, const(factor, dtype_of(a)))


def parts(number: PrimExpr, axes: Sequence[Axis]) -> dict[PrimVar, PrimExpr]:
    """Return the place of each axis in the iteration of this number of all of them as one loop."""
    found: dict[PrimVar, PrimExpr] = {}
    for at, axis in enumerate(axes):
        inner = prod(item.extent for item in axes[at + 1 :])
        value = number if inner == 1 else binary("//", number, const(inner, dtype_of(number)))
        found[axis.var] = value if at == 0 else binary("%", value, const(axis.extent, dtype_of(number)))
    return found


def put(nest: Nest, places: Places, what: PrimExpr) -> PrimExpr:
    """Return an expression of the nest at `places` of its axes; variables of its block are what they are bound to."""
    values: dict[PrimVar, PrimExpr] = dict(places)
    for item in () if nest.block is None else nest.block.iter_vars:
        values[item.var] = substituted(item.binding, values)
    return substituted(what, values)


def element(nest: Nest, places: Places) -> BufferLoad:
    """Return the element that the update writes at `places`."""
    update = nest.update
    return BufferLoad(update.buffer, tuple(put(nest, places, index) for index in update.indices))


def store(target: BufferLoad, value: PrimExpr) -> BufferStore:
    """Make a store to an element."""
    return BufferStore(target.buffer, target.indices, value)


def with_total(nest: Nest, places: Places, total: BufferLoad, loaded: Mapping[Node, PrimExpr] = NOTHING) -> PrimExpr:
    """Return the value of the update at `places`, with `total` for the element that it updates, `loaded` for loads."""

    def instead(item: Node) -> Node | None:
        """Rule: the element that is updated -> the total; a load -> where its value was copied to."""
        if item in loaded:
            return loaded[item]
        return total if isinstance(item, BufferLoad) and item.buffer is nest.update.buffer else None

    return put(nest, places, rewrite(nest.update.value, instead, log=RewriteLog()))


def start(nest: Nest, places: Places) -> PrimExpr:
    """Return what the element at `places` is before the first update."""
    return element(nest, places) if nest.init is None else put(nest, places, nest.init.value)


def local(name: str, shape: Sequence[int], dtype: str) -> Buffer:
    """Make a buffer for what is in registers, or on the stack."""
    return Buffer(name, tuple(const(dim, "int64") for dim in shape), dtype, scope="local")


def holding(name: str, buffers: Sequence[Buffer], *stmts: Stmt) -> Block:
    """Make a block of statements with buffers of its own."""
    return Block(name, (), seq(*stmts), alloc_buffers=tuple(buffers))


def seq(*stmts: Stmt) -> Stmt:
    """Put statements one after the other."""
    return stmts[0] if len(stmts) == 1 else SeqStmt(stmts)


def substituted(what: N, values: Places) -> N:
    """Return an expression or a statement with other values of variables."""

    def moved(item: Node) -> Node | None:
        """Rule: variable -> its value."""
        return values.get(item) if isinstance(item, PrimVar) else None

    return rewrite(what, moved, log=RewriteLog())
