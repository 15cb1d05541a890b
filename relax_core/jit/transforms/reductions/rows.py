"""Reductions of rows: one lane of a vector for each row, so that every row keeps the order of its operations."""

from collections.abc import Callable
from dataclasses import dataclass, field

from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import BufferLoad, For, Stmt
from relax_core.jit.lowering.known.work import CALL_COST, static_work
from relax_core.jit.lowering.loops import CHUNK, least
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.loop_nest import Axis
from relax_core.jit.transforms.nest_values import (
    Point,
    element_at,
    emit_value,
    initial_value,
    offset_at,
    parts_of,
    read,
)
from relax_core.jit.transforms.plan_nest import (
    Places,
    element,
    holding,
    local,
    over,
    over_axes,
    parts,
    plus,
    start,
    store,
    times,
    with_total,
)
from relax_core.jit.transforms.reductions.reduction import (
    ReducedValues,
    Reduction,
    contiguous_axis,
    read_reduction,
    values_of,
)
from relax_core.jit.transforms.reductions.row_values import RowValuesCode, read_row_values
from relax_core.jit.transforms.repeat import begin_of, repeat, repeat_charged
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import LANE_LIMIT, combine, load_vector, transposed

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))

# Shorter rows are unrolled whole by the naive lowering, and then put side by side by LLVM.
SHORTEST_DIRECT = 8
SHORTEST_COMPUTED = 16
# ReducedValues that are computed before they are combined: so many columns of each row stay in the first-level cache.
STAGED_COLUMNS = 128
# Columns between two payments of fuel where nothing is staged.
DIRECT_COLUMNS = 1024


def plan_rows(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a reduction of several rows, whatever their number and length."""
    reduction = read_reduction(state, loop)
    if reduction is None or isinstance(reduction, str):
        return None if reduction is None else Refusal(reduction)
    nest, scalar = reduction.nest, reduction.scalar
    if scalar.is_integral:
        return Refusal("integers may be combined in any order, which the vectoriser does by itself")
    if contiguous_axis(nest) is not None:
        return Refusal("its values lie side by side along an axis that is not reduced")
    values = values_of(reduction)
    lanes = min(LANE_LIMIT, state.options.lanes(scalar.bits))
    work = max(static_work(state, nest.block or nest.update) or 1, 1)
    shortest = SHORTEST_DIRECT if values.direct is not None or work >= CALL_COST else SHORTEST_COMPUTED
    if reduction.row_count < 2 or reduction.column_count < shortest:
        return Refusal(f"{reduction.row_count} rows of {reduction.column_count} values gain nothing")
    rows = Rows(loop, reduction, values, lanes, work)
    computed = None if values.direct is not None else read_row_values(state, loop, reduction, values, work)
    if computed is not None:
        reason = (
            f"{reduction.row_count} rows, a lane for each of {lanes}; their values are computed in transposed vectors"
        )
        return Plan(reason, lambda: RowValuesCode(state, computed).emit(), lambda: (_told(rows),), nest.update)
    how = "loaded" if values.direct is not None else "computed row by row"
    reason = f"{reduction.row_count} rows, a lane for each of {lanes}; their values are {how} and transposed in tiles"
    return Plan(reason, lambda: RowsCode(state, rows).emit(), lambda: (_told(rows),), nest.update)


# Why the bits stay: a lane is a row, and adds up its values in the order of the text, one column after the other,
# with the operands on the same sides; vector operations round every lane as the scalar one does. Values that are
# computed row by row are stored in the dtype of the output, which `read_reduction` makes sure is that of the
# operation, before they are transposed; a transposition moves bits. Outputs are different elements, no value reads
# one, and none may stop the kernel, so rows may be computed side by side.
ROWS = Transform(
    "rows", "Rows are reduced side by side in the lanes of a vector, each in its own order", MODES, plan_rows
)


@dataclass(frozen=True, slots=True)
class Rows:
    """How rows are taken together; `work` is the fuel of one value."""

    loop: For
    reduction: Reduction
    values: ReducedValues
    lanes: int
    work: int

    @property
    def chunk(self) -> int:
        """How many columns are combined at once; a multiple of the lanes."""
        limit = STAGED_COLUMNS if self.values.direct is None else DIRECT_COLUMNS
        return min(limit, -(-self.values.count // self.lanes) * self.lanes)


def _told(rows: Rows) -> Stmt:
    """Return the loops: blocks of rows with a total each; lanes behind the last row do what it does once more."""
    nest, lanes, count = rows.reduction.nest, rows.lanes, rows.reduction.row_count
    totals = local("totals", (lanes,), rows.reduction.scalar.name)
    zeros: dict[PrimVar, PrimExpr] = {axis.var: IntImm(0, axis.var.dtype) for axis in nest.reduce}

    def block(number: PrimExpr) -> Stmt:
        def each(body: Callable[[dict[PrimVar, PrimExpr], BufferLoad], Stmt], more: Places) -> Stmt:
            def lane(at: PrimExpr) -> Stmt:
                row = plus(times(number, lanes), at)
                if count % lanes:
                    row = binary("min", row, const(count - 1, "int64"))
                return body({**parts(row, nest.spatial), **more}, BufferLoad(totals, (at,)))

            return over("lane", lanes, lane, "vectorized")

        return holding(
            "rows",
            (totals,),
            each(lambda at, total: store(total, start(nest, at)), zeros),
            over_axes(
                nest.reduce, lambda more: each(lambda at, total: store(total, with_total(nest, at, total)), more)
            ),
            each(lambda at, total: store(element(nest, at), total), zeros),
        )

    return over("rows", -(-count // lanes), block)


@dataclass(slots=True)
class RowsCode:
    """Writes the code of one nest.

    `targets` and `sources` are arrays with the addresses of each lane's output and first value, `slots` their
    accumulators, `stage` the values of a chunk; `base` is the first row of the block.
    """

    state: State
    rows: Rows
    targets: str = ""
    sources: str = ""
    slots: str = ""
    stage: str = ""
    total: str = ""
    base: str = "0"
    vector: str = field(init=False)

    def __post_init__(self) -> None:
        self.vector = f"<{self.rows.lanes} x {self.rows.reduction.scalar.memory}>"

    def emit(self) -> None:
        """Write the code of the whole nest."""
        rows = self.rows
        memory = rows.reduction.scalar.memory
        self.targets = self._array(rows.lanes, "ptr")
        self.slots, self.total = self._array(rows.lanes, memory), self._array(rows.lanes, memory)
        if rows.values.direct is not None:
            self.sources = self._array(rows.lanes, "ptr")
        else:
            self.stage = self._array(rows.lanes * rows.chunk, memory)
        count = -(-rows.reduction.row_count // rows.lanes)
        if self._charges_inside:
            repeat(self.state, count, self._block)
        else:
            repeat_charged(self.state, rows.loop, count, self._block_work, self._block)

    @property
    def _block_work(self) -> int:
        return self.rows.lanes * self.rows.reduction.column_count * self.rows.work

    @property
    def _charges_inside(self) -> bool:
        return self._block_work > CHUNK

    def _block(self, number: str) -> None:
        """Reduce as many rows as there are lanes; behind the last row, lanes repeat it and are not stored."""
        code, rows = self.state.code, self.rows
        self.base = begin_of(code, number, rows.lanes)
        repeat(self.state, rows.lanes, self._prepare)
        self._move(self.slots, self.total)
        self._around(rows.values.outer, dict.fromkeys((axis.var for axis in rows.values.inner[:-1]), "0"))
        self._move(self.total, self.slots)
        repeat(self.state, self._row_count(), self._finish)

    def _row_count(self) -> str | int:
        """Emit how many rows the block has."""
        count, lanes = self.rows.reduction.row_count, self.rows.lanes
        if count % lanes == 0 or count < lanes:
            return min(count, lanes)
        return least(self.state, self.state.code.emit(f"sub nuw nsw i64 {count}, {self.base}"), str(lanes))

    def _prepare(self, lane: str) -> None:
        """Note where a lane's row lies, and what its accumulator starts with."""
        state, rows, nest = self.state, self.rows, self.rows.reduction.nest
        places = self._row(lane)
        out = nest.accesses[nest.update]
        target = element_at(state, out.storage, offset_at(state, out.offset, places))
        state.code.do(f"store ptr {target}, ptr {self._entry(self.targets, 'ptr', lane)}, align 8")
        if rows.values.direct is not None:
            source = element_at(state, rows.values.direct.storage, offset_at(state, rows.values.direct.offset, places))
            state.code.do(f"store ptr {source}, ptr {self._entry(self.sources, 'ptr', lane)}, align 8")
        if nest.init is None:
            start = read(state, out.storage, target)
        else:
            start = emit_value(state, nest, initial_value(nest.init), places)
        memory = rows.reduction.scalar.memory
        state.code.do(f"store {memory} {start}, ptr {self._entry(self.slots, memory, lane)}")

    def _finish(self, lane: str) -> None:
        code, storage = self.state.code, self.rows.reduction.nest.accesses[self.rows.reduction.nest.update].storage
        memory = self.rows.reduction.scalar.memory
        value = code.emit(f"load {memory}, ptr {self._entry(self.slots, memory, lane)}")
        target = code.emit(f"load ptr, ptr {self._entry(self.targets, 'ptr', lane)}, align 8")
        code.do(f"store {memory} {value}, ptr {target}, align {storage.alignment}")

    def _row(self, lane: str) -> dict[PrimVar, str]:
        """Emit the places of all axes in the first iteration of a lane's row."""
        state, nest = self.state, self.rows.reduction.nest
        number = state.code.emit(f"add nuw nsw i64 {self.base}, {lane}")
        number = least(state, number, str(self.rows.reduction.row_count - 1))
        return {**parts_of(state, number, nest.spatial), **dict.fromkeys((axis.var for axis in nest.reduce), "0")}

    def _around(self, outer: tuple[Axis, ...], places: Point) -> None:
        """Write the loops over the reduce axes around the joined ones."""
        if not outer:
            self._columns(places)
            return
        axis = outer[0]
        repeat(self.state, axis.extent, lambda at: self._around(outer[1:], {**places, axis.var: at}))

    def _columns(self, places: Point) -> None:
        """Combine all columns of the joined axes: whole tiles, and what is left behind the last of them."""
        state, rows = self.state, self.rows
        count, chunk = rows.values.count, rows.chunk
        rounds, work = -(-count // chunk), rows.lanes * chunk * rows.work
        if self._charges_inside:
            repeat_charged(state, rows.loop, rounds, work, lambda number: self._chunk(number, places))
        else:
            repeat(state, rounds, lambda number: self._chunk(number, places))
        rest = count % rows.lanes
        if rest:
            self._tile(count - rest, (count - rest) % chunk, places, rest)

    def _chunk(self, number: str, places: Point) -> None:
        state, rows = self.state, self.rows
        first = begin_of(state.code, number, rows.chunk)
        count: str | int = min(rows.chunk, rows.values.count)
        if rows.values.count % rows.chunk and rows.values.count > rows.chunk:
            left = state.code.emit(f"sub nuw nsw i64 {rows.values.count}, {first}")
            count = least(state, left, str(rows.chunk))
        if rows.values.direct is None:
            # Behind the last row the stage holds anything: those lanes are not stored.
            repeat(state, self._row_count(), lambda lane: self._compute(lane, (first, count), places))
        tiles: str | int
        if isinstance(count, int):
            tiles = count // rows.lanes
        else:
            tiles = state.code.emit(f"udiv i64 {count}, {rows.lanes}")

        def tile(at: str) -> None:
            inside = begin_of(state.code, at, rows.lanes)
            column = inside if first == "0" else state.code.emit(f"add nuw nsw i64 {first}, {inside}")
            self._tile(column, inside, places, rows.lanes)

        if tiles != 0:
            repeat(state, tiles, tile)

    def _compute(self, lane: str, columns: tuple[str, str | int], places: Point) -> None:
        """Write the values of a lane's row in a chunk of columns to the stage."""
        state, rows = self.state, self.rows
        first, count = columns
        row = {**self._row(lane), **places}
        memory = rows.reduction.scalar.memory
        start = state.code.emit(f"mul nuw nsw i64 {lane}, {rows.chunk}")

        def column(at: str) -> None:
            place = at if first == "0" else state.code.emit(f"add nuw nsw i64 {first}, {at}")
            value = emit_value(state, rows.reduction.nest, rows.values.value, {**row, rows.values.inner[-1].var: place})
            entry = self._entry(self.stage, memory, state.code.emit(f"add nuw nsw i64 {start}, {at}"))
            state.code.do(f"store {memory} {value}, ptr {entry}")

        repeat(state, count, column)

    def _tile(self, column: str | int, inside: str | int, places: Point, count: int) -> None:
        """Combine `count` columns from `column` on, which is `inside` the chunk."""
        rows, code = self.rows, self.state.code
        reduction = rows.reduction
        if rows.values.direct is None:
            vectors = [self._staged(lane, inside) for lane in range(rows.lanes)]
        else:
            offset = {var: factor for var, factor in rows.values.direct.offset.coefficients.items() if var in places}
            distance = str(column)
            for var, factor in offset.items():
                if places[var] != "0":
                    step = code.emit(f"mul nsw i64 {places[var]}, {factor}")
                    distance = code.emit(f"add nsw i64 {distance}, {step}")
            vectors = [self._loaded(lane, distance, count) for lane in range(rows.lanes)]
        total = code.emit(f"load {self.vector}, ptr {self.total}, align 64")
        for vector in transposed(code, vectors, reduction.scalar.memory, reduction.scalar.bits)[:count]:
            operands = (total, vector) if reduction.order == "output first" else (vector, total)
            total = combine(code, reduction.op, operands, reduction.scalar, rows.lanes)
        code.do(f"store {self.vector} {total}, ptr {self.total}, align 64")

    def _staged(self, lane: int, inside: str | int) -> str:
        code, chunk = self.state.code, self.rows.chunk
        place = str(lane * chunk + inside) if isinstance(inside, int) else inside
        if not isinstance(inside, int) and lane:
            place = code.emit(f"add nuw nsw i64 {inside}, {lane * chunk}")
        scalar = self.rows.reduction.scalar
        return code.emit(
            f"load {self.vector}, ptr {self._entry(self.stage, scalar.memory, place)}, align {scalar.size_bytes}"
        )

    def _loaded(self, lane: int, distance: str, count: int) -> str:
        """Load a row's part of a tile; what is not of the row is not touched."""
        code, scalar, lanes = self.state.code, self.rows.reduction.scalar, self.rows.lanes
        source = code.emit(f"load ptr, ptr {self._entry(self.sources, 'ptr', str(lane))}, align 8")
        pointer = code.emit(f"getelementptr inbounds {scalar.memory}, ptr {source}, i64 {distance}")
        return load_vector(code, pointer, scalar, (lanes, count))

    def _array(self, count: int, llvm: str) -> str:
        register = f"%{self.state.code.label('array')}"
        self.state.code.entry.append(f"{register} = alloca [{count} x {llvm}], align 64")
        return register

    def _entry(self, array: str, llvm: str, at: str) -> str:
        return self.state.code.emit(f"getelementptr inbounds {llvm}, ptr {array}, i64 {at}")

    def _move(self, source: str, target: str) -> None:
        code = self.state.code
        value = code.emit(f"load {self.vector}, ptr {source}, align 64")
        code.do(f"store {self.vector} {value}, ptr {target}, align 64")
