"""The plan of a tiling as a loop nest: the macro-kernel's loops, panels, and the tile of sums in registers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, For, IfThenElse, Stmt
from relax_core.jit.transforms.contractions.box_nest import Box, boxes_of
from relax_core.jit.transforms.contractions.contraction import Dim
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.loop_nest import Axis, Nest
from relax_core.jit.transforms.plan_nest import (
    Point,
    element,
    holding,
    local,
    over,
    plus,
    put,
    seq,
    start,
    store,
    times,
    with_total,
)

Loaded = Mapping[Node, PrimExpr]


def tiled(tiling: Tiling) -> tuple[Stmt, ...]:
    """Return the loops of a tiling."""
    return (_Loops(tiling, _text_of(tiling.contraction.loop), boxes_of(tiling)).all(),)


def _text_of(loop: For) -> Nest:
    """Return the loops of a contraction, with what they are around, as the text has them: without affine forms."""
    axes: list[Axis] = []
    inner: Stmt = loop
    while isinstance(inner, For):
        axes.append(Axis(inner, constant_value(inner.extent) or 0, "spatial"))
        inner = inner.body
    block = inner if isinstance(inner, Block) else None
    update, init = (inner, None) if block is None else (block.body, block.init)
    assert isinstance(update, BufferStore), "a contraction is one store"
    assert init is None or isinstance(init, BufferStore), "its initialisation is one, too"
    return Nest(tuple(axes), block, init, update, {}, {})


@dataclass(frozen=True, slots=True)
class _Part:
    """A block of the first reduce axis: its number, its first value, and how many it has."""

    number: PrimExpr
    first: PrimExpr
    count: PrimExpr


@dataclass(frozen=True, slots=True)
class _Loops:
    """Makes the loops of one tiling, outermost first; places are those of the axes of the contraction."""

    tiling: Tiling
    nest: Nest
    boxes: Mapping[PrimExpr, Box]

    def all(self) -> Stmt:
        """Make everything."""
        return self._dims(self.tiling.outer, {}, self._group)

    def _axes(self, places: Point) -> Point:
        """Return the places of the loops of the text."""
        contraction = self.tiling.contraction
        found: Point = {axis.var: IntImm(0, axis.var.dtype) for axis in self.nest.axes} | places
        for pair in reversed(contraction.joined):
            inner, size = found[pair.inner.var], const(pair.inner.extent, pair.inner.var.dtype)
            found |= {pair.outer.var: binary("//", inner, size), pair.inner.var: binary("%", inner, size)}
        for item in reversed(contraction.divided):
            found[item.var] = plus(times(found[item.outer.var], item.inner.extent), found[item.inner.var])
        return found

    def _loaded(self, places: Point) -> dict[Node, PrimExpr]:
        """Return what padded operands are read from."""
        return {node: box.load(places) for node, box in self.boxes.items()}

    def _dims(self, dims: Sequence[Dim], places: Point, body: Callable[[Point], Stmt]) -> Stmt:
        if not dims:
            return body(places)
        dim, *others = dims
        return over(
            dim.var.name,
            dim.extent,
            lambda at: self._dims(others, places | {dim.var: at}, body),
            dtype=dim.var.dtype,
        )

    def _group(self, places: Point) -> Stmt:
        if not self.boxes:
            return self._tiled_columns(places)
        copies = (box.filled(places) for box in self.boxes.values())
        buffers = [box.buffer for box in self.boxes.values()]
        return holding("padded", buffers, *copies, self._tiled_columns(places))

    def _tiled_columns(self, places: Point) -> Stmt:
        tiling = self.tiling
        if tiling.packed or tiling.depth == tiling.contraction.reduce[0].extent:
            return self._all_columns(places, lambda at, width: self._blocks(partial(self._columns, at, width)))
        return self._blocks(lambda part: self._all_columns(places, lambda at, width: self._columns(at, width, part)))

    def _blocks(self, body: Callable[[_Part], Stmt]) -> Stmt:
        """Make the loop over blocks of values of the first reduce axis."""
        dim, depth = self.tiling.contraction.reduce[0], self.tiling.depth
        dtype = dim.var.dtype

        def block(number: PrimExpr) -> Stmt:
            first = times(number, depth)
            count: PrimExpr = const(min(depth, dim.extent), dtype)
            if dim.extent > depth and dim.extent % depth:
                count = binary("min", count, binary("-", const(dim.extent, dtype), first))
            return body(_Part(number, first, count))

        return over("block", -(-dim.extent // depth), block, dtype=dtype)

    def _all_columns(self, places: Point, body: Callable[[Point, int], Stmt]) -> Stmt:
        dim, width = self.tiling.columns, self.tiling.width
        return self._tiles(dim, width, lambda first, count: body(places | {dim.var: first}, count), "columns")

    def _tiles(self, dim: Dim, size: int, body: Callable[[PrimExpr, int], Stmt], name: str) -> Stmt:
        """Make tiles of an axis, and one of what is left."""
        whole, rest = divmod(dim.extent, size)
        made: list[Stmt] = []
        if whole:
            made.append(over(name, whole, lambda at: body(times(at, size), size), dtype=dim.var.dtype))
        if rest:
            made.append(body(IntImm(whole * size, dim.var.dtype), rest))
        return seq(*made)

    def _columns(self, places: Point, width: int, part: _Part) -> Stmt:
        """Make a tile of columns: the panels of its operands, then the inner axes and the rows."""
        tiling = self.tiling
        reduce = tiling.contraction.reduce
        shape = (tiling.depth, *(dim.extent for dim in reduce[1:]), width)
        panels = {node: self._panel(node, shape) for node in tiling.packed}
        copies = [self._packed(panel, node, places, part, width) for node, panel in panels.items()]

        def rows(inside: Point) -> Stmt:
            return self._tiles(
                tiling.rows,
                tiling.row_count,
                lambda first, count: self._tile(inside | {tiling.rows.var: first}, (count, width), part, panels),
                "rows",
            )

        loops = self._dims(tiling.inner, places, rows)
        return holding("panel", tuple(panels.values()), *copies, loops) if panels else loops

    def _panel(self, node: PrimExpr, shape: Sequence[int]) -> Buffer:
        operand = self.tiling.contraction.operands[node]
        return local(f"{operand.access.buffer.name}_panel", shape, operand.access.buffer.dtype)

    def _terms(self, part: _Part, body: Callable[[Point, tuple[PrimExpr, ...]], Stmt]) -> Stmt:
        """Make the loops over the reduce axes; `body` gets their places, and those in a panel."""
        first, *others = self.tiling.contraction.reduce
        dtype = first.var.dtype

        def inner(number: PrimExpr) -> Stmt:
            at = {first.var: plus(part.first, number)}
            return self._dims(others, at, lambda places: body(places, (number, *(places[dim.var] for dim in others))))

        if isinstance(part.count, IntImm):
            return over(first.var.name, part.count.value, inner, dtype=dtype)
        var = PrimVar(first.var.name, dtype)
        return For(var, IntImm(0, dtype), part.count, inner(var))

    def _packed(self, panel: Buffer, node: PrimExpr, places: Point, part: _Part, width: int) -> Stmt:
        columns = self.tiling.columns.var

        def copied(at: Point, inside: tuple[PrimExpr, ...]) -> Stmt:
            def lane(number: PrimExpr) -> Stmt:
                there = {**places, **at, columns: plus(places[columns], number)}
                box = self.boxes.get(node)
                value = put(self.nest, self._axes(there), node) if box is None else box.load(there)
                return store(BufferLoad(panel, (*inside, number)), value)

            return over("lane", width, lane, "vectorized", columns.dtype)

        return self._terms(part, copied)

    def _tile(self, places: Point, shape: tuple[int, int], part: _Part, panels: Mapping[PrimExpr, Buffer]) -> Stmt:
        """Make the sums of one tile, from their start or from what their elements hold, to their store."""
        tiling, nest = self.tiling, self.nest
        rows, columns, count = tiling.rows.var, tiling.columns.var, shape[0]
        sums = local("sums", shape, nest.update.buffer.dtype)
        zeros: Point = {dim.var: IntImm(0, dim.var.dtype) for dim in tiling.contraction.reduce}

        def cells(body: Callable[[Point, BufferLoad, PrimExpr], Stmt], more: Point) -> Stmt:
            def row(at: PrimExpr) -> Stmt:
                def lane(number: PrimExpr) -> Stmt:
                    moved = {rows: plus(places[rows], at), columns: plus(places[columns], number)}
                    return body({**places, **more, **moved}, BufferLoad(sums, (at, number)), number)

                return over("lane", shape[1], lane, "vectorized", columns.dtype)

            return over("row", count, row, "unroll", rows.dtype)

        held = cells(lambda at, total, _: store(total, element(nest, self._axes(at))), zeros)
        begun = cells(lambda at, total, _: store(total, start(nest, self._axes(at))), zeros)
        if nest.init is not None and not isinstance(part.number, IntImm):
            begun = IfThenElse(binary("==", part.number, IntImm(0, "int64")), begun, held)

        def added(at: Point, inside: tuple[PrimExpr, ...]) -> Stmt:
            def cell(there: Point, total: BufferLoad, lane: PrimExpr) -> Stmt:
                packed = {node: BufferLoad(panel, (*inside, lane)) for node, panel in panels.items()}
                loaded: Loaded = {**self._loaded(there), **packed}
                return store(total, with_total(nest, self._axes(there), total, loaded))

            return cells(cell, at)

        kept = cells(lambda at, total, _: store(element(nest, self._axes(at)), total), zeros)
        return holding("tile", (sums,), begun, self._terms(part, added), kept)
