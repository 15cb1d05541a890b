"""Reductions of few long rows: partial results in the lanes of several vectors, combined by a fixed tree at the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.tir import For
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.scalars.scalar import float_literal
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
from relax_core.jit.transforms.reductions.lanes_nest import LanesNest
from relax_core.jit.transforms.reductions.reduction import ReducedValues, Reduction, read_reduction, values_of
from relax_core.jit.transforms.repeat import begin_of, repeat, repeat_charged
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import LANE_LIMIT, combine, load_vector, store_vector

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
VECTORS = 4
# A sum in this many lanes, whatever the processor has, gives the same value everywhere.
FIXED_LANES = 16
CHUNK_COLUMNS = 1024
NEUTRAL: Mapping[str, float] = MappingProxyType({"+": -0.0, "*": 1.0})
# With more rows than this, a lane for each row is faster; both orders are as good in mode "fast".
MOST_ROWS = 3


def plan_lanes(state: State, loop: For) -> Plan | Refusal | None:
    """Plan a reduction of few rows; sums only where their order is free."""
    reduction = read_reduction(state, loop)
    if reduction is None or isinstance(reduction, str):
        return None if reduction is None else Refusal(reduction)
    nest, op, scalar = reduction.nest, reduction.op, reduction.scalar
    if scalar.is_integral or reduction.row_count > MOST_ROWS or reduction.order != "output first":
        return None
    is_choice = op in ("min", "max")
    if not is_choice and (state.options.mode != "fast" or op not in ("+", "*")):
        return Refusal(f'`{op}` of {scalar.name} keeps its order; only mode "fast" changes it')
    values = values_of(reduction)
    lanes = min(LANE_LIMIT, state.options.lanes(scalar.bits)) if is_choice else FIXED_LANES
    if values.count < VECTORS * lanes or reduction.row_count == 0:
        return Refusal(f"rows of {values.count} values fill no {VECTORS} vectors")
    work = max(static_work(state, nest.block or nest.update) or 1, 1)
    found = _Lanes(state, loop, reduction, values, lanes, work)
    reason = f"{VECTORS} x {lanes} values of a row at once" + (", in order where that matters" if is_choice else "")
    told = LanesNest.of(reduction, values, VECTORS * lanes, None if is_choice else NEUTRAL[op])
    return Plan(reason, found.emit, lambda: (told.rows(),), nest.update)


# Why the bits stay: in "bitwise" and "exact" this takes only `min` and `max`. Without a NaN these are associative and
# commutative up to the sign of a zero: the result is a value that compares equal to the extreme one, and two floats
# that compare equal have the same bits unless they are zeros. Every lane starts with the start value, which changes
# nothing, as `min(a, a)` is `a`. If a NaN was seen, the start included, or the result is a zero, the row is computed
# once more in the order of the text. In "fast" sums and products are joined in a tree of a fixed number of lanes, the
# same on every processor; their lanes start with the neutral element, of which -0.0 leaves the sign of a zero alone.
LANES = Transform("lanes", "A long row is reduced in many lanes, where order is free", MODES, plan_lanes)


@dataclass(slots=True)
class _Lanes:
    """Writes the code of one nest.

    `totals` holds the accumulators; `flags` tells in each lane whether a NaN was seen, for which the order matters as
    it does for zeros of either sign; `total` holds the value of the whole row, `flag` whether it has a NaN.
    """

    state: State
    loop: For
    reduction: Reduction
    values: ReducedValues
    lanes: int
    work: int
    totals: str = ""
    flags: str = ""
    total: str = ""
    flag: str = ""
    stage: str = ""

    def emit(self) -> None:
        """Write the code of the whole nest."""
        scalar, nest = self.reduction.scalar, self.reduction.nest
        self.totals = self._array(f"[{self._width} x {scalar.memory}]")
        self.flags, self.flag = self._array(f"<{self.lanes} x i1>"), self._array("i1")
        self.total = self._array(scalar.memory)
        self.stage = "" if self.values.direct is not None else self._array(f"[{self._chunk} x {scalar.memory}]")
        repeat(self.state, self.reduction.row_count, lambda row: self._row(parts_of(self.state, row, nest.spatial)))

    @property
    def _is_choice(self) -> bool:
        return self.reduction.op in ("min", "max")

    @property
    def _width(self) -> int:
        return VECTORS * self.lanes

    @property
    def _chunk(self) -> int:
        """How many columns are charged, and staged, at once."""
        return min(CHUNK_COLUMNS, self.values.count // self._width * self._width)

    def _row(self, spatial: Point) -> None:
        state, code, nest = self.state, self.state.code, self.reduction.nest
        scalar, out = self.reduction.scalar, nest.accesses[nest.update]
        zeros = {**spatial, **dict.fromkeys((axis.var for axis in nest.reduce), "0")}
        target = element_at(state, out.storage, offset_at(state, out.offset, zeros))
        if nest.init is None:
            start = read(state, out.storage, target)
        else:
            start = emit_value(state, nest, initial_value(nest.init), zeros)
        self._begin(start)
        self._around(self.values.outer, zeros, self._columns)
        self._join()
        if self._is_choice:
            self._decide(start, zeros)
        result = code.emit(f"load {scalar.memory}, ptr {self.total}")
        code.do(f"store {scalar.memory} {result}, ptr {target}, align {out.storage.alignment}")

    def _begin(self, start: str) -> None:
        """Set the accumulators: a choice starts with the same value in each lane, a sum with it in the whole row's."""
        code, scalar = self.state.code, self.reduction.scalar
        neutral = start if self._is_choice else float_literal(NEUTRAL[self.reduction.op], scalar)
        single = code.emit(f"insertelement <{self.lanes} x {scalar.memory}> poison, {scalar.memory} {neutral}, i32 0")
        vector = f"<{self.lanes} x {scalar.memory}>"
        mask = f"<{self.lanes} x i32> zeroinitializer"
        splat = code.emit(f"shufflevector {vector} {single}, {vector} poison, {mask}")
        for at in range(VECTORS):
            store_vector(code, splat, self._accumulator(at), scalar, (self.lanes, self.lanes))
        code.do(f"store {scalar.memory} {start}, ptr {self.total}")
        code.do(f"store <{self.lanes} x i1> zeroinitializer, ptr {self.flags}")
        code.do(f"store i1 {code.emit(f'fcmp uno {scalar.memory} {start}, {start}')}, ptr {self.flag}")

    def _around(self, axes: tuple[Axis, ...], places: Point, body: Callable[[Point], None]) -> None:
        if not axes:
            body(places)
            return
        axis = axes[0]
        repeat(self.state, axis.extent, lambda at: self._around(axes[1:], {**places, axis.var: at}, body))

    def _columns(self, places: Point) -> None:
        """Combine all columns of the inner axes: those that fill vectors, and the rest one by one."""
        count, chunk, state = self.values.count, self._chunk, self.state
        whole = count // self._width * self._width
        work = chunk * self.work
        repeat_charged(state, self.loop, whole // chunk, work, lambda number: self._piece(number, chunk, places))
        if whole % chunk:
            rest = whole % chunk
            repeat_charged(state, self.loop, 1, rest * self.work, lambda _: self._part(str(whole - rest), rest, places))

        def single(at: str) -> None:
            value = self._value(state.code.emit(f"add nuw nsw i64 {at}, {whole}"), places)
            self._combine_single(value)

        if count % self._width:
            repeat_charged(state, self.loop, count - whole, self.work, single)

    def _piece(self, number: str, size: int, places: Point) -> None:
        first = begin_of(self.state.code, number, size)
        self._part(first, size, places)

    def _part(self, first: str, count: int, places: Point) -> None:
        """Combine columns that fill vectors."""
        state, code, scalar = self.state, self.state.code, self.reduction.scalar
        direct = self.values.direct
        if direct is None:

            def compute(at: str) -> None:
                value = self._value(code.emit(f"add nuw nsw i64 {first}, {at}"), places)
                code.do(f"store {scalar.memory} {value}, ptr {self._at(self.stage, at)}")

            repeat(state, count, compute)
            source = self.stage
        else:
            at_first = {**places, self.values.inner[-1].var: first}
            source = element_at(state, direct.storage, offset_at(state, direct.offset, at_first))

        def vectors(number: str) -> None:
            place = code.emit(f"mul nuw nsw i64 {number}, {self._width}")
            pointer = self._at(source, place)
            loaded = [
                load_vector(code, self._at(pointer, str(at * self.lanes)), scalar, (self.lanes, self.lanes))
                for at in range(VECTORS)
            ]
            for at, vector in enumerate(loaded):
                entry = self._accumulator(at)
                total = load_vector(code, entry, scalar, (self.lanes, self.lanes))
                result = combine(code, self.reduction.op, (total, vector), scalar, self.lanes)
                store_vector(code, result, entry, scalar, (self.lanes, self.lanes))
            if self._is_choice:
                self._note_nans(loaded)

        repeat(state, count // self._width, vectors)

    def _note_nans(self, loaded: list[str]) -> None:
        code, vector = self.state.code, f"<{self.lanes} x {self.reduction.scalar.memory}>"
        flags = code.emit(f"load <{self.lanes} x i1>, ptr {self.flags}")
        for a, b in zip(loaded[::2], loaded[1::2], strict=True):
            # A comparison of two values is unordered if either is a NaN.
            found = code.emit(f"fcmp uno {vector} {a}, {b}")
            flags = code.emit(f"or <{self.lanes} x i1> {flags}, {found}")
        code.do(f"store <{self.lanes} x i1> {flags}, ptr {self.flags}")

    def _value(self, column: str, places: Point) -> str:
        at = {**places, self.values.inner[-1].var: column}
        return emit_value(self.state, self.reduction.nest, self.values.value, at)

    def _combine_single(self, value: str) -> None:
        code, scalar = self.state.code, self.reduction.scalar
        total = code.emit(f"load {scalar.memory}, ptr {self.total}")
        result = combine(code, self.reduction.op, (total, value), scalar)
        code.do(f"store {scalar.memory} {result}, ptr {self.total}")
        if self._is_choice:
            flag = code.emit(f"load i1, ptr {self.flag}")
            is_nan = code.emit(f"fcmp uno {scalar.memory} {value}, {value}")
            code.do(f"store i1 {code.emit(f'or i1 {flag}, {is_nan}')}, ptr {self.flag}")

    def _join(self) -> None:
        """Combine the lanes with each other, always the same ones, and with what the row has besides."""
        code, scalar, lanes = self.state.code, self.reduction.scalar, self.lanes
        parts = [load_vector(code, self._accumulator(at), scalar, (lanes, lanes)) for at in range(VECTORS)]
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [combine(code, self.reduction.op, pair, scalar, lanes) for pair in pairs]
        vector = f"<{lanes} x {scalar.memory}>"
        items = [code.emit(f"extractelement {vector} {parts[0]}, i32 {at}") for at in range(lanes)]
        while len(items) > 1:
            half = len(items) // 2
            pairs = zip(items[:half], items[half:], strict=True)
            items = [combine(code, self.reduction.op, pair, scalar) for pair in pairs]
        total = code.emit(f"load {scalar.memory}, ptr {self.total}")
        result = combine(code, self.reduction.op, (total, items[0]), scalar)
        code.do(f"store {scalar.memory} {result}, ptr {self.total}")

    def _decide(self, start: str, zeros: Point) -> None:
        """Take the row once more in the order of the text where a NaN or the sign of a zero depends on it."""
        state, code, scalar = self.state, self.state.code, self.reduction.scalar
        flags = code.emit(
            f"bitcast <{self.lanes} x i1> {code.emit(f'load <{self.lanes} x i1>, ptr {self.flags}')} to i{self.lanes}"
        )
        seen = code.emit(
            f"or i1 {code.emit(f'icmp ne i{self.lanes} {flags}, 0')}, {code.emit(f'load i1, ptr {self.flag}')}"
        )
        total = code.emit(f"load {scalar.memory}, ptr {self.total}")
        is_zero = code.emit(f"fcmp oeq {scalar.memory} {total}, {float_literal(0.0, scalar)}")
        again, after = code.label("strict"), code.label("joined")
        code.branch(code.emit(f"or i1 {seen}, {is_zero}"), again, after)
        code.start(again)
        code.do(f"store {scalar.memory} {start}, ptr {self.total}")

        def ordered(places: Point) -> None:
            repeat_charged(
                state,
                self.loop,
                self.values.count,
                self.work,
                lambda at: self._combine_single(self._value(at, places)),
            )

        self._around(self.values.outer, zeros, ordered)
        code.goto(after)

    def _accumulator(self, at: int) -> str:
        return self._at(self.totals, str(at * self.lanes))

    def _at(self, array: str, place: str) -> str:
        if place == "0":
            return array
        return self.state.code.emit(f"getelementptr inbounds {self.reduction.scalar.memory}, ptr {array}, i64 {place}")

    def _array(self, llvm: str) -> str:
        register = f"%{self.state.code.label('array')}"
        self.state.code.entry.append(f"{register} = alloca {llvm}, align 64")
        return register
