"""The strides that blocks ask for with `buffer_dim_align`, so that rows begin at other places."""

from collections.abc import Mapping

from relax_core.ir.attrs import attr
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimExpr, dtype_of
from relax_core.ir.tir import Block, Buffer, BufferStore, PrimFunc

KEY = "buffer_dim_align"

Alignment = Mapping[int, tuple[int, int]]
"""Per dimension a factor and an offset: the stride is the next number that is a multiple of the one and the other."""


def alignments_in(function: PrimFunc) -> Mapping[Buffer, Alignment]:
    """Return what the blocks of a function ask for, of the buffers that they write."""
    found: dict[Buffer, dict[int, tuple[int, int]]] = {}
    for block in preorder(function.body):
        marks = attr(block.annotations, KEY) if isinstance(block, Block) else None
        if isinstance(block, Block) and isinstance(marks, tuple):
            written = _written(block)
            for mark in marks:
                match mark:
                    case (int(number), int(axis), int(factor), int(offset)) if number < len(written) and factor > 0:
                        found.setdefault(written[number], {})[axis] = (factor, offset)
                    case _:
                        pass
    return found


def _written(block: Block) -> tuple[Buffer, ...]:
    """Return the buffers that a block says it writes, or else those that it stores to, in order."""
    if block.writes is not None:
        return tuple(dict.fromkeys(item.buffer for item in block.writes))
    return tuple(dict.fromkeys(item.buffer for item in preorder(block.body) if isinstance(item, BufferStore)))


def strides_of(buffer: Buffer, alignment: Alignment) -> tuple[PrimExpr, ...] | None:
    """Return row-major strides, each made larger to what is asked for; `None` if a size is not known."""
    strides: list[PrimExpr] = []
    stride = 1
    for axis, size in reversed(list(enumerate(buffer.shape))):
        factor, offset = alignment.get(axis, (1, 0))
        stride += (offset - stride) % factor
        strides.insert(0, IntImm(stride, dtype_of(size)))
        extent = constant_value(size)
        if extent is None:
            return None
        stride *= extent
    return tuple(strides)
