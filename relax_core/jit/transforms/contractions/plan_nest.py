"""The plan of a tiling as a loop nest: the macro-kernel's loops, panels, and the tile of sums in registers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import Buffer, BufferLoad, For, IfThenElse, Stmt
from relax_core.jit.transforms.contractions.contraction import Dim
from relax_core.jit.transforms.contractions.plan import Tiling
from relax_core.jit.transforms.loop_nest import Nest
from relax_core.jit.transforms.plan_nest import (
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

Point = dict[PrimVar, PrimExpr]
Loaded = Mapping[Node, PrimExpr]


def tiled(tiling: Tiling, nest: Nest | str) -> tuple[Stmt, ...] | None:
    """Return the loops of a tiling, `None` if its axes are not those of the nest: joined, or cut; or one is padded."""
    if isinstance(nest, str) or tiling.staged:
        return None
    extent_of = {axis.var: axis.extent for axis in nest.axes}
    dims = {dim.var: dim.extent for dim in tiling.contraction.dims}
    if any(extent_of.get(var) != extent for var, extent in dims.items()):
        return None
    if any(extent > 1 for var, extent in extent_of.items() if var not in dims):
        return None
    loads = {*postorder(nest.update.value)}
    if not all(isinstance(node, BufferLoad) and node in loads for node in tiling.packed):
        return None
    return (_Loops(tiling, nest).all(),)


@dataclass(frozen=True, slots=True)
class _Part:
    """A block of the first reduce axis: its number, its first value, and how many it has."""

    number: PrimExpr
    first: PrimExpr
    count: PrimExpr


@dataclass(frozen=True, slots=True)
class _Loops:
    """Makes the loops of one tiling, outermost first."""

    tiling: Tiling
    nest: Nest

    def all(self) -> Stmt:
        """Make everything."""
        ones: Point = {axis.var: IntImm(0, axis.var.dtype) for axis in self.nest.axes if axis.extent == 1}
        return self._dims(self.tiling.outer, ones, self._group)

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
                return store(BufferLoad(panel, (*inside, number)), put(self.nest, there, node))

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

        held = cells(lambda at, total, _: store(total, element(nest, at)), zeros)
        begun = cells(lambda at, total, _: store(total, start(nest, at)), zeros)
        if nest.init is not None and not isinstance(part.number, IntImm):
            begun = IfThenElse(binary("==", part.number, IntImm(0, "int64")), begun, held)

        def added(at: Point, inside: tuple[PrimExpr, ...]) -> Stmt:
            def cell(there: Point, total: BufferLoad, lane: PrimExpr) -> Stmt:
                loaded: Loaded = {node: BufferLoad(panel, (*inside, lane)) for node, panel in panels.items()}
                return store(total, with_total(nest, there, total, loaded))

            return cells(cell, at)

        kept = cells(lambda at, total, _: store(element(nest, at), total), zeros)
        return holding("tile", (sums,), begun, self._terms(part, added), kept)
