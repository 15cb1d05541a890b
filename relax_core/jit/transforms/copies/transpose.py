"""Transposing copies: square tiles are loaded by rows, transposed in registers and stored by rows."""

from collections.abc import Callable
from dataclasses import dataclass

from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import BufferLoad, For, Stmt
from relax_core.jit.lowering.loops import least
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.copies.read import Copy, CopyDim, copied, first_of, over_dims, read_copy
from relax_core.jit.transforms.plan_nest import holding, local, over, plus, store
from relax_core.jit.transforms.repeat import repeat_nested
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import LANE_LIMIT, load_vector, store_vector, transposed

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Below so many rows or columns a tile is mostly empty.
SHORTEST = 4


def plan_transpose(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a copy that reads side by side along one axis and writes side by side along another."""
    copy = read_copy(state, loop)
    if copy is None or isinstance(copy, Refusal):
        return copy
    reading = [dim for dim in copy.dims if dim.read == 1 and dim.written != 1]
    writing = [dim for dim in copy.dims if dim.written == 1 and dim.read not in (0, 1)]
    if len(reading) != 1 or len(writing) != 1:
        return None
    read, written = reading[0], writing[0]
    if min(read.extent, written.extent) < SHORTEST:
        return Refusal(f"{read.extent} by {written.extent} elements fill no tile")
    lanes = min(LANE_LIMIT, state.options.lanes(8 * copy.source.storage.scalar.size_bytes))
    found = _Tiles(state, loop, copy, (read, written), lanes)
    reason = f"tiles of {lanes} x {lanes} elements of {read.extent} x {written.extent} are transposed in registers"
    return Plan(reason, found.emit, lambda: (_told(found),), copy.nest.update)


# Why the bits stay: elements are moved, not computed with, and bools, of which many bytes mean true, are left out.
# Source and target share no memory and the target's strides are injective, so that any order of the elements is the
# same; the tiles at the ends overlap others and copy some elements once more, from a source that has not changed.
# Tiles start within the axes and lanes that are none of the axis are neither loaded nor stored, so nothing outside of
# the nest is touched.
TRANSPOSE = Transform(
    "transpose", "Copies that exchange axes move square tiles through registers", MODES, plan_transpose
)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Writes the code of a transposition; `dims` are the axis that is read and the one that is written by rows."""

    state: State
    loop: For
    copy: Copy
    dims: tuple[CopyDim, CopyDim]
    lanes: int

    def emit(self) -> None:
        """Write the code of the whole nest."""
        state = self.state
        bases = self.copy.bases(state)
        around = [dim for dim in self.copy.dims if dim not in self.dims]
        read, written = self.dims
        counts = (*(dim.extent for dim in around), *(-(-dim.extent // self.lanes) for dim in self.dims))
        work = self.copy.work * min(self.lanes, read.extent) * min(self.lanes, written.extent)

        def tile(numbers: list[str]) -> None:
            *outer, stripe, number = numbers
            first = self._first(stripe, read.extent)
            steps = [*zip(outer, around, strict=True), (first, read), (self._first(number, written.extent), written)]
            source, target = bases
            for place, dim in steps:
                source, target = self._behind(source, place, dim.read), self._behind(target, place, dim.written)
            self._tile(source, target)

        repeat_nested(state, self.loop, counts, work, tile)

    def _tile(self, source: str, target: str) -> None:
        code, scalar, lanes = self.state.code, self.copy.source.storage.scalar, self.lanes
        read, written = self.dims
        row_count, column_count = min(lanes, written.extent), min(lanes, read.extent)
        rows = [
            load_vector(code, self._behind(source, str(at), written.read), scalar, (lanes, column_count))
            for at in range(row_count)
        ]
        # A tile with fewer rows than lanes repeats the last: those lanes are not stored.
        rows += rows[-1:] * (lanes - row_count)
        columns = transposed(code, rows, scalar.memory, 8 * scalar.size_bytes)
        for at in range(column_count):
            store_vector(code, columns[at], self._behind(target, str(at), read.written), scalar, (lanes, row_count))

    def _first(self, number: str, extent: int) -> str:
        """Emit where a tile starts: the last ends with the axis, and copies some elements once more."""
        if extent <= self.lanes:
            return "0"
        first = self.state.code.emit(f"mul nuw nsw i64 {number}, {self.lanes}")
        return first if extent % self.lanes == 0 else least(self.state, first, str(extent - self.lanes))

    def _behind(self, pointer: str, place: str, stride: int) -> str:
        return self.copy.behind(self.state, pointer, place, stride)


def _told(tiles: _Tiles) -> Stmt:
    """Return the loops: a tile is read by rows into registers, and written by columns."""
    copy, (read, written), lanes = tiles.copy, tiles.dims, tiles.lanes
    shape = min(lanes, written.extent), min(lanes, read.extent)
    dtype = read.axes[-1].var.dtype
    around = [dim for dim in copy.dims if dim not in tiles.dims]
    kept = local("tile", shape, copy.target.buffer.dtype)

    def cells(extents: tuple[int, int], body: Callable[[PrimExpr, PrimExpr], Stmt]) -> Stmt:
        return over(
            "row",
            extents[0],
            lambda row: over("lane", extents[1], lambda lane: body(row, lane), "vectorized", dtype),
            "unroll",
            dtype,
        )

    def tile(places: list[tuple[CopyDim, PrimExpr]], across: PrimExpr, along: PrimExpr) -> Stmt:
        def at(row: PrimExpr, column: PrimExpr) -> tuple[BufferLoad, BufferLoad]:
            return copied(copy, [*places, (read, plus(across, column)), (written, plus(along, row))])

        return holding(
            "transposed",
            (kept,),
            cells(shape, lambda row, lane: store(BufferLoad(kept, (row, lane)), at(row, lane)[1])),
            cells((shape[1], shape[0]), lambda row, lane: store(at(lane, row)[0], BufferLoad(kept, (lane, row)))),
        )

    def tiled(places: list[tuple[CopyDim, PrimExpr]]) -> Stmt:
        def stripe(number: PrimExpr) -> Stmt:
            across = first_of(number, read.extent, lanes)
            count = -(-written.extent // lanes)
            return over(
                "tile", count, lambda at: tile(places, across, first_of(at, written.extent, lanes)), dtype=dtype
            )

        return over("stripe", -(-read.extent // lanes), stripe, dtype=dtype)

    return over_dims(around, tiled)
