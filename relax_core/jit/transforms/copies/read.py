"""Recognise a loop nest as a copy, with adjacent axes fused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const, dtype_of
from relax_core.ir.tir import BufferLoad, For, Stmt
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.loop_nest import Access, Axis, Nest
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.nest_values import element_at, offset_at
from relax_core.jit.transforms.plan_nest import element, over, parts, plus, put, times
from relax_core.jit.transforms.reductions.reduction import may_share
from relax_core.jit.transforms.transform import Refusal


@dataclass(frozen=True, slots=True)
class CopyDim:
    """An axis of a copy, of one or several of the nest: how far apart its elements are read, and are written."""

    extent: int
    read: int
    written: int
    axes: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """A nest that copies elements. `dims` are its axes, as few as possible, by how far apart they write; `work` is the
    fuel of one element.
    """

    nest: Nest
    source: Access
    target: Access
    dims: tuple[CopyDim, ...]
    work: int

    def bases(self, state: State) -> tuple[str, str]:
        """Emit the addresses that are read and written in the first iteration of all axes."""
        zeros = {axis.var: "0" for axis in self.nest.axes}
        source, target = (
            element_at(state, access.storage, offset_at(state, access.offset, zeros))
            for access in (self.source, self.target)
        )
        return source, target

    def behind(self, state: State, pointer: str, place: str, stride: int) -> str:
        """Emit the address `place` steps of `stride` elements behind another."""
        if place == "0" or stride == 0:
            return pointer
        distance = state.code.emit(f"mul nsw i64 {place}, {stride}")
        return state.code.emit(
            f"getelementptr inbounds {self.source.storage.scalar.memory}, ptr {pointer}, i64 {distance}"
        )


def copied(copy: Copy, at: Sequence[tuple[CopyDim, PrimExpr]]) -> tuple[BufferLoad, BufferLoad]:
    """Return the elements that are written and read at places of the axes, as the text has them."""
    nest = copy.nest
    places: dict[PrimVar, PrimExpr] = {axis.var: axis.loop.start for axis in nest.axes}
    for dim, number in at:
        counted = parts(number, dim.axes)
        places |= {axis.var: plus(axis.loop.start, counted[axis.var]) for axis in dim.axes}
    source = put(nest, places, nest.update.value)
    assert isinstance(source, BufferLoad), "a copy reads one element"
    return element(nest, places), source


def first_of(number: PrimExpr, extent: int, size: int) -> PrimExpr:
    """Return where a piece of `size` values of an axis starts: the last one ends with the axis."""
    if extent <= size:
        return IntImm(0, dtype_of(number))
    first = times(number, size)
    return first if extent % size == 0 else binary("min", first, const(extent - size, dtype_of(number)))


def over_dims(dims: Sequence[CopyDim], body: Callable[[list[tuple[CopyDim, PrimExpr]]], Stmt]) -> Stmt:
    """Make a loop for each axis."""
    if not dims:
        return body([])
    dim, *others = dims
    name, dtype = "_".join(axis.var.name for axis in dim.axes), dim.axes[-1].var.dtype
    return over(name, dim.extent, lambda at: over_dims(others, lambda more: body([(dim, at), *more])), dtype=dtype)


def read_copy(state: State, loop: For) -> Copy | Refusal | None:
    """Read the nest that starts at `loop` as a copy between buffers that share no memory."""
    nest = read_nest(state, loop, may_start_later=True)
    if isinstance(nest, str) or nest.init is not None or nest.reduce or not isinstance(nest.update.value, BufferLoad):
        return None
    source, target = nest.accesses[nest.update.value], nest.accesses[nest.update]
    scalar = target.storage.scalar
    # A kernel reads any byte but 0 as true, and writes 1 for it.
    if nest.work == 0 or source.storage.scalar != scalar or scalar.kind == "bool":
        return None
    if target.storage.memory is not None or may_share(nest, source.node) or nest.overlapping is not None:
        return Refusal("the elements that it reads and writes may be the same")
    dims = [CopyDim(axis.extent, source.offset.of(axis.var), target.offset.of(axis.var), (axis,)) for axis in nest.axes]
    work = max(static_work(state, nest.block or nest.update) or 1, 1)
    return Copy(nest, source, target, joined(dims), work)


def joined(dims: Sequence[CopyDim]) -> tuple[CopyDim, ...]:
    """Return the axes of a copy with those that together are one axis taken as one, the farthest written first."""
    found: list[CopyDim] = []
    for dim in sorted((dim for dim in dims if dim.extent > 1), key=lambda dim: -dim.written):
        above = found[-1] if found else None
        is_one = above is not None and above.read == dim.read * dim.extent and above.written == dim.written * dim.extent
        if above is not None and is_one:
            found[-1] = CopyDim(above.extent * dim.extent, dim.read, dim.written, above.axes + dim.axes)
        else:
            found.append(dim)
    return tuple(found)
