"""Reductions of columns: the lanes of a vector lie along an axis that is not reduced, so each keeps its order."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import BufferLoad, For, Stmt
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.loops import CHUNK
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.loop_nest import Access, Axis
from relax_core.jit.transforms.nest_values import (
    Point,
    Value,
    element_at,
    emit_value,
    initial_value,
    offset_at,
    parts_of,
    read,
    value_of,
)
from relax_core.jit.transforms.plan_nest import (
    Places,
    element,
    holding,
    local,
    over,
    over_axes,
    plus,
    seq,
    start,
    store,
    times,
    with_total,
)
from relax_core.jit.transforms.reductions.reduction import Reduction, contiguous_axis, direct_load, read_reduction
from relax_core.jit.transforms.repeat import begin_of, repeat, repeat_charged, repeat_nested
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import LANE_LIMIT, combine, load_vector, store_vector

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Vectors of accumulators at once. They are more than there are registers: a row is on other pages than the one before,
# so that what counts is how much of it is read in one go.
VECTORS = 16
NARROWEST = 4


def plan_columns(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a reduction whose outputs lie side by side, as do the values that they are made of."""
    reduction = read_reduction(state, loop)
    if reduction is None or isinstance(reduction, str):
        return None if reduction is None else Refusal(reduction)
    nest, scalar = reduction.nest, reduction.scalar
    along = contiguous_axis(nest)
    if along is None:
        return None
    if along.extent < NARROWEST or reduction.column_count == 0:
        return Refusal(f"{along.extent} columns of {reduction.column_count} values gain nothing")
    lanes = min(LANE_LIMIT, state.options.lanes(scalar.bits))
    work = max(static_work(state, nest.block or nest.update) or 1, 1)
    direct = direct_load(reduction, along)
    columns = _Columns(state, loop, reduction, value_of(reduction.value), along, lanes, direct, work)
    reason = f"{along.extent} columns, {min(VECTORS * lanes, along.extent)} at once in vectors of {lanes}"
    return Plan(reason, columns.emit, lambda: (_told(reduction, along, VECTORS * lanes),), nest.update)


# Why the bits stay: a lane is one value of a spatial axis, along which the output and all that is read lie side by
# side, so each output is combined with its own values only. The reduce axes are walked in the order of the text, one
# after the other, with the operands of the operation on the same sides; vector operations round every lane as the
# scalar one does. `read_reduction` makes sure that outputs are different elements, that the value reads none of them,
# starts where the reduction starts, and cannot stop the kernel: so outputs may be computed in any order.
COLUMNS = Transform("columns", "Outputs that lie side by side are reduced in the lanes of vectors", MODES, plan_columns)


def _told(reduction: Reduction, along: Axis, width: int) -> Stmt:
    """Return the loops: blocks of columns, whose totals stay close by while the values are combined."""
    nest = reduction.nest
    around = tuple(axis for axis in nest.spatial if axis is not along)
    whole, rest = divmod(along.extent, width)

    def block(places: dict[PrimVar, PrimExpr], first: PrimExpr, count: int) -> Stmt:
        totals = local("totals", (count,), reduction.scalar.name)

        def lanes(body: Callable[[dict[PrimVar, PrimExpr], BufferLoad], Stmt], more: Places) -> Stmt:
            return over(
                "lane",
                count,
                lambda at: body({**places, **more, along.var: plus(first, at)}, BufferLoad(totals, (at,))),
                "vectorized",
                along.var.dtype,
            )

        zeros = {axis.var: IntImm(0, axis.var.dtype) for axis in nest.reduce}
        return holding(
            "columns",
            (totals,),
            lanes(lambda at, total: store(total, start(nest, at)), zeros),
            over_axes(
                nest.reduce,
                lambda more: lanes(lambda at, total: store(total, with_total(nest, at, total)), more),
            ),
            lanes(lambda at, total: store(element(nest, at), total), zeros),
        )

    def row(places: dict[PrimVar, PrimExpr]) -> Stmt:
        dtype = along.var.dtype
        made: list[Stmt] = []
        if whole:
            made.append(over("tile", whole, lambda at: block(places, times(at, width), width), dtype=dtype))
        if rest:
            made.append(block(places, IntImm(whole * width, dtype), rest))
        return seq(*made)

    return over_axes(around, row)


@dataclass(slots=True)
class _Columns:
    """Writes the code of one nest.

    `slots` holds what the accumulators of a block of columns start with, `totals` the accumulators, of which LLVM turns
    as many as it can into registers; `stage` holds the values of one iteration of the reduction.
    """

    state: State
    loop: For
    reduction: Reduction
    value: Value
    along: Axis
    lanes: int
    direct: Access | None
    work: int
    slots: str = ""
    totals: str = ""
    stage: str = ""

    def emit(self) -> None:
        """Write the code of the whole nest."""
        self.slots, self.totals = self._array(), self._array()
        self.stage = "" if self.direct is not None else self._array()
        around = tuple(axis for axis in self.reduction.nest.spatial if axis is not self.along)
        count = prod(axis.extent for axis in around)
        row_work = self.along.extent * self.reduction.column_count * self.work

        def row(number: str) -> None:
            was_charged, self.state.position.is_charged = (
                self.state.position.is_charged,
                self.state.position.is_charged or row_work <= CHUNK,
            )
            self._row(parts_of(self.state, number, around))
            self.state.position.is_charged = was_charged

        if row_work <= CHUNK:
            repeat_charged(self.state, self.loop, count, row_work, row)
        else:
            repeat(self.state, count, row)

    @property
    def _width(self) -> int:
        return VECTORS * self.lanes

    def _row(self, places: Point) -> None:
        """Reduce all columns that lie side by side: blocks as wide as the accumulators, and what is left."""
        width = self._width
        whole, rest = divmod(self.along.extent, width)

        def block(number: str) -> None:
            first = begin_of(self.state.code, number, width)
            self._block(first, width, places)

        if whole:
            repeat(self.state, whole, block)
        if rest:
            self._block(str(whole * width), rest, places)

    def _block(self, first: str, count: int, places: Point) -> None:
        nest, state = self.reduction.nest, self.state
        out, memory = nest.accesses[nest.update], self.reduction.scalar.memory
        starts = {**places, **dict.fromkeys((axis.var for axis in nest.reduce), "0")}
        start = None if nest.init is None else initial_value(nest.init)

        def begin(at: str) -> None:
            inside = {**starts, self.along.var: self._moved(first, at)}
            if start is None:
                target = element_at(state, out.storage, offset_at(state, out.offset, inside))
                value = read(state, out.storage, target)
            else:
                value = emit_value(state, nest, start, inside)
            state.code.do(f"store {memory} {value}, ptr {self._entry(self.slots, at)}")

        repeat(state, count, begin)
        whole, scalar = (self.lanes, self.lanes), self.reduction.scalar
        for at, _ in self._parts(count):
            vector = load_vector(state.code, self._entry(self.slots, str(at)), scalar, whole)
            store_vector(state.code, vector, self._entry(self.totals, str(at)), scalar, whole)
        reduced = [axis.var for axis in nest.reduce]

        def combined(numbers: list[str]) -> None:
            self._combine({**places, self.along.var: first, **dict(zip(reduced, numbers, strict=True))}, count)

        repeat_nested(state, self.loop, [axis.extent for axis in nest.reduce], count * self.work, combined)
        target = element_at(state, out.storage, offset_at(state, out.offset, {**starts, self.along.var: first}))
        for at, part in self._parts(count):
            vector = load_vector(state.code, self._entry(self.totals, str(at)), scalar, whole)
            store_vector(state.code, vector, self._behind(target, at), scalar, (self.lanes, part))

    def _combine(self, places: Point, count: int) -> None:
        state, code, scalar = self.state, self.state.code, self.reduction.scalar
        first = places[self.along.var]
        if self.direct is not None:
            source = element_at(state, self.direct.storage, offset_at(state, self.direct.offset, places))
        else:
            source = self.stage

            def compute(at: str) -> None:
                inside = {**places, self.along.var: self._moved(first, at)}
                value = emit_value(state, self.reduction.nest, self.value, inside)
                code.do(f"store {scalar.memory} {value}, ptr {self._entry(self.stage, at)}")

            repeat(state, count, compute)
        for at, part in self._parts(count):
            kept = part if self.direct is not None else self.lanes
            vector = load_vector(code, self._behind(source, at), scalar, (self.lanes, kept))
            entry = self._entry(self.totals, str(at))
            total = load_vector(code, entry, scalar, (self.lanes, self.lanes))
            operands = (total, vector) if self.reduction.order == "output first" else (vector, total)
            result = combine(code, self.reduction.op, operands, scalar, self.lanes)
            store_vector(code, result, entry, scalar, (self.lanes, self.lanes))

    def _parts(self, count: int) -> list[tuple[int, int]]:
        """Return where each vector of a block starts, and how many of its lanes are columns."""
        return [(at, min(self.lanes, count - at)) for at in range(0, count, self.lanes)]

    def _moved(self, first: str, at: str) -> str:
        return at if first == "0" else self.state.code.emit(f"add nuw nsw i64 {first}, {at}")

    def _behind(self, pointer: str, at: int) -> str:
        if at == 0:
            return pointer
        memory = self.reduction.scalar.memory
        return self.state.code.emit(f"getelementptr inbounds {memory}, ptr {pointer}, i64 {at}")

    def _array(self) -> str:
        register = f"%{self.state.code.label('array')}"
        memory = self.reduction.scalar.memory
        self.state.code.entry.append(f"{register} = alloca [{self._width} x {memory}], align 64")
        return register

    def _entry(self, array: str, at: str) -> str:
        return self.state.code.emit(f"getelementptr inbounds {self.reduction.scalar.memory}, ptr {array}, i64 {at}")
