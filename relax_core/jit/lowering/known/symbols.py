"""The symbolic dimensions of a prim func."""

from functools import lru_cache

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc


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
