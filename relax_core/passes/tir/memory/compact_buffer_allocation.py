"""Let each buffer be as large as the region of it that is used where it is allocated."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.polynomial import add, constant, multiply, split
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, PrimExpr, binary, dtype_of, is_number, lanes_of
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferRef, BufferRegion, BufferStore, PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of
from relax_core.passes.tir.memory.alignment import Alignment, alignments_in, strides_of
from relax_core.passes.tir.memory.boxes import Number, atoms_in
from relax_core.passes.tir.memory.initialised import first_foreign_load
from relax_core.passes.tir.memory.regions import (
    Touched,
    enter_scopes,
    greatest_of,
    least_of,
    touched,
    written_number,
)
from relax_core.passes.tir.memory.scopes import Path, paths_of


@dataclass(frozen=True, slots=True)
class Compact:
    """A smaller buffer, and what is taken off the indices of the buffer that it replaces."""

    buffer: Buffer
    starts: tuple[PrimExpr, ...]


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Shrink the buffers of blocks to the box that holds all accesses in one execution of the block.

    A dimension shrinks where both ends of the box are proven, all accesses are proven to lie in the buffer, and the
    extent is the same for all executions. Places that were apart may become one, so that where the box moves from
    execution to execution, each has to write what it reads. What is left is told in a remark. TVM takes regions that
    it cannot bound, too, and does not ask who wrote what is read. Buffers with other names, strides, or vectors as
    indices stay as they are. What `storage_align` asks for becomes strides.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _compacted(function, ctx))


def _compacted(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    found: dict[Buffer, Compact] = {}
    alignments = alignments_in(function)
    for path in paths_of(function.body):
        block = path[-1]
        if isinstance(block, Block):
            for buffer in block.alloc_buffers:
                why = _obstacle(function, block, buffer)
                if why:
                    ctx.remark(block, "missed", f"{buffer.name} keeps its shape: {why}")
                    continue
                compact = _compact(function, path, block, buffer, ctx)
                if buffer in alignments:
                    compact = _aligned(compact or _whole(buffer), alignments[buffer], block, ctx)
                if compact is not None and compact.buffer is not buffer:
                    found[buffer] = compact
    if not found:
        return function

    def shrink(node: Node) -> Node | None:
        """Rule: B[i, j] -> B[i - i, j] in the part of B that is used."""
        match node:
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) if buffer in found:
                made = found[buffer]
                return replace(node, buffer=made.buffer, indices=tuple(map(_minus, node.indices, made.starts)))
            case BufferRegion(buffer=buffer, starts=starts) if buffer in found:
                made = found[buffer]
                return replace(node, buffer=made.buffer, starts=tuple(map(_minus, starts, made.starts)))
            case Block(alloc_buffers=buffers) if any(item in found for item in buffers):
                smaller = tuple(found[item].buffer if item in found else item for item in buffers)
                return replace(node, alloc_buffers=smaller)
            case _:
                return None

    return ctx.rewrite(function, shrink)


def _minus(index: PrimExpr, start: PrimExpr) -> PrimExpr:
    match index, start:
        case _, IntImm(value=0):
            return index
        case IntImm(value=a), IntImm(value=b):
            return replace(index, value=a - b)
        case _:
            return binary("-", index, start)


def _compact(function: PrimFunc, path: Path, block: Block, buffer: Buffer, ctx: PassContext) -> Compact | None:
    """Return the smaller buffer for one that `block` allocates, `None` if it stays."""
    bounds = bounds_of(function)
    enter_scopes(bounds, path)
    accesses = touched(block.body, bounds, (buffer,))
    if not accesses:
        return None
    outside = next((item.access for item in accesses if not item.is_in_range), None)
    if outside is not None:
        message = f"{buffer.name} keeps its shape: an access is not proven to lie in it"
        ctx.remark(block, "missed", message, (outside,))
        return None
    made = _Sides(buffer, accesses, bounds)
    sides = [made.side(at) for at in range(len(buffer.shape))]
    if not any(made.is_smaller):
        if made.is_unknown:
            ctx.remark(block, "missed", f"{buffer.name} keeps its shape: the region that is used is not known")
        return None
    if any(made.moves):
        load = first_foreign_load(block.body, buffer, bounds)
        if load is not None:
            message = f"{buffer.name} keeps its shape: an element may be read that another iteration wrote"
            ctx.remark(block, "missed", message, (load,))
            return None
    smaller = replace(buffer, shape=tuple(size for _, size in sides))
    ctx.remark(block, "applied", f"{buffer.name} has the shape {_shape(smaller)}, not {_shape(buffer)}")
    return Compact(smaller, tuple(start for start, _ in sides))


def _whole(buffer: Buffer) -> Compact:
    return Compact(buffer, tuple(IntImm(0, dtype_of(size)) for size in buffer.shape))


def _aligned(compact: Compact, alignment: Alignment, block: Block, ctx: PassContext) -> Compact:
    """Return the buffer with strides for its dimensions; the same if a size is not known."""
    buffer = compact.buffer
    strides = strides_of(buffer, alignment)
    if strides is None:
        ctx.remark(block, "missed", f"{buffer.name} has no strides: its sizes are not known")
        return compact
    ctx.remark(block, "applied", f"{buffer.name} has the strides ({', '.join(map(show_prim, strides))})")
    return replace(compact, buffer=replace(buffer, strides=strides))


def _obstacle(function: PrimFunc, block: Block, buffer: Buffer) -> str:
    """Return why a buffer stays as it is, whatever is used of it; empty if nothing says so."""
    memory = memory_of(function)
    refs = (item for item in preorder(function.body) if isinstance(item, BufferRef))
    if any(item.buffer is buffer for item in refs) or any(
        memory.owner(item) in (buffer, None) for item in memory.views
    ):
        return "its memory is used under another name, or as a whole"
    if buffer.strides or (buffer.elem_offset is not None and not is_number(buffer.elem_offset, 0)):
        return "it says where its elements lie"
    if any(lanes_of(dtype_of(index)) > 1 for item in preorder(block.body) if isinstance(item, BufferLoad | BufferStore)
           and item.buffer is buffer for index in item.indices):  # fmt: skip
        return "it is accessed by vectors"
    return ""


@dataclass(slots=True)
class _Sides:
    """The parts of the dimensions of a buffer that accesses use."""

    buffer: Buffer
    accesses: Sequence[Touched]
    bounds: Bounds
    is_smaller: list[bool] = field(default_factory=list[bool])
    moves: list[bool] = field(default_factory=list[bool])
    is_unknown: bool = False

    def side(self, at: int) -> tuple[PrimExpr, PrimExpr]:
        """Return where the used part of a dimension starts, and how large it is."""
        size = self.buffer.shape[at]
        whole = (IntImm(0, dtype_of(size)), size)
        low, high = self._ends(at)
        if low is None or high is None:
            self.is_unknown = True
            return whole
        extent = self._same_everywhere(add(add(high, low, -1), constant(1)))
        room = None if extent is None else add(self.bounds.poly(size), extent, -1)
        if extent is None or room is None or not self.bounds.is_nonnegative(room):
            self.is_unknown = True
            return whole
        dtype = dtype_of(self.accesses[0].access.indices[at])
        start = written_number(low, self.bounds, dtype)
        count = written_number(extent, self.bounds, dtype_of(size))
        if not room or start is None or count is None:
            return whole
        self.is_smaller.append(True)
        self.moves.append(any(not self.bounds.atoms[number].is_symbol for number in atoms_in(low)))
        return start, count

    def _ends(self, at: int) -> tuple[Number | None, Number | None]:
        """Return the first and the last place that is used; all accesses lie in the buffer, so that these do."""
        last = add(self.bounds.poly(self.buffer.shape[at]), constant(1), -1)
        lows = [self._within(item.lows[at], constant(0), 1) for item in self.accesses]
        highs = [self._within(item.highs[at], last, -1) for item in self.accesses]
        return least_of(lows, self.bounds), greatest_of(highs, self.bounds)

    def _within(self, place: Number | None, end: Number, sign: int) -> Number | None:
        """Return `end` for a place that is proven to lie beyond it, or is not known."""
        is_beyond = place is None or self.bounds.is_nonnegative(add({}, add(end, place, -1), sign))
        return end if is_beyond else place

    def _same_everywhere(self, extent: Number) -> Number | None:
        """Return a number of symbols that `extent` is never above."""
        while found := [number for number in atoms_in(extent) if not self.bounds.atoms[number].is_symbol]:
            number = max(found)
            parts, atom = split(extent, number), self.bounds.atoms[number]
            sign = None if parts is None else self.bounds.interval_of(parts[0])
            if parts is None or sign is None or sign.low < 0 < sign.high:
                return None
            bound = atom.upper if sign.low >= 0 else atom.lower
            if bound is None:
                bound = constant(atom.interval.high if sign.low >= 0 else atom.interval.low)
            extent = add(multiply(parts[0], bound), parts[1])
        return extent


def _shape(buffer: Buffer) -> str:
    return f"({', '.join(map(show_prim, buffer.shape))}{',' if len(buffer.shape) == 1 else ''})"


PASS = Pass(
    "CompactBufferAllocation",
    "Lets buffers be as large as the part of them that is used.",
    run,
    needs=("opaque blocks",),
    see="tvm/src/s_tir/transform/compact_buffer_region.cc",
    dialect="tir",
)
