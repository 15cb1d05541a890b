"""Rows whose values are vector operations on loads: they are computed in the form in which a block is transposed.

A vector holds a quarter of 128 bits of each of several rows, so that transposing it crosses no quarter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from relax_core.ir.node import Node, children
from relax_core.ir.prim import Binary, Cast, FloatImm, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.loops import CHUNK
from relax_core.jit.lowering.scalars.scalar import number_literal
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.kernel import carried
from relax_core.jit.transforms.loop_nest import Axis
from relax_core.jit.transforms.nest_values import (
    Point,
    element_at,
    emit_value,
    initial_value,
    offset_at,
    parts_of,
)
from relax_core.jit.transforms.reductions.reduction import ReducedValues, Reduction
from relax_core.jit.transforms.repeat import begin_of, repeat, repeat_charged
from relax_core.jit.transforms.vector_code import (
    QUARTER_BITS,
    at_distance,
    can_combine,
    can_convert,
    combine,
    converted,
    load_vector,
    quarters_joined,
    quarters_transposed,
    splat,
    stack_array,
    store_vector,
)

# Vectors of rows that are reduced at once: while one sum waits for its last addition, the other goes on.
GROUPS = 2
# Rows that are a multiple of this apart lie in the same few places of a cache, which holds only one vector of them.
ALIASING_BYTES = 4096
# Quarters of each row that one round of the loop takes.
UNROLLED = 2


@dataclass(frozen=True, slots=True)
class RowValues:
    """How rows along the axis `along` are reduced; `work` is the fuel of one value."""

    loop: For
    reduction: Reduction
    values: ReducedValues
    along: Axis
    lanes: int
    work: int

    @property
    def width(self) -> int:
        """How many columns a quarter has."""
        return QUARTER_BITS // self.reduction.scalar.bits

    @property
    def groups(self) -> int:
        """How many vectors of rows are reduced at once."""
        apart = [self._distance(load) for load in self.values.value.loads.values()]
        return 1 if any(item and item % ALIASING_BYTES == 0 for item in apart) else GROUPS

    def _distance(self, load: BufferLoad) -> int:
        """Return how many bytes the elements of neighbouring rows lie apart."""
        access = self.reduction.nest.accesses[load]
        return access.offset.of(self.along.var) * access.storage.scalar.size_bytes

    @property
    def columns(self) -> Axis:
        """The axis along which the values of a row lie side by side, by the variable of the innermost loop."""
        return self.values.inner[-1]

    def kind(self, load: BufferLoad) -> Literal["of each row", "of all rows"] | None:
        """Tell what a load depends on, if its elements lie side by side along the columns."""
        offset = self.reduction.nest.accesses[load].offset
        if offset.of(self.columns.var) != 1:
            return None
        return "of each row" if offset.of(self.along.var) else "of all rows"


def read_row_values(
    state: State, loop: For, reduction: Reduction, values: ReducedValues, work: int
) -> RowValues | None:
    """Return how the rows of a reduction are reduced, `None` if their values are no vector operations on loads."""
    nest, scalar = reduction.nest, reduction.scalar
    out = nest.accesses[nest.update]
    along = next((axis for axis in nest.spatial if axis.extent > 1 and out.offset.of(axis.var) == 1), None)
    lanes = min(state.options.lanes(scalar.bits), 16)
    if along is None or along.extent < lanes or values.outer or values.value.uses_axes or scalar.is_narrowed:
        return None
    if nest.init is not None:
        start = initial_value(nest.init)
        if start.loads or start.uses_axes:
            return None
    found = RowValues(loop, reduction, values, along, lanes, work)
    kinds = {found.kind(load) for load in values.value.loads.values()}
    is_taken = None not in kinds and "of each row" in kinds and _is_supported(state, found, values.value.expr)
    return found if is_taken else None


def _is_supported(state: State, rows: RowValues, expr: PrimExpr) -> bool:
    """Tell whether vector code computes the value of a row."""
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        match node:
            case FloatImm() | IntImm():
                continue
            case PrimVar() if node in rows.values.value.loads:
                scalar = state.scalar_of(node)
                if (
                    scalar.kind == "bool"
                    or rows.reduction.nest.accesses[rows.values.value.loads[node]].storage.scalar != scalar
                ):
                    return False
                continue
            case Cast(value=value) if can_convert(state.scalar_of(value), state.scalar_of(node)):
                pass
            case Binary(op=op, a=a, b=b) if (
                can_combine(op, state.scalar_of(a)) and dtype_of(a) == dtype_of(b) == node.dtype
            ):
                pass
            case _:
                return False
        stack += children(node)
    return True


# Why the bits stay: as of `rows`, a lane is a row, which adds up its values in the order of the text. A value is
# computed in the lane of its column with the operations of the text, which round every lane as the scalar ones do, and
# moved to the lane of its row only then. `_is_supported` makes sure that values are loaded in the dtype of the buffer,
# and converted where the text does. Columns behind the last are neither loaded nor combined.
@dataclass(slots=True)
class RowValuesCode:
    """Writes the code of one nest; `totals` holds the sums of a block of rows, and becomes registers."""

    state: State
    rows: RowValues
    totals: str = ""
    vector: str = field(init=False)

    def __post_init__(self) -> None:
        self.vector = f"<{self.rows.lanes} x {self.rows.reduction.scalar.memory}>"

    def emit(self) -> None:
        """Write the code of the whole nest."""
        rows = self.rows
        self.totals = stack_array(self.state, "totals", rows.reduction.scalar, rows.groups * rows.lanes)
        around = tuple(axis for axis in rows.reduction.nest.spatial if axis is not rows.along)
        count = prod(axis.extent for axis in around)
        self._paced(
            count, rows.along.extent * self._row_work, lambda number: self._rows(parts_of(self.state, number, around))
        )

    @property
    def _row_work(self) -> int:
        return self.rows.values.count * self.rows.work

    @property
    def _chunk(self) -> int:
        """How many columns are reduced between two payments of fuel."""
        step = UNROLLED * self.rows.width
        most = max(CHUNK // (self.rows.groups * self.rows.lanes * self.rows.work), 1)
        return max(min(most, self.rows.values.count) // step * step, step)

    def _paced(self, count: int, work: int, body: Callable[[str], None]) -> None:
        """Write a loop; the outermost with short iterations is charged for all that is in it."""
        position = self.state.position
        if position.is_charged or work > CHUNK:
            repeat(self.state, count, body)
            return

        def paid(number: str) -> None:
            position.is_charged = True
            body(number)
            position.is_charged = False

        repeat_charged(self.state, self.rows.loop, count, work, paid)

    def _rows(self, places: Point) -> None:
        """Reduce all rows along the axis: whole blocks, and what is left."""
        rows = self.rows
        size = rows.groups * rows.lanes
        whole, rest = divmod(rows.along.extent, size)

        def block(number: str) -> None:
            first = begin_of(self.state.code, number, size)
            self._block({**places, rows.along.var: first}, size)

        if whole:
            self._paced(whole, size * self._row_work, block)
        if rest:
            last = {**places, rows.along.var: str(whole * size)}
            self._paced(1, rest * self._row_work, lambda _: self._block(last, rest))

    def _block(self, places: Point, count: int) -> None:
        """Reduce `count` rows; lanes behind the last repeat it, and are not stored."""
        state, rows, nest = self.state, self.rows, self.rows.reduction.nest
        code, scalar, lanes = state.code, rows.reduction.scalar, rows.lanes
        places = {**places, **dict.fromkeys((axis.var for axis in nest.reduce), "0")}
        out = nest.accesses[nest.update]
        target = element_at(state, out.storage, offset_at(state, out.offset, places))
        parts = [(first, min(lanes, count - first)) for first in range(0, count, lanes)]
        start = "" if nest.init is None else emit_value(state, nest, initial_value(nest.init), places)
        for first, active in parts:
            if start:
                value = splat(code, scalar.register, lanes, start)
            else:
                value = load_vector(code, at_distance(code, target, scalar.memory, first), scalar, (lanes, active))
            store_vector(code, value, self._total(first), scalar, (lanes, lanes))
        block = _Block(state, rows, self._sources(places), count)
        chunk = self._chunk
        whole, rest = divmod(rows.values.count, chunk)

        def columns(first: str, extent: int) -> None:
            sums = [load_vector(code, self._total(at), scalar, (lanes, lanes)) for at, _ in parts]
            for (at, _), value in zip(parts, block.reduced(first, extent, sums), strict=True):
                store_vector(code, value, self._total(at), scalar, (lanes, lanes))

        def chunked(number: str) -> None:
            columns(begin_of(code, number, chunk), chunk)

        if whole:
            self._paced(whole, count * chunk * rows.work, chunked)
        if rest:
            self._paced(1, count * rest * rows.work, lambda _: columns(str(whole * chunk), rest))
        for first, active in parts:
            value = load_vector(code, self._total(first), scalar, (lanes, lanes))
            store_vector(code, value, at_distance(code, target, scalar.memory, first), scalar, (lanes, active))

    def _sources(self, places: Point) -> dict[PrimVar, str]:
        """Emit the addresses of what is loaded for the first row and column."""
        found: dict[PrimVar, str] = {}
        for var, load in self.rows.values.value.loads.items():
            access = self.rows.reduction.nest.accesses[load]
            found[var] = element_at(self.state, access.storage, offset_at(self.state, access.offset, places))
        return found

    def _total(self, first: int) -> str:
        return at_distance(self.state.code, self.totals, self.rows.reduction.scalar.memory, first)


@dataclass(frozen=True, slots=True)
class _Block:
    """Emits the sums of `count` rows, behind `sources` to their first column."""

    state: State
    rows: RowValues
    sources: Mapping[PrimVar, str]
    count: int

    def reduced(self, first: str, extent: int, sums: list[str]) -> list[str]:
        """Combine `extent` columns from `first` on."""
        code, rows = self.state.code, self.rows
        step = UNROLLED * rows.width
        whole, rest = divmod(extent, step)
        before = code.set_location(rows.reduction.nest.update)

        def round_of(number: str, values: list[str]) -> list[str]:
            place = self._moved(first, begin_of(code, number, step))
            for at in range(0, step, rows.width):
                values = self._quarter(self._moved(place, str(at)), rows.width, values)
            return values

        if whole == 1:
            sums = round_of("0", sums)
        elif whole:
            vector = f"<{rows.lanes} x {rows.reduction.scalar.register}>"
            sums = carried(code, ("0", str(whole)), vector, sums, lambda number, values: round_of(number, [*values]))
        for at in range(0, rest, rows.width):
            place = self._moved(first, str(whole * step + at))
            sums = self._quarter(place, min(rows.width, rest - at), sums)
        code.restore_location(before)
        return sums

    def _moved(self, place: str, distance: str) -> str:
        if place.isdigit() and distance.isdigit():
            return str(int(place) + int(distance))
        if distance == "0":
            return place
        return distance if place == "0" else self.state.code.emit(f"add nuw nsw i64 {place}, {distance}")

    def _quarter(self, place: str, active: int, sums: list[str]) -> list[str]:
        """Combine the `active` columns of a quarter, from `place` on."""
        code, rows, reduction = self.state.code, self.rows, self.rows.reduction
        nest, scalar = reduction.nest, reduction.scalar
        loads = rows.values.value.loads
        pointers = {
            var: at_distance(code, pointer, nest.accesses[loads[var]].storage.scalar.memory, place)
            for var, pointer in self.sources.items()
        }
        shared: dict[PrimVar, str] = {}
        found: list[str] = []
        for group, total in enumerate(sums):
            values = _Quarter(self.state, rows, pointers, shared, (group * rows.lanes, self.count, active))
            vectors = [values.vector(rows.values.value.expr, row) for row in range(rows.width)]
            for vector in quarters_transposed(code, vectors, scalar.register, scalar.bits, rows.lanes)[:active]:
                operands = (total, vector) if reduction.order == "output first" else (vector, total)
                total = combine(code, reduction.op, operands, scalar, rows.lanes)
            found.append(total)
        return found


@dataclass(frozen=True, slots=True)
class _Quarter:
    """Emits the values of a quarter of some rows; `shared` are those that all rows have.

    `shape` is (first row of the vector, rows of the block, columns that are loaded).
    """

    state: State
    rows: RowValues
    pointers: Mapping[PrimVar, str]
    shared: dict[PrimVar, str]
    shape: tuple[int, int, int]

    def vector(self, expr: PrimExpr, row: int) -> str:
        """Emit the values of rows `row`, and one quarter each behind it, side by side."""
        code, lanes, scalar = self.state.code, self.rows.lanes, self.state.scalar_of(expr)
        match expr:
            case PrimVar():
                return self._loaded(expr, row)
            case FloatImm() | IntImm():
                return splat(code, scalar.register, lanes, number_literal(expr, scalar))
            case Cast(value=value):
                return converted(code, self.vector(value, row), (self.state.scalar_of(value), scalar), lanes)
            case Binary(op=op, a=a, b=b):
                return combine(code, op, (self.vector(a, row), self.vector(b, row)), scalar, lanes)
            case _:
                raise AssertionError(f"{type(expr).__name__} is refused where the rows are read")

    def _loaded(self, var: PrimVar, row: int) -> str:
        code, rows = self.state.code, self.rows
        width, count = rows.width, rows.lanes // rows.width
        first, row_count, active = self.shape
        access = rows.reduction.nest.accesses[rows.values.value.loads[var]]
        scalar, stride = access.storage.scalar, access.offset.of(rows.along.var)
        if not stride:
            if var not in self.shared:
                part = load_vector(code, self.pointers[var], scalar, (width, active))
                self.shared[var] = quarters_joined(code, [part] * count, scalar.memory, width)
            return self.shared[var]
        places = [min(first + row + quarter * width, row_count - 1) * stride for quarter in range(count)]
        parts = [
            load_vector(code, at_distance(code, self.pointers[var], scalar.memory, place), scalar, (width, active))
            for place in places
        ]
        return quarters_joined(code, parts, scalar.memory, width)
