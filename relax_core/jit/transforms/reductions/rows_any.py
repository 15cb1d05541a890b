"""Reductions of rows of any number and length: a lane for each row, as `rows` has them, with run-time bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relax_core.ir.node import postorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.loops import charge_fuel, least
from relax_core.jit.lowering.scalars.counts import lower_count
from relax_core.jit.lowering.scalars.scalar import element_pointer, lower_expr, number_literal
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.scalars.vectors import comment_store
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.contractions.read import Accumulation
from relax_core.jit.transforms.contractions.read_any import any_nest, are_in_range, reduced, why_not_counted
from relax_core.jit.transforms.reductions.reduction import may_stop
from relax_core.jit.transforms.reductions.rows import DIRECT_COLUMNS, SHORTEST_DIRECT, STAGED_COLUMNS
from relax_core.jit.transforms.reductions.rows_any_nest import told
from relax_core.jit.transforms.repeat import begin_of, repeat
from relax_core.jit.transforms.transform import Plan, Refusal, Transform
from relax_core.jit.transforms.vector_code import (
    LANE_LIMIT,
    at_distance,
    can_combine,
    combine,
    gather,
    load_vector,
    splat,
    stack_array,
    transposed,
    vector_type,
)

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))


@dataclass(frozen=True, slots=True)
class AnyRows:
    """Loops over `rows` and the `terms` of each, and the accumulation in them.

    Indices of `found` are variables of the loops, or do not depend on them but for those of the terms. `direct` is the
    load that a term is, if the terms of a row lie side by side; `work` is the fuel of one term.
    """

    rows: For
    terms: For
    found: Accumulation
    init: FloatImm | IntImm | None
    direct: BufferLoad | None
    scalar: ScalarType
    lanes: int
    work: int

    @property
    def chunk(self) -> int:
        """How many columns are combined between two payments of fuel; a multiple of the lanes."""
        return STAGED_COLUMNS if self.direct is None else DIRECT_COLUMNS


def plan_rows_any(state: State, loop: For) -> Plan | Refusal | None:
    """Plan the reduction of rows whose number or length is not known."""
    rows = _read(state, loop)
    if rows is None or isinstance(rows, str):
        return None if rows is None else Refusal(rows)
    how = "computed row by row" if rows.direct is None else "loaded"
    reason = f"any number of rows, a lane for each of {rows.lanes}; their values are {how} and transposed in tiles"
    code = AnyRowsCode(state, rows)
    return Plan(
        reason,
        code.emit,
        lambda: (told(rows.rows, rows.terms, rows.found.update, rows.init, rows.lanes),),
        rows.found.update,
    )


# Why the bits stay: as of `rows`, a lane is a row, and combines its values in the order of the text with the operands
# on the same sides. Lanes behind the last row do once more what it does, from the same start, which is read before
# anything of the block is written, and store the same bits to the same element. Rows write different elements, as the
# variable of their loop is an index of the output by itself; no value reads one. All accesses are proven in range for
# all values of both loops, and no value may stop the kernel, so that rows may be computed side by side.
ROWS_ANY = Transform(
    "rows_any", "Rows of any number and length are reduced side by side in the lanes of a vector", MODES, plan_rows_any
)


def _read(state: State, loop: For) -> AnyRows | str | None:
    nest = any_nest(loop)
    if nest is None or len(nest.loops) != 2:
        return None
    terms = nest.loops[1]
    counts = [state.bounds.constant(item.extent) for item in nest.loops]
    if None not in counts:
        return None
    refused = why_not_counted(state, nest.loops)
    if not refused and ((counts[0] or 2) < 2 or (counts[1] or SHORTEST_DIRECT) < SHORTEST_DIRECT):
        refused = "so few values gain nothing"
    read = refused or reduced(state, nest)
    if isinstance(read, str):
        return read
    scalar = state.scalar_of(read.found.update.buffer)
    rows = AnyRows(
        loop,
        terms,
        read.found,
        read.init,
        _direct(state, read.found.term, terms.var, scalar),
        scalar,
        min(LANE_LIMIT, state.options.lanes(scalar.bits)),
        max(static_work(state, terms.body) or 1, 1),
    )
    return _why_not(state, rows) or rows


def _direct(state: State, term: PrimExpr, var: PrimVar, scalar: ScalarType) -> BufferLoad | None:
    """Return the load that a term is, if the terms of a row lie side by side in the dtype of the output."""
    if not isinstance(term, BufferLoad) or state.scalar_of(term.buffer) != scalar:
        return None
    storage = state.environment.storage.get(term.buffer)
    is_last = bool(term.indices) and term.indices[-1] is var and var not in {*postorder(*term.indices[:-1])}
    return term if storage is not None and is_last and storage.strides[-1] == "1" else None


def _why_not(state: State, rows: AnyRows) -> str:
    """Say what of a reduction is not taken, or return an empty string."""
    store, term, scalar = rows.found.update, rows.found.term, rows.scalar
    if scalar.kind != "float" or not can_combine(rows.found.op, scalar) or state.scalar_of(term) != scalar:
        return f"`{rows.found.op}` of {scalar.name} is not combined in the lanes of rows"
    loads = [item for item in postorder(term) if isinstance(item, BufferLoad)]
    accesses = (store, rows.found.own, *loads)
    storages = [state.environment.storage.get(item.buffer) for item in accesses]
    if any(item is None or item.memory is not None for item in storages) or store.buffer in state.environment.held:
        return "a buffer is a view, or in registers"
    if any(item.buffer is store.buffer for item in loads) or store.indices != rows.found.own.indices:
        return "it reads another element of the output"
    used = {item for index in store.indices for item in postorder(index)}
    if rows.terms.var in used or not any(index is rows.rows.var for index in store.indices):
        return "the output is not indexed by its rows"
    if any(item.indices[-1:] == (rows.rows.var,) and rows.terms.var in {*postorder(*item.indices)} for item in loads):
        return "its values lie side by side along an axis that is not reduced"
    if may_stop(term) or any(may_stop(index) for item in accesses for index in item.indices):
        return "the value may stop the kernel"
    return "" if are_in_range(state, (rows.rows, rows.terms), accesses) else "an index is not proven to be in range"


@dataclass(slots=True)
class AnyRowsCode:
    """Writes the code of one nest; `total` holds the totals of a block of rows, `stage` the values of a chunk."""

    state: State
    rows: AnyRows
    total: str = ""
    stage: str = ""
    row_count: str = "0"
    column_count: str = "0"

    def emit(self) -> None:
        """Write everything; without terms elements are what they start with."""
        state, code, rows = self.state, self.state.code, self.rows
        self.row_count, self.column_count = (
            self._most("smax", lower_count(state, item.extent, lower_expr), "0") for item in (rows.rows, rows.terms)
        )
        self.total = stack_array(state, "totals", rows.scalar, rows.lanes)
        if rows.direct is None:
            self.stage = stack_array(state, "stage", rows.scalar, rows.lanes * rows.chunk)
        work, empty, done = (code.label(hint) for hint in ("work", "empty", "done"))
        code.branch(code.emit(f"icmp sgt i64 {self.column_count}, 0"), work, empty)
        code.start(work)
        mark = state.bounds.mark()
        for item in (rows.rows, rows.terms):
            state.bounds.enter_loop(item)
        blocks = self._divided(code.emit(f"add nuw nsw i64 {self.row_count}, {rows.lanes - 1}"))
        repeat(state, blocks, self._block)
        code.jump(done)
        code.start(empty)
        if rows.init is not None:
            repeat(state, self.row_count, self._started)
        state.bounds.leave(mark)
        code.goto(done)

    def _started(self, row: str) -> None:
        """Write what an element starts with that no term is added to."""
        (target,) = self._at([row], self.rows.found.own)
        scalar, init = self.rows.scalar, self.rows.init
        assert init is not None, "without an initial value elements stay as they are"
        self.state.code.do(
            f"store {scalar.memory} {number_literal(init, scalar)}, ptr {target}, align {scalar.size_bytes}"
        )

    def _block(self, number: str) -> None:
        """Reduce as many rows as there are lanes; lanes behind the last row repeat it."""
        state, code, rows = self.state, self.state.code, self.rows
        first = begin_of(self.state.code, number, self.rows.lanes)
        last = code.emit(f"sub nsw i64 {self.row_count}, 1")
        numbers = [least(state, self._plus(first, str(lane)), last) for lane in range(rows.lanes)]
        targets = self._at(numbers, rows.found.own)
        if rows.init is None:
            start = gather(code, targets, rows.scalar, rows.lanes)
        else:
            start = splat(code, rows.scalar.register, rows.lanes, number_literal(rows.init, rows.scalar))
        self._keep(start)
        sources = [] if rows.direct is None else self._at(numbers, rows.direct)
        size = rows.chunk
        chunks = code.emit(f"udiv i64 {code.emit(f'add nuw nsw i64 {self.column_count}, {size - 1}')}, {size}")
        repeat(state, chunks, lambda chunk: self._chunk(first, chunk, sources))
        total = self._total()
        for lane, target in enumerate(targets):
            value = code.emit(f"extractelement {self._vector} {total}, i64 {lane}")
            code.do(f"store {rows.scalar.memory} {value}, ptr {target}, align {rows.scalar.size_bytes}")

    def _chunk(self, row: str, number: str, sources: Sequence[str]) -> None:
        """Combine a chunk of columns: whole tiles, and the columns behind the last of them."""
        state, code, rows = self.state, self.state.code, self.rows
        first = code.emit(f"mul nuw nsw i64 {number}, {rows.chunk}")
        left = code.emit(f"sub nuw nsw i64 {self.column_count}, {first}")
        count = least(state, left, str(rows.chunk))
        if not state.position.is_charged:
            charge_fuel(state, rows.terms, code.emit(f"mul nuw nsw i64 {count}, {rows.lanes * rows.work}"))
        memory = rows.scalar.memory
        if rows.direct is None:
            repeat(state, str(rows.lanes), lambda lane: self._compute(row, lane, (first, count)))
            bases = [at_distance(code, self.stage, memory, lane * rows.chunk) for lane in range(rows.lanes)]
        else:
            bases = [at_distance(code, source, memory, first) for source in sources]
        tiles = self._divided(count)
        before = code.set_location(rows.found.update)
        comment_store(state, rows.found.update)

        def tile(at: str) -> None:
            place = begin_of(self.state.code, at, self.rows.lanes)
            vectors = [
                load_vector(code, at_distance(code, base, memory, place), rows.scalar, (rows.lanes, rows.lanes))
                for base in bases
            ]
            self._combine(transposed(code, vectors, memory, rows.scalar.bits))

        def column(at: str) -> None:
            places = [at_distance(code, base, memory, at) for base in bases]
            self._combine([gather(code, places, rows.scalar, rows.lanes)])

        repeat(state, tiles, tile, is_written=True)
        repeat(state, count, column, begin_of(self.state.code, tiles, self.rows.lanes), is_written=True)
        code.restore_location(before)

    def _compute(self, first: str, lane: str, columns: tuple[str, str]) -> None:
        """Write the values of a lane's row in a chunk of columns to the stage."""
        state, code, rows = self.state, self.state.code, self.rows
        last = code.emit(f"sub nsw i64 {self.row_count}, 1")
        row = least(state, self._plus(first, lane), last)
        start = code.emit(f"mul nuw nsw i64 {lane}, {rows.chunk}")

        def column(at: str) -> None:
            (value,) = self._with([row], self._plus(columns[0], at), lambda: lower_expr(state, rows.found.term))
            entry = at_distance(code, self.stage, rows.scalar.memory, self._plus(start, at))
            code.do(f"store {rows.scalar.memory} {value}, ptr {entry}, align {rows.scalar.size_bytes}")

        repeat(state, columns[1], column)

    def _combine(self, columns: Sequence[str]) -> None:
        code, rows = self.state.code, self.rows
        total = self._total()
        for value in columns:
            operands = (value, total) if rows.found.is_term_first else (total, value)
            total = combine(code, rows.found.op, operands, rows.scalar, rows.lanes)
        self._keep(total)

    def _at(self, numbers: Sequence[str], access: BufferLoad) -> list[str]:
        """Write the addresses of an element for the first term of each row."""
        return self._with(numbers, "0", lambda: element_pointer(self.state, access))

    def _with(self, numbers: Sequence[str], column: str, emit: Callable[[], str]) -> list[str]:
        """Emit something for a column of each row."""
        state, rows = self.state, self.rows
        found: list[str] = []
        for number in numbers:
            for var, register in ((rows.rows.var, number), (rows.terms.var, column)):
                bits = state.scalar_of(var).bits
                state.define(var, register if bits == 64 else state.code.emit(f"trunc i64 {register} to i{bits}"))
            found.append(emit())
            state.forget(2)
        return found

    @property
    def _vector(self) -> str:
        return vector_type(self.rows.scalar.memory, self.rows.lanes)

    def _total(self) -> str:
        return self.state.code.emit(f"load {self._vector}, ptr {self.total}, align 64")

    def _keep(self, total: str) -> None:
        self.state.code.do(f"store {self._vector} {total}, ptr {self.total}, align 64")

    def _most(self, name: str, a: str, b: str) -> str:
        self.state.code.declare(f"declare i64 @llvm.{name}.i64(i64, i64)")
        return self.state.code.emit(f"call i64 @llvm.{name}.i64(i64 {a}, i64 {b})")

    def _divided(self, value: str) -> str:
        return self.state.code.emit(f"udiv i64 {value}, {self.rows.lanes}")

    def _plus(self, value: str, distance: str) -> str:
        return value if distance == "0" else self.state.code.emit(f"add nuw nsw i64 {value}, {distance}")
