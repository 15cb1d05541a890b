"""Which memory an access touches: the buffer that a view is of, and the indices there."""

from dataclasses import dataclass
from math import prod

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary
from relax_core.ir.tir import Block, Buffer, BufferRef, BufferRegion, DeclBuffer, PrimFunc


@dataclass(frozen=True, slots=True, eq=False)
class _Renamed:
    """A buffer that is another one with another shape, from its first element on."""

    buffer: Buffer


class Owners:
    """The views of a function: buffers that stand for a region of another one, or for its memory in another shape."""

    def __init__(self, function: PrimFunc) -> None:
        memory = memory_of(function)
        self._owned = frozenset((*memory.params, *memory.allocated))
        self._views: dict[Buffer, BufferRegion | _Renamed] = {}
        for item in postorder(function.body):
            match item:
                case Block(matches=matches):
                    self._views.update((match.buffer, match.region) for match in matches)
                case DeclBuffer(buffer=buffer, pointer=PrimExpr() as pointer):
                    base = memory.base(pointer)
                    is_start = isinstance(pointer, BufferRef | PrimVar)
                    if base is not None and is_start and base.dtype == buffer.dtype:
                        self._views[buffer] = _Renamed(base)
                case _:
                    pass

    def place(self, buffer: Buffer, indices: tuple[PrimExpr, ...]) -> "tuple[Buffer, tuple[PrimExpr, ...]] | None":
        """Return the buffer with memory of its own that has `buffer[indices]`, and where; `None` if it is not told."""
        seen: set[Buffer] = set()
        while buffer not in self._owned:
            view = self._views.get(buffer)
            if view is None or buffer in seen or buffer.strides:
                return None
            seen.add(buffer)
            match view:
                case BufferRegion(buffer=base, starts=starts):
                    missing = len(starts) - len(indices)
                    offsets = (*[IntImm(0, "int32")] * missing, *indices)
                    indices = tuple(binary("+", start, item) for start, item in zip(starts, offsets, strict=False))
                case _Renamed(buffer=base):
                    moved = _renamed(buffer, base, indices)
                    if moved is None:
                        return None
                    indices = moved
            buffer = base
        return buffer, indices


def _renamed(buffer: Buffer, base: Buffer, indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...] | None:
    if len(buffer.shape) == len(base.shape) and all(map(structural_equal, buffer.shape, base.shape)):
        return indices
    flat = flat_index(buffer, indices)
    if buffer.elem_offset is not None and not isinstance(buffer.elem_offset, PrimVar):
        flat = binary("+", buffer.elem_offset, flat)
    sizes = [dim.value for dim in base.shape if isinstance(dim, IntImm)]
    if len(base.shape) == 1:
        return (flat,)
    if len(sizes) < len(base.shape):
        return None
    found: list[PrimExpr] = []
    for axis, size in enumerate(sizes):
        inner = prod(sizes[axis + 1 :])
        part = flat if inner == 1 else binary("//", flat, IntImm(inner))
        found.append(part if axis == 0 else binary("%", part, IntImm(size)))
    return tuple(found)


def flat_index(buffer: Buffer, indices: tuple[PrimExpr, ...]) -> PrimExpr:
    """Return the number of an element in the order of memory."""
    flat: PrimExpr = IntImm(0, "int32")
    for dim, index in zip(buffer.shape, indices, strict=True):
        flat = binary("+", binary("*", flat, dim), index)
    return flat
