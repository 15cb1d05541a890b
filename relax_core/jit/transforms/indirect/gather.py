"""Vectorise loops with indirect loads: bounds-check the index vectors, then gather.

If a lane is out of bounds, the loop is deoptimised: it resumes in the checked scalar loop at the first iteration of
the failing group, so that every store before the violation happens and the violation itself is reported in order.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from relax_core.ir.prim import Binary, Cast, PrimExpr, PrimVar, Select
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.loops import Counting, Iterations, counted, lower_for
from relax_core.jit.lowering.scalars.arithmetic import comparison
from relax_core.jit.lowering.scalars.scalar import element_pointer, integer_literal, lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.indirect.gather_read import Gather, StridedLoad, read_gather
from relax_core.jit.transforms.indirect.guard_read import is_same
from relax_core.jit.transforms.indirect.plan_nest import gathered
from relax_core.jit.transforms.nest_values import enter_block
from relax_core.jit.transforms.transform import Plan, Transform
from relax_core.jit.transforms.vector_code import (
    at_distance,
    combine,
    converted,
    gather_at,
    load_apart,
    load_vector,
    splat,
    store_vector,
    vector_type,
)

WORD_BITS = 64
MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# The widest vector whose sign bits one instruction tests without leaving the vector unit (vptest on a ymm register).
TESTED_BITS = 256


_WORD = SCALAR_TYPES["int64"]
# A target with vectors this wide permutes a register by a vector of indices in one instruction (AVX-512 vpermd),
VECTOR_BITS = 512
# for elements of these widths; LLVM matches the pattern for this many 64-bit indices at a time.
ELEMENT_BITS = (32, 64)
TOGETHER = 8


@dataclass(slots=True)
class VectorEmitter:
    """Emits `gather.lanes` iterations as one vector; `first` gives the loop variables' registers in lane 0.

    Values are numbered, so that an expression used several times is emitted once per vector.
    """

    state: State
    gather: Gather
    first: Mapping[PrimVar, str]
    _made: list[tuple[PrimExpr, str]] = field(default_factory=list[tuple[PrimExpr, str]])
    _whole: dict[BufferLoad, str] = field(default_factory=dict[BufferLoad, str])

    @contextmanager
    def inside(self) -> Generator[None]:
        """Put the loop and block variables in scope, with their values in lane 0."""
        state, gather = self.state, self.gather
        mark, before = state.bounds.mark(), state.code.set_location(gather.store)
        loops = [item for item in (gather.outer, gather.loop) if item is not None]
        for loop in loops:
            state.bounds.enter_loop(loop)
            state.define(loop.var, self.first[loop.var])
        count = 0 if gather.block is None else enter_block(state, gather.block)
        yield
        state.forget(len(loops) + count)
        state.code.restore_location(before)
        state.bounds.leave(mark)

    def places(self, load: BufferLoad) -> list[str]:
        """Emit the index vectors of a gathered load, one per dimension, each in the dtype of its index."""
        return [self._value(index) for index in load.indices]

    def store(self) -> None:
        """Emit the stored value in all lanes, and one contiguous vector store."""
        state, gather = self.state, self.gather
        value = self._value(gather.store.value)
        pointer = element_pointer(state, gather.store)
        scalar = state.scalar_of(gather.store.buffer)
        store_vector(state.code, value, pointer, scalar, (gather.lanes, gather.lanes))

    def _value(self, expr: PrimExpr) -> str:
        """Emit a value in all lanes, or return the register of an expression that is known to be equal."""
        found = next((register for other, register in self._made if is_same(expr, other)), None)
        if found is None:
            found = self._emit(expr)
            self._made.append((expr, found))
        return found

    def _emit(self, expr: PrimExpr) -> str:
        state, code, lanes = self.state, self.state.code, self.gather.lanes
        scalar = state.scalar_of(expr)
        if expr in self.gather.fixed:
            return splat(code, scalar.register, lanes, lower_expr(state, expr))
        match expr:
            case PrimVar() if expr is self.gather.loop.var:
                numbers = f"<{', '.join(f'{scalar.register} {lane}' for lane in range(lanes))}>"
                first = splat(code, scalar.register, lanes, state.environment.registers[expr])
                return code.emit(f"add {vector_type(scalar.register, lanes)} {first}, {numbers}")
            case PrimVar():
                binding = self.gather.binding[expr]
                return converted(code, self._value(binding), (state.scalar_of(binding), scalar), lanes)
            case BufferLoad() if expr in self.gather.strided:
                return self._beside(expr, self.gather.strided[expr])
            case BufferLoad():
                return self._gathered(expr)
            case Cast(value=value):
                return converted(code, self._value(value), (state.scalar_of(value), scalar), lanes)
            case Binary(op=op, a=a, b=b):
                return combine(code, op, (self._value(a), self._value(b)), scalar, lanes)
            case Select(condition=Binary() as condition, true_value=a, false_value=b):
                vector = vector_type(scalar.register, lanes)
                test = self._truth(condition)
                return code.emit(f"select <{lanes} x i1> {test}, {vector} {self._value(a)}, {vector} {self._value(b)}")
            case _:
                raise AssertionError(f"{type(expr).__name__} is refused where the loop is read")

    def _beside(self, load: BufferLoad, beside: StridedLoad) -> str:
        """Emit a strided load; interleaved loads share one wide load, from which each shuffles its own lanes."""
        code, lanes, scalar = self.state.code, self.gather.lanes, self.state.scalar_of(load)
        if beside.step == 1 or not beside.is_whole:
            return load_apart(code, element_pointer(self.state, load), scalar, (lanes, lanes), beside.step)
        whole = self._whole.get(beside.first)
        count = lanes * beside.step
        if whole is None:
            pointer = element_pointer(self.state, beside.first)
            whole = self._whole[beside.first] = load_vector(code, pointer, scalar, (count, count))
        places = ", ".join(f"i32 {beside.place + lane * beside.step}" for lane in range(lanes))
        vector = vector_type(scalar.memory, count)
        return code.emit(f"shufflevector {vector} {whole}, {vector} poison, <{lanes} x i32> <{places}>")

    def _truth(self, condition: Binary) -> str:
        scalar = self.state.scalar_of(condition.a)
        vector = vector_type(scalar.register, self.gather.lanes)
        a, b = self._value(condition.a), self._value(condition.b)
        return self.state.code.emit(f"{comparison(condition.op, scalar)} {vector} {a}, {b}")

    def _gathered(self, load: BufferLoad) -> str:
        state, code, lanes = self.state, self.state.code, self.gather.lanes
        storage, vector = state.environment.storage[load.buffer], f"<{lanes} x i64>"
        if is_row(state, self.gather, load):
            return taken(state, load, row_of(state, load), (self._place(load.indices[-1]), lanes))
        places = [self._place(index) for index in load.indices]
        total = ""
        for place, stride in zip(places, storage.strides, strict=True):
            factor = splat(code, "i64", lanes, stride)
            term = place if stride == "1" else code.emit(f"mul nuw nsw {vector} {place}, {factor}")
            total = code.emit(f"add nuw nsw {vector} {total}, {term}") if total else term
        pointers = code.emit(f"getelementptr inbounds {storage.scalar.memory}, ptr {storage.pointer}, {vector} {total}")
        return gather_at(code, pointers, storage.scalar, lanes, storage.alignment)

    def _place(self, index: PrimExpr) -> str:
        """Emit an index vector, sign- or zero-extended to `<lanes x i64>`."""
        scalar = self.state.scalar_of(index)
        value = self._value(index)
        if scalar.bits == _WORD.bits:
            return value
        how = "sext" if scalar.kind == "int" else "zext"
        source, target = (vector_type(item, self.gather.lanes) for item in (scalar.register, "i64"))
        return self.state.code.emit(f"{how} {source} {value} to {target}")


def is_row(state: State, gather: Gather, load: BufferLoad) -> bool:
    """Tell whether a load looks up a small table: a contiguous last dimension that fits one vector register."""
    storage = state.environment.storage[load.buffer]
    extent, bits = storage.extents[-1], storage.scalar.bits
    if state.options.vector_bits < VECTOR_BITS or bits not in ELEMENT_BITS or storage.scalar.is_narrowed:
        return False
    if storage.strides[-1] != "1" or "%" in extent or gather.lanes % TOGETHER:
        return False
    is_fixed = all(index in gather.fixed for index in load.indices[:-1])
    return is_fixed and 0 < int(extent) <= VECTOR_BITS // bits


def row_of(state: State, load: BufferLoad) -> str:
    """Emit the load of the whole table that a lookup reads, padded with zeros to the width of a vector."""
    code, storage = state.code, state.environment.storage[load.buffer]
    pointer = storage.pointer
    for index, stride in zip(load.indices[:-1], storage.strides[:-1], strict=True):
        place = state.widen(lower_expr(state, index), state.scalar_of(index))
        distance = place if stride == "1" else code.emit(f"mul nuw nsw i64 {place}, {stride}")
        pointer = at_distance(code, pointer, storage.scalar.memory, distance)
    width = VECTOR_BITS // storage.scalar.bits
    return load_vector(code, pointer, storage.scalar, (width, int(storage.extents[-1])))


def taken(state: State, load: BufferLoad, row: str, places: tuple[str, int]) -> str:
    """Emit a lookup: the elements of the vector `row` at a vector of indices, given as its register and its lanes.

    It is spelled as extracts and inserts, eight lanes at a time, which LLVM combines to one permutation.
    """
    code, scalar = state.code, state.environment.storage[load.buffer].scalar
    register, lanes = places
    indices, values = f"<{lanes} x i64>", vector_type(scalar.memory, VECTOR_BITS // scalar.bits)
    found: list[str] = []
    part = vector_type(scalar.memory, TOGETHER)
    for first in range(0, lanes, TOGETHER):
        numbers = ", ".join(f"i32 {first + lane}" for lane in range(TOGETHER))
        some = code.emit(f"shufflevector {indices} {register}, {indices} poison, <{TOGETHER} x i32> <{numbers}>")
        vector = "poison"
        for lane in range(TOGETHER):
            place = code.emit(f"extractelement <{TOGETHER} x i64> {some}, i64 {lane}")
            element = code.emit(f"extractelement {values} {row}, i64 {place}")
            vector = code.emit(f"insertelement {part} {vector}, {scalar.memory} {element}, i64 {lane}")
        found.append(vector)
    while len(found) > 1:
        size = lanes // len(found)
        half, numbers = vector_type(scalar.memory, size), ", ".join(f"i32 {lane}" for lane in range(2 * size))
        pairs = zip(found[::2], found[1::2], strict=True)
        found = [code.emit(f"shufflevector {half} {a}, {half} {b}, <{2 * size} x i32> <{numbers}>") for a, b in pairs]
    return found[0]


def plan_gather(state: State, loop: For) -> Plan | None:
    """Plan an innermost loop that loads at indirect indices and stores contiguously."""
    gather = read_gather(state, loop)
    if gather is None:
        return None
    names = ", ".join(dict.fromkeys(f"`{load.buffer.name}`" for load in gather.gathered))
    reason = f"{gather.lanes} elements of {names} are read at once, behind one check"
    rows = dict.fromkeys(f"`{load.buffer.name}`" for load in gather.gathered if is_row(state, gather, load))
    reason += f"; rows of {', '.join(rows)} lie in a vector, from which they are taken" if rows else ""
    return Plan(reason, _Rounds(state, gather).emit, lambda: (gathered(gather),))


# Why the bits stay: each lane executes the operations of one iteration in their order, and vector arithmetic rounds
# lane by lane. No load aliases the store, so all loads of a group may be hoisted above its stores, and the stores are
# contiguous in iteration order. The index vectors of a group are checked before its first store: if a lane is out of
# bounds, the group has had no effect, and the scalar loop executes it from its first iteration as written. Loads that
# are executed without a check are proven in bounds, those on both sides of a select included.
GATHER = Transform("gather", "Elements at places that are data are read in vectors", MODES, plan_gather)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Emits a vectorised loop: whole groups of vectors, single vectors, and a checked scalar loop for the rest."""

    state: State
    gather: Gather

    def emit(self) -> None:
        """Write the code of the whole loop."""
        lower_for(self.state, self._loop, Iterations(self._iterations))

    def _iterations(self, counting: Counting) -> None:
        """Emit iterations whose fuel is charged: vector loops, then the scalar loop for what they left."""
        code, gather = self.state.code, self.gather
        one_by_one, done = code.label("careful"), code.label("done")
        place = f"%{code.label('reached')}"
        code.entry.append(f"{place} = alloca i64")
        code.do(f"store i64 {counting.first}, ptr {place}")
        is_known = "%" not in counting.first + counting.end
        left = int(counting.end) - int(counting.first) if is_known else 0
        sizes = [gather] if is_known and left % gather.rounds == 0 else [gather, gather.single]
        for part in sizes:
            self._vectors(part, counting, place, one_by_one)
        code.jump(done if len(sizes) == 1 else one_by_one)
        code.start(one_by_one)
        self._one_by_one(replace(counting, first=code.emit(f"load i64, ptr {place}")))
        code.goto(done)

    def _vectors(self, part: Gather, counting: Counting, place: str, otherwise: str) -> None:
        """Emit a loop of whole groups, which branches to `otherwise` on a failed check.

        The stack slot `place` holds the first iteration that has not been executed.
        """
        state, code = self.state, self.state.code
        head, inside, leave = (code.label(hint) for hint in ("vectors", "vector", "over"))
        code.goto(head)
        base = code.emit(f"load i64, ptr {place}")
        end = code.emit(f"add nuw nsw i64 {base}, {part.rounds}")
        code.branch(code.emit(f"icmp sle i64 {end}, {counting.end}"), inside, leave)
        code.start(inside)
        first = base if counting.start == "0" else code.emit(f"add i64 {base}, {counting.start}")
        vectors = [VectorEmitter(state, part, at) for at in self._places(part, first)]
        for load in part.gathered:
            require(state, load, vectors, otherwise)
        for lanes in vectors:
            with lanes.inside():
                lanes.store()
        code.do(f"store i64 {end}, ptr {place}")
        code.do(f"br label %{head}, !llvm.loop {code.written_loop()}")
        code.start(leave)

    @property
    def _loop(self) -> For:
        return self.gather.loop if self.gather.outer is None else self.gather.outer

    def _places(self, gather: Gather, first: str) -> list[dict[PrimVar, str]]:
        """Emit the loop variables in lane 0 of each vector of the group that starts at iteration `first`."""
        distances = range(0, gather.vectors * gather.lanes, gather.lanes)
        if gather.outer is None:
            return [{gather.loop.var: self._behind(first, distance, gather.loop)} for distance in distances]
        return [
            {gather.outer.var: self._behind(first, row, gather.outer), gather.loop.var: str(distance)}
            for row in range(gather.rows)
            for distance in distances
        ]

    def _behind(self, first: str, distance: int, loop: For) -> str:
        code, scalar = self.state.code, self.state.scalar_of(loop.var)
        place = code.emit(f"add i64 {first}, {distance}") if distance else first
        return place if scalar.bits == WORD_BITS else code.emit(f"trunc i64 {place} to {scalar.register}")

    def _one_by_one(self, counting: Counting) -> None:
        """Emit the scalar loop with its checks, as written."""
        state = self.state
        options, state.options = state.options, replace(state.options, is_transformed=False)
        was_deoptimised, state.position.is_deoptimised = state.position.is_deoptimised, True
        counted(state, self._loop, counting)
        state.options, state.position.is_deoptimised = options, was_deoptimised


def require(state: State, load: BufferLoad, vectors: Sequence[VectorEmitter], otherwise: str) -> None:
    """Branch to `otherwise` unless `load` is in bounds in every lane of `vectors`; what is proven is not checked."""
    code = state.code
    checked = [at for at in range(len(load.indices)) if not state.is_in_range(load, at)]
    if not state.options.is_checked or not checked:
        return
    state.emitted.checked.append(load)
    before = code.set_location(load, is_check=True)
    found: list[list[str]] = []
    for lanes in vectors:
        with lanes.inside():
            found.append(lanes.places(load))
    fits = "true"
    for at in checked:
        scalar = state.scalar_of(load.indices[at])
        extent = state.environment.storage[load.buffer].extents[at]
        fit = _are_below(state, [places[at] for places in found], scalar, (vectors[0].gather.lanes, extent))
        fits = fit if fits == "true" else code.emit(f"and i1 {fits}, {fit}")
    fine = code.label("fine")
    code.branch(fits, fine, otherwise, expects_true=True)
    code.start(fine)
    code.restore_location(before)


def _are_below(state: State, places: Sequence[str], scalar: ScalarType, shape: tuple[int, str]) -> str:
    """Emit whether every lane of every vector is below an extent, as unsigned integers; `shape` is (lanes, extent).

    The sign bit of `(extent - 1 - i) | i` is set if and only if `i` is negative or at least the extent.
    """
    code = state.code
    lanes, extent = shape
    if scalar.kind == "uint":
        source, wide = (vector_type(item, lanes) for item in (scalar.register, "i64"))
        places = places if scalar.bits == _WORD.bits else [code.emit(f"zext {source} {at} to {wide}") for at in places]
        scalar = _WORD
    vector = vector_type(scalar.register, lanes)
    greatest = places[0]
    name = f"@llvm.umax.v{lanes}{scalar.register}"
    for place in places[1:]:
        code.declare(f"declare {vector} {name}({vector}, {vector})")
        greatest = code.emit(f"call {vector} {name}({vector} {greatest}, {vector} {place})")
    last = splat(code, scalar.register, lanes, _last(state, extent, scalar))
    beyond = code.emit(f"sub {vector} {last}, {greatest}")
    return _is_positive(state, code.emit(f"or {vector} {beyond}, {greatest}"), scalar, lanes)


def _last(state: State, extent: str, scalar: ScalarType) -> str:
    """Emit the largest index in bounds, clamped to the largest value of the index's dtype."""
    code = state.code
    if "%" not in extent:
        return integer_literal(min(int(extent) - 1, scalar.high), scalar)
    last = code.emit(f"sub nsw i64 {extent}, 1")
    if scalar.bits == _WORD.bits:
        return last
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    least = code.emit(f"call i64 @llvm.smin.i64(i64 {last}, i64 {scalar.high})")
    return code.emit(f"trunc i64 {least} to {scalar.register}")


def _is_positive(state: State, value: str, scalar: ScalarType, lanes: int) -> str:
    """Emit whether no lane has its sign bit set; a wide vector is halved by `or` first."""
    code = state.code
    while lanes * scalar.bits > TESTED_BITS:
        vector, half = vector_type(scalar.register, lanes), lanes // 2
        parts = [", ".join(f"i32 {first + lane}" for lane in range(half)) for first in (0, half)]
        low, high = (
            code.emit(f"shufflevector {vector} {value}, {vector} poison, <{half} x i32> <{at}>") for at in parts
        )
        lanes = half
        value = code.emit(f"or {vector_type(scalar.register, lanes)} {low}, {high}")
    vector = vector_type(scalar.register, lanes)
    sign = splat(code, scalar.register, lanes, integer_literal(scalar.low, scalar))
    signs = code.emit(f"and {vector} {value}, {sign}")
    bits = code.emit(f"bitcast {vector} {signs} to i{lanes * scalar.bits}")
    return code.emit(f"icmp eq i{lanes * scalar.bits} {bits}, 0", "in")
