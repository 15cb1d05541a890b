"""Transpositions that need not be made: a product that reads the transposed matrix can read the matrix itself."""

from relax_core.analysis.tir_memory import written_buffers
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, PrimExpr, PrimVar
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRef,
    BufferRegion,
    BufferStore,
    For,
    MatchRegion,
    PrimFunc,
)
from relax_core.jit.lowering.known.ranges import access_report
from relax_core.jit.transforms.contractions.read import accumulation

Order = tuple[int, ...]
"""A permutation of axes: axis `n` of what is transposed is axis `order[n]` of the operand."""


def transposition_of(function: PrimFunc) -> Order | None:
    """Return how a prim func permutes the axes of its only operand; `None` if it does anything else."""
    buffers = [function.buffer_of(param) for param in function.params]
    loops, body = _loops(function)
    if len(buffers) != 2 or not isinstance(body, BufferStore) or not isinstance(body.value, BufferLoad):
        return None
    source, target = body.value.buffer, body.buffer
    if buffers != [source, target] or not (_is_plain(source) and _is_plain(target)):
        return None
    written, read = (
        [loops.get(index, -1) for index in item.indices if isinstance(index, PrimVar)] for item in (body, body.value)
    )
    extents = [constant_value(dim) for dim in target.shape]
    is_whole = len({*body.indices}) == len(extents) == len(loops) and written == extents
    if not is_whole or len(read) != len(source.shape) or {*body.value.indices} != {*body.indices}:
        return None
    return tuple(body.value.indices.index(index) for index in body.indices)


def _loops(function: PrimFunc) -> "tuple[dict[PrimExpr, int | None], object]":
    """Return the only statement, and the extents of the loops around it by the variables that it uses."""
    loops: dict[PrimExpr, int | None] = {}
    body: object = function.body
    while isinstance(body, For):
        if constant_value(body.start) != 0 or body.step is not None or body.kind == "thread_binding":
            return {}, None
        loops[body.var] = constant_value(body.extent)
        body = body.body
    if not isinstance(body, Block):
        return loops, body
    if body.predicate is not None or body.matches or body.alloc_buffers or body.init is not None:
        return {}, None
    if any(item.kind != "spatial" or item.start is not None or item.binding not in loops for item in body.iter_vars):
        return {}, None
    return {item.var: loops[item.binding] for item in body.iter_vars}, body.body


def _is_plain(buffer: Buffer) -> bool:
    return not buffer.strides and buffer.elem_offset is None


def reading_untransposed(function: PrimFunc, position: int, order: Order, log: RewriteLog) -> PrimFunc | None:
    """Return a sum of products that takes for the parameter at `position` what is transposed by `order` to give it.

    `None` if the prim func is something else, or may read outside of a buffer, which it would then say of another one.
    """
    buffer = function.buffer_of(function.params[position])
    if (
        buffer is None
        or not _is_plain(buffer)
        or buffer in written_buffers(function)
        or len(buffer.shape) != len(order)
    ):
        return None
    inside = [*postorder(function.body)]
    loads = [item for item in inside if isinstance(item, BufferLoad) and item.buffer is buffer]
    is_passed = any(isinstance(item, BufferRef | MatchRegion) for item in inside)
    if (
        len(loads) != 1
        or is_passed
        or not _is_product(function)
        or not all(item.proven for item in access_report(function))
    ):
        return None
    operand = Buffer(buffer.name, _permuted(buffer.shape, order), buffer.dtype, scope=buffer.scope, span=buffer.span)

    def untransposed(item: Node) -> Node | None:
        """Rule: B_transposed[i, j] -> B[j, i]."""
        match item:
            case BufferLoad(buffer=found, indices=indices) if found is buffer:
                return BufferLoad(operand, _permuted(indices, order), span=item.span)
            case BufferRegion(buffer=found, starts=starts, extents=extents) if found is buffer:
                return BufferRegion(operand, _permuted(starts, order), _permuted(extents, order), span=item.span)
            case BufferParam(handle=handle, buffer=found) if found is buffer:
                return BufferParam(handle, operand, is_inline=item.is_inline, span=item.span)
            case _:
                return None

    return rewrite(function, untransposed, log=log)


def _permuted(items: tuple[PrimExpr, ...], order: Order) -> tuple[PrimExpr, ...]:
    """Return the sizes or indices of the operand, from those of what it gives when it is transposed."""
    return tuple(items[order.index(axis)] for axis in range(len(order)))


def _is_product(function: PrimFunc) -> bool:
    """Tell whether a prim func sums up products, and does nothing else."""
    body: object = function.body
    while isinstance(body, For):
        body = body.body
    store = body.body if isinstance(body, Block) else body
    found = accumulation(store) if isinstance(store, BufferStore) else None
    return found is not None and isinstance(found.term, Binary) and found.term.op == "*"
