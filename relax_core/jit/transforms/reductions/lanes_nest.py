"""The plan of `lanes` as a loop nest: a total for each lane, the tree that joins them, and the row once more in order.

A NaN in a row, or a zero as its result, is where `min` and `max` depend on the order of the text.
"""

from dataclasses import dataclass

from relax_core.ir.prim import BinaryKind, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import Buffer, BufferLoad, IfThenElse, Stmt
from relax_core.jit.transforms.loop_nest import Axis
from relax_core.jit.transforms.plan_nest import (
    Places,
    element,
    holding,
    local,
    over,
    over_axes,
    parts,
    plus,
    put,
    seq,
    start,
    store,
    times,
)
from relax_core.jit.transforms.reductions.reduction import ReducedValues, Reduction

_FIRST = const(0, "int64")


@dataclass(frozen=True, slots=True)
class LanesNest:
    """Makes the loops of one nest, whose rows are taken `width` values at once; lanes of a sum start with `neutral`."""

    reduction: Reduction
    values: ReducedValues
    width: int
    neutral: PrimExpr | None
    totals: Buffer
    total: BufferLoad
    lane: Buffer
    seen: Buffer
    seen_alone: BufferLoad

    @staticmethod
    def of(reduction: Reduction, values: ReducedValues, width: int, neutral: float | None) -> "LanesNest":
        """Make the buffers of a row; lanes of a choice, which have no neutral element, start with what the row does."""
        dtype = reduction.scalar.name
        total, alone = local("total", (1,), dtype), local("seen_alone", (1,), "bool")
        return LanesNest(
            reduction,
            values,
            width,
            None if neutral is None else const(neutral, dtype),
            local("totals", (width,), dtype),
            BufferLoad(total, (_FIRST,)),
            local("lane", (width,), dtype),
            local("seen", (width,), "bool"),
            BufferLoad(alone, (_FIRST,)),
        )

    def rows(self) -> Stmt:
        """Return the loop over the rows."""
        return over("row", self.reduction.row_count, self._row)

    @property
    def _is_choice(self) -> bool:
        return self.neutral is None

    def _row(self, number: PrimExpr) -> Stmt:
        nest = self.reduction.nest
        first: dict[PrimVar, PrimExpr] = {axis.var: const(0, axis.var.dtype) for axis in nest.reduce}
        row = {**parts(number, nest.spatial), **first}
        buffers = [self.total.buffer, self.totals, self.lane]
        if self._is_choice:
            buffers += [self.seen_alone.buffer, self.seen]
        return holding(
            "lanes",
            buffers,
            *self._begin(start(nest, row)),
            over_axes(self.values.outer, lambda outer: self._columns({**row, **outer})),
            *self._join(),
            *(self._in_order(row) if self._is_choice else ()),
            store(element(nest, row), self.total),
        )

    def _begin(self, first: PrimExpr) -> tuple[Stmt, ...]:
        lanes = over("l", self.width, lambda at: self._each_start(BufferLoad(self.totals, (at,)), at), "vectorized")
        alone = (store(self.seen_alone, binary("!=", self.total, self.total)),) if self._is_choice else ()
        return store(self.total, first), *alone, lanes

    def _each_start(self, total: BufferLoad, at: PrimExpr) -> Stmt:
        if self.neutral is not None:
            return store(total, self.neutral)
        return seq(store(total, self.total), store(BufferLoad(self.seen, (at,)), const(False, "bool")))

    def _columns(self, places: Places) -> Stmt:
        """Return the loops over the columns that fill vectors, and over those behind them."""
        whole = self.values.count // self.width
        left = self.values.count - whole * self.width

        def group(number: PrimExpr) -> Stmt:
            return over(
                "l",
                self.width,
                lambda at: self._in_lane(self._value(plus(times(number, self.width), at), places), at),
                "vectorized",
            )

        def single(at: PrimExpr) -> Stmt:
            return self._alone(self._value(plus(at, const(whole * self.width, "int64")), places))

        vectors = over("vectors", whole, group)
        return seq(vectors, over("column", left, single)) if left else vectors

    def _value(self, column: PrimExpr, places: Places) -> PrimExpr:
        inner = self.values.inner
        return put(self.reduction.nest, {**places, **parts(column, inner)}, self.reduction.value)

    def _in_lane(self, value: PrimExpr, at: PrimExpr) -> Stmt:
        total, lane = BufferLoad(self.totals, (at,)), BufferLoad(self.lane, (at,))
        taken = (store(lane, value), store(total, binary(self._op, total, lane)))
        if not self._is_choice:
            return seq(*taken)
        seen = BufferLoad(self.seen, (at,))
        return seq(*taken, store(seen, binary("or", seen, binary("!=", lane, lane))))

    def _alone(self, value: PrimExpr) -> Stmt:
        lane = BufferLoad(self.lane, (_FIRST,))
        taken = (store(lane, value), store(self.total, binary(self._op, self.total, lane)))
        if not self._is_choice:
            return seq(*taken)
        return seq(*taken, store(self.seen_alone, binary("or", self.seen_alone, binary("!=", lane, lane))))

    @property
    def _op(self) -> BinaryKind:
        return self.reduction.op

    def _join(self) -> tuple[Stmt, ...]:
        """Return the tree: half of the lanes takes the other half until one is left, which the row's total takes."""
        made: list[Stmt] = []
        half = self.width // 2
        while half:
            made.append(over("l", half, lambda at, half=half: self._joined(at, half), "vectorized"))
            half //= 2
        return *made, store(self.total, binary(self._op, self.total, BufferLoad(self.totals, (_FIRST,))))

    def _joined(self, at: PrimExpr, half: int) -> Stmt:
        def both(buffer: Buffer, op: BinaryKind) -> Stmt:
            here, there = BufferLoad(buffer, (at,)), BufferLoad(buffer, (plus(at, const(half, "int64")),))
            return store(here, binary(op, here, there))

        joined = both(self.totals, self._op)
        return seq(joined, both(self.seen, "or")) if self._is_choice else joined

    def _in_order(self, row: Places) -> tuple[Stmt, ...]:
        """Return the row in the order of the text, where a NaN or a zero was met."""
        nest = self.reduction.nest
        zero = binary("==", self.total, const(0.0, self.reduction.scalar.name))
        seen = binary("or", self.seen_alone, BufferLoad(self.seen, (_FIRST,)))
        axes: tuple[Axis, ...] = nest.reduce

        def one(at: Places) -> Stmt:
            value = put(nest, {**row, **at}, self.reduction.value)
            return store(self.total, binary(self._op, self.total, value))

        again = seq(store(self.total, start(nest, row)), over_axes(axes, one))
        return (IfThenElse(binary("or", seen, zero), again),)
