"""Whether a prim func writes every element of a buffer before it reads one, so that what was there does not matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from relax_core.ir.integer.affine import Affine, affine_of, affine_of_binding, is_onto
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import count_interval
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import (
    Allocate,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    For,
    LetStmt,
    MatchRegion,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relax_core.jit.lowering.known.work import JUMPS


@dataclass(slots=True)
class _Nest:
    """The loops around a statement, which count from 0 to these extents, and the values of block variables in them."""

    bounds: Bounds
    extents: dict[PrimVar, int] = field(default_factory=dict[PrimVar, int])
    known: dict[PrimVar, Affine] = field(default_factory=dict[PrimVar, Affine])

    def enter_loop(self, loop: For) -> bool:
        """Enter a loop; tell whether it counts from 0 by 1, at least once."""
        extent = self.bounds.constant(loop.extent)
        is_plain = loop.step is None and loop.kind != "thread_binding" and self.bounds.constant(loop.start) == 0
        if extent is None or extent < 1 or not is_plain:
            return False
        self.extents[loop.var] = extent
        return True

    def enter_block(self, block: Block) -> bool:
        """Enter a block; tell whether it is executed in all iterations, with variables that are affine in the loops."""
        if block.predicate is not None:
            return False
        for item in block.iter_vars:
            ranges = {var: count_interval(extent) for var, extent in self.extents.items()}
            value = affine_of_binding(item, self.known, ranges)
            if value is None or item.start is not None:
                return False
            self.known[item.var] = value
        return True

    def offset(self, buffer: Buffer, indices: Sequence[PrimExpr]) -> Affine | None:
        """Return the row-major offset of an access in elements, as an affine form of the loop variables."""
        offset = Affine()
        ranges = {var: count_interval(extent) for var, extent in self.extents.items()}
        for dim, index in zip(buffer.shape, indices, strict=True):
            extent, place = self.bounds.constant(dim), affine_of(index, self.known, ranges)
            if extent is None or place is None or not place.coefficients.keys() <= self.extents.keys():
                return None
            if not place.fits(dtype_of(index), ranges):
                return None
            offset = offset.times(extent).plus(place)
        return offset

    def covers(self, offset: Affine, count: int) -> bool:
        """Tell whether `offset` takes every value of `[0, count)` in the iterations of the loops."""
        terms = ((stride, self.extents[var]) for var, stride in offset.coefficients.items())
        return offset.constant == 0 and is_onto(terms, count)


def writes_all(function: PrimFunc, buffer: Buffer, value_of: Mapping[PrimVar, int]) -> bool:
    """Tell whether `function`, with these values of its symbols, surely writes all of `buffer` before it reads it.

    A kernel that stops does not; what it wrote is of no use to anyone. Looked for is the usual form: the first
    statement that names the buffer is a nest of loops which stores to each element, at the start of a reduction if it
    is one.
    """
    bounds = Bounds(value_of)
    extents = [bounds.constant(dim) for dim in buffer.shape]
    known = [extent for extent in extents if extent is not None]
    if buffer.strides or len(known) < len(extents) or _leaves_or_shares(function, buffer):
        return False
    nest = _Nest(bounds, known={symbol: Affine(value) for symbol, value in value_of.items()})
    return prod(known) == 0 or _covers(function.body, buffer, nest, prod(known))


def _leaves_or_shares(function: PrimFunc, buffer: Buffer) -> bool:
    """Tell whether a jump may leave a loop early, or the buffer may be accessed through an alias."""
    for item in postorder(function.body):
        match item:
            case Intrinsic(name=name) if name in JUMPS:
                return True
            case BufferRef(buffer=shared) | MatchRegion(region=BufferRegion(buffer=shared)) if shared is buffer:
                return True
            case _:
                pass
    return False


def _covers(body: Stmt, buffer: Buffer, nest: _Nest, count: int) -> bool:
    """Tell whether the first statement of `body` that names the buffer stores to all of its `count` elements."""
    stmt: Stmt = body
    root: Stmt | None = None
    while True:
        match stmt:
            case SeqStmt(stmts=stmts):
                naming = [item for item in stmts if _accesses(item, buffer)]
                if not naming:
                    return False
                stmt = naming[0]
            case LetStmt(body=inner) | AttrStmt(body=inner) | Allocate(body=inner) | DeclBuffer(body=inner):
                stmt = inner
            case For(body=inner):
                root = root or stmt
                if not nest.enter_loop(stmt):
                    return False
                stmt = inner
            case Block(iter_vars=iter_vars, init=init, body=inner):
                root = root or (stmt if iter_vars else None)
                if not nest.enter_block(stmt):
                    return False
                if init is not None and _accesses(init, buffer):
                    return isinstance(init, BufferStore) and _starts(stmt, init, nest, count, root or stmt)
                stmt = inner
            case BufferStore(buffer=stored, indices=indices) if stored is buffer:
                offset = nest.offset(buffer, indices)
                return offset is not None and nest.covers(offset, count) and not _loads(root or stmt, buffer)
            case _:
                return False


def _starts(block: Block, init: BufferStore, nest: _Nest, count: int, root: Stmt) -> bool:
    """Tell whether `init` stores to each element before the reduction of `block` first reads it."""
    offset = nest.offset(init.buffer, init.indices)
    if offset is None or not nest.covers(offset, count):
        return False
    for item in block.iter_vars:
        if item.kind == "reduce":
            value = nest.known[item.var]
            # The first values of the loops give the first value of the variable, and no others do.
            is_first = value.constant == 0 and all(step > 0 for step in value.coefficients.values())
            if not is_first or value.coefficients.keys() & offset.coefficients.keys():
                return False
    return all(nest.offset(init.buffer, load.indices) == offset for load in _loads(root, init.buffer))


def _accesses(root: Node, buffer: Buffer) -> bool:
    return any(isinstance(item, BufferLoad | BufferStore) and item.buffer is buffer for item in postorder(root))


def _loads(root: Node, buffer: Buffer) -> list[BufferLoad]:
    return [item for item in postorder(root) if isinstance(item, BufferLoad) and item.buffer is buffer]
