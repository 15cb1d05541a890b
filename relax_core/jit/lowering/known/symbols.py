"""The symbolic dimensions of a prim func, and sizes in terms of them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, binary, const
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Buffer, BufferLoad, LetStmt, PrimFunc


@lru_cache(256)
def shape_symbols(function: PrimFunc) -> tuple[PrimVar, ...]:
    """Return the variables in shapes, strides and offsets of the parameters' buffers, in order of first use.

    A scalar parameter that is a dimension, also of an allocated buffer, is one of them.
    """
    found: dict[PrimVar, None] = {}
    for item in function.buffers:
        buffer = item.buffer
        offset = () if buffer.elem_offset is None else (buffer.elem_offset,)
        for root in (*buffer.shape, *buffer.strides, *offset):
            found.update((node, None) for node in postorder(root) if isinstance(node, PrimVar))
    dims = [dim for buffer in memory_of(function).allocated for dim in buffer.shape]
    for node in postorder(*dims):
        if isinstance(node, PrimVar) and node in function.params:
            found[node] = None
    return tuple(found)


def let_values(function: PrimFunc) -> Mapping[PrimVar, PrimExpr]:
    """Return what `function` binds by `let`: the values that are integers made of other variables alone.

    A variable with two definitions is left out, and so is a value that depends on memory or on a call.
    """
    found: dict[PrimVar, PrimExpr] = {}
    twice: set[PrimVar] = set()
    for item in postorder(function.body):
        if isinstance(item, LetStmt) and item.var.dtype.startswith(("int", "uint")):
            if item.var in found:
                twice.add(item.var)
            if not any(isinstance(part, BufferLoad | Intrinsic) for part in postorder(item.value)):
                found[item.var] = item.value
    return {var: value for var, value in found.items() if var not in twice}


def sized_ahead(buffer: Buffer, values: Mapping[PrimVar, PrimExpr]) -> Buffer:
    """Return `buffer` with a layout in which variables have their `values`; itself if it has none of them."""
    layout = (*buffer.shape, *buffer.strides)
    if not any(item in values for dim in layout for item in postorder(dim) if isinstance(item, PrimVar)):
        return buffer

    def value_of(node: Node) -> Node | None:
        """Rule: a variable -> its value."""
        if not isinstance(node, PrimVar) or node not in values:
            return None
        return rewrite(values[node], value_of, log=RewriteLog())

    shape, strides = (
        tuple(rewrite(dim, value_of, log=RewriteLog()) for dim in dims) for dims in (buffer.shape, buffer.strides)
    )
    return replace(buffer, shape=shape, strides=strides)


def spread(buffer: Buffer) -> Buffer:
    """Return a row of as many elements as the memory of `buffer` has: with strides there are some between its own."""
    if not buffer.strides:
        return buffer
    # Each dimension reaches over no more than its extent times its stride.
    count: PrimExpr = const(1, "int64")
    for dim, stride in zip(buffer.shape, buffer.strides, strict=False):
        count = binary("+", count, binary("*", dim, stride))
    return replace(buffer, shape=(count,), strides=())
