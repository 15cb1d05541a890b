"""Copies of operands: guarded ones are staged in a box, padding included; others are packed in panels for a tile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from relax_core.ir.integer.affine import Affine
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.jit.lowering.scalars.scalar import lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.contraction import Dim, Edge, Guard, Operand, box_of, box_size
from relax_core.jit.transforms.contractions.kernel import TileContext, distance_of
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.contractions.values import Part, Source
from relax_core.jit.transforms.repeat import begin_of, repeat
from relax_core.jit.transforms.vector_code import (
    QUARTER_BITS,
    at_distance,
    load_apart,
    load_masked,
    load_vector,
    splat,
    stack_array,
    store_vector,
    transposed,
)


@dataclass(frozen=True, slots=True)
class Panel:
    """Memory for a panel: `strides` are those of the reduce axes, counted from the first term of a block."""

    pointer: str
    strides: Mapping[PrimVar, int]

    @classmethod
    def made(cls, state: State, tiling: Tiling, node: PrimExpr) -> "Panel":
        """Give a panel memory on the stack."""
        scalar = tiling.contraction.operands[node].storage.scalar
        step = tiling.width
        strides: dict[PrimVar, int] = {}
        for dim in reversed(tiling.contraction.reduce):
            strides[dim.var] = step
            step *= dim.extent
        return cls(stack_array(state, "panel", scalar, tiling.panel_size), strides)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of an operand's columns; `start` and `target` are the first column where it is read and in the panel."""

    context: TileContext
    part: Part
    source: Source
    panel: Panel
    start: str
    target: str

    @property
    def memory(self) -> str:
        """The LLVM type of an element."""
        return self.source.storage.scalar.memory

    @property
    def stride(self) -> int:
        """How far the columns lie apart."""
        return self.source.offset.of(self.context.tiling.columns.var)

    def active(self, vector: int) -> int:
        """Return how many lanes of a vector are loaded."""
        lanes = self.context.tiling.lanes
        return lanes if self.source.is_whole else self.part.active(vector, lanes)

    def moved(self, dim: Dim, number: str) -> "_Copy":
        """Return the copy at a value of a reduce axis."""
        code = self.context.state.code

        def at(pointer: str, step: int) -> str:
            return at_distance(code, pointer, self.memory, code.emit(f"mul nsw i64 {number}, {step}"))

        start = at(self.start, self.source.offset.of(dim.var))
        return replace(self, start=start, target=at(self.target, self.panel.strides[dim.var]))


def pack(context: TileContext, part: Part, node: PrimExpr, panel: Panel) -> Source:
    """Emit the copy of an operand's columns for the terms of a block; return where it is then read."""
    tiling, code = context.tiling, context.state.code
    source = context.sources[node]
    memory = source.storage.scalar.memory
    columns, reduce = tiling.columns, tiling.contraction.reduce
    first = code.emit(f"mul nsw i64 {context.block.first}, {-panel.strides[reduce[0].var]}")
    pointer = at_distance(code, panel.pointer, memory, first)
    along = _transposed_dim(context, source)
    loops = [dim for dim in reduce if dim is not along]

    def walk(position: int, copy: _Copy) -> None:
        if position < len(loops):
            dim = loops[position]
            _over(context, dim, lambda number: walk(position + 1, copy.moved(dim, number)))
        elif along is None:
            _copy_term(copy)
        else:
            _transpose(copy, along)

    walk(0, _Copy(context, part, source, panel, context.address(source), pointer))
    back = at_distance(code, pointer, memory, code.emit(f"sub nsw i64 0, {context.index[columns.var]}"))
    return Source(replace(source.storage, pointer=back), Affine(0, {columns.var: 1, **panel.strides}), is_whole=True)


def _over(context: TileContext, dim: Dim, body: Callable[[str], None]) -> None:
    """Emit the loop over a reduce axis, of the first one over what is in the block."""
    if dim is context.tiling.contraction.reduce[0]:
        repeat(context.state, context.block.end, body, context.block.first)
    else:
        repeat(context.state, dim.extent, body)


def _transposed_dim(context: TileContext, source: Source) -> Dim | None:
    """Return the reduce axis along which the elements lie beside each other, where the columns do not."""
    tiling, offset = context.tiling, source.offset
    bits = 8 * source.storage.scalar.size_bytes
    if offset.of(tiling.columns.var) == 1 or tiling.lanes * bits < QUARTER_BITS:
        return None
    beside = [dim for dim in tiling.contraction.reduce if offset.of(dim.var) == 1]
    return next((dim for dim in beside if dim.extent >= tiling.lanes), None)


def _copy_term(copy: _Copy) -> None:
    """Emit the copy of the columns of one term."""
    code, lanes, scalar = copy.context.state.code, copy.context.tiling.lanes, copy.source.storage.scalar
    for vector in range(copy.part.vectors):
        first = at_distance(code, copy.start, copy.memory, vector * lanes * copy.stride)
        value = load_apart(code, first, scalar, (lanes, copy.active(vector)), copy.stride)
        store_vector(code, value, at_distance(code, copy.target, copy.memory, vector * lanes), scalar, (lanes, lanes))


def _transpose(copy: _Copy, along: Dim) -> None:
    """Emit the copy of the columns of all terms along an axis, in square tiles; what is left, term by term."""
    context = copy.context
    state, code, lanes = context.state, context.state.code, context.tiling.lanes
    first, end = "0", str(along.extent)
    if along is context.tiling.contraction.reduce[0]:
        first, end = context.block.first, context.block.end
    count = code.emit(f"sub nuw nsw i64 {end}, {first}")
    whole = code.emit(f"udiv i64 {count}, {lanes}")

    def square(number: str) -> None:
        inside = code.emit(f"mul nuw nsw i64 {number}, {lanes}")
        _square(copy.moved(along, code.emit(f"add nuw nsw i64 {first}, {inside}")), copy.panel.strides[along.var])

    repeat(state, whole, square)
    if along.extent % lanes:
        done = code.emit(f"mul nuw nsw i64 {whole}, {lanes}")
        rest = code.emit(f"add nuw nsw i64 {first}, {done}")
        repeat(state, end, lambda number: _copy_term(copy.moved(along, number)), rest)


def _square(copy: _Copy, step: int) -> None:
    """Emit the copy of as many terms as a vector has lanes, which are `step` apart in the panel."""
    code, lanes, scalar = copy.context.state.code, copy.context.tiling.lanes, copy.source.storage.scalar
    for vector in range(copy.part.vectors):
        active = copy.active(vector)
        starts = [
            at_distance(code, copy.start, copy.memory, (vector * lanes + lane) * copy.stride) for lane in range(active)
        ]
        rows = [load_vector(code, start, scalar, (lanes, lanes)) for start in starts]
        rows += ["zeroinitializer"] * (lanes - active)
        for term, value in enumerate(transposed(code, rows, copy.memory, scalar.size_bytes * 8)):
            cell = at_distance(code, copy.target, copy.memory, term * step + vector * lanes)
            store_vector(code, value, cell, scalar, (lanes, lanes))


def stage(state: State, tiling: Tiling, index: Mapping[PrimVar, str], node: PrimExpr) -> Source:
    """Emit the copy of a guarded operand; return where it is then read."""
    operand = tiling.contraction.operands[node]
    guard = operand.guard
    assert guard is not None, "only guarded operands are staged"
    edges = box_of(tiling.contraction, operand, tiling.outer)
    box = stack_array(state, "box", operand.storage.scalar, box_size(edges, tiling.lanes))
    firsts = [distance_of(state, index, edge.first, tiling) for edge in edges]
    strides = _strides(edges)
    _fill(_Box(state, tiling, operand, guard, edges), firsts, box, strides)
    offset = Affine()
    for edge, stride in zip(edges, strides, strict=True):
        offset = offset.plus(edge.inside, stride)
    return Source(replace(operand.storage, pointer=box), offset)


def _strides(edges: tuple[Edge, ...]) -> list[int]:
    strides: list[int] = []
    step = 1
    for edge in reversed(edges):
        strides.insert(0, step)
        step *= edge.extent
    return strides


@dataclass(frozen=True, slots=True)
class _Box:
    """What is copied."""

    state: State
    tiling: Tiling
    operand: Operand
    guard: Guard
    edges: tuple[Edge, ...]


def _fill(box: _Box, firsts: list[str], pointer: str, strides: list[int]) -> None:
    """Emit the loops over the rows of a box, in the order in which they lie in memory."""
    state, code = box.state, box.state.code
    storage = box.operand.storage
    memory = storage.scalar.memory

    def walk(position: int, source: str, target: str, is_valid: str) -> None:
        edge = box.edges[position]
        if position == len(box.edges) - 1:
            _row(box, (firsts[position], is_valid), source, target)
            return

        def body(number: str) -> None:
            at = firsts[position] if number == "0" else code.emit(f"add nsw i64 {firsts[position]}, {number}")
            index, is_inside = _index(box, edge, at)
            there = at_distance(code, source, memory, code.emit(f"mul nsw i64 {index}, {storage.strides[position]}"))
            here = at_distance(code, target, memory, code.emit(f"mul nsw i64 {number}, {strides[position]}"))
            both = is_inside if is_valid == "true" else code.emit(f"and i1 {is_valid}, {is_inside}")
            walk(position + 1, there, here, both)

        repeat(state, edge.extent, body)

    walk(0, storage.pointer, pointer, "true")


def _index(box: _Box, edge: Edge, at: str) -> tuple[str, str]:
    """Emit the index that a dividend stands for, and whether it is loaded."""
    code = box.state.code
    above = code.emit(f"icmp sge i64 {at}, {edge.valid.low}")
    below = code.emit(f"icmp sle i64 {at}, {edge.valid.high}")
    is_inside = code.emit(f"and i1 {above}, {below}")
    if edge.divisor == 1:
        return at, is_inside
    is_multiple = code.emit(f"icmp eq i64 {code.emit(f'srem i64 {at}, {edge.divisor}')}, 0")
    return code.emit(f"sdiv i64 {at}, {edge.divisor}"), code.emit(f"and i1 {is_inside}, {is_multiple}")


def _row(box: _Box, where: tuple[str, str], source: str, target: str) -> None:
    """Emit the copy of one row; the next row is written behind it."""
    code, lanes = box.state.code, box.tiling.lanes
    first, is_valid = where
    edge, memory = box.edges[-1], box.operand.storage.scalar.memory
    default = lower_expr(box.state, box.guard.default)
    if edge.divisor > 1:
        repeat(box.state, edge.extent, lambda number: _element(box, where, (source, target), number))
        return
    start = at_distance(code, source, memory, first)

    def body(number: str) -> None:
        distance = begin_of(code, number, lanes)
        mask = _mask(box, edge, code.emit(f"add nsw i64 {first}, {distance}"), is_valid)
        scalar = box.operand.storage.scalar
        chosen = mask, splat(code, memory, lanes, default)
        value = load_masked(code, at_distance(code, start, memory, distance), scalar, lanes, chosen)
        store_vector(code, value, at_distance(code, target, memory, distance), scalar, (lanes, lanes))

    repeat(box.state, -(-edge.extent // lanes), body)


def _mask(box: _Box, edge: Edge, at: str, is_valid: str) -> str:
    """Emit which lanes from the index `at` on are loaded."""
    code, lanes = box.state.code, box.tiling.lanes
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    places = code.emit(f"add <{lanes} x i64> {splat(code, 'i64', lanes, at)}, <{numbers}>")
    above = code.emit(f"icmp sge <{lanes} x i64> {places}, {splat(code, 'i64', lanes, str(edge.valid.low))}")
    below = code.emit(f"icmp sle <{lanes} x i64> {places}, {splat(code, 'i64', lanes, str(edge.valid.high))}")
    mask = code.emit(f"and <{lanes} x i1> {above}, {below}")
    if is_valid == "true":
        return mask
    return code.emit(f"and <{lanes} x i1> {mask}, {splat(code, 'i1', lanes, is_valid)}")


def _element(box: _Box, where: tuple[str, str], pointers: tuple[str, str], number: str) -> None:
    """Emit the copy of one element of a row; one that is not loaded is read where it is written, and dropped."""
    code, memory = box.state.code, box.operand.storage.scalar.memory
    first, is_valid = where
    index, is_inside = _index(box, box.edges[-1], code.emit(f"add nsw i64 {first}, {number}"))
    is_loaded = is_inside if is_valid == "true" else code.emit(f"and i1 {is_valid}, {is_inside}")
    cell = at_distance(code, pointers[1], memory, number)
    there = code.emit(f"select i1 {is_loaded}, ptr {at_distance(code, pointers[0], memory, index)}, ptr {cell}")
    default = lower_expr(box.state, box.guard.default)
    code.do(f"store {memory} {default}, ptr {cell}")
    code.do(f"store {memory} {code.emit(f'load {memory}, ptr {there}')}, ptr {cell}")
