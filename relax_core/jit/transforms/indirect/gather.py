"""Vectorise loops with indirect accesses: check a vector of indices, then gather.

If one of the indices is out of range, the loop is deoptimised: the iterations of that vector, and all after them,
run one by one with their checks in place, so that what precedes the violation happens and the violation is reported.
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
# Processors test as many bits at once without leaving their vectors' registers.
TESTED_BITS = 256


_WORD = SCALAR_TYPES["int64"]
# Processors with vectors of so many bits take elements of a vector at indirect indices in one instruction,
VECTOR_BITS = 512
# for elements of so many bits, and LLVM finds it for so many places of 64 bits.
ELEMENT_BITS = (32, 64)
TOGETHER = 8


@dataclass(slots=True)
class VectorEmitter:
    """Emits one vector of iterations; `first` are the registers of the loop variables in its first lane."""

    state: State
    gather: Gather
    first: Mapping[PrimVar, str]
    _made: list[tuple[PrimExpr, str]] = field(default_factory=list[tuple[PrimExpr, str]])
    _whole: dict[BufferLoad, str] = field(default_factory=dict[BufferLoad, str])

    @contextmanager
    def inside(self) -> Generator[None]:
        """Stand in the loop."""
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
        """Emit the indices of a load that gathers, as they are, in all lanes."""
        return [self._value(index) for index in load.indices]

    def store(self) -> None:
        """Emit the value, and its store."""
        state, gather = self.state, self.gather
        value = self._value(gather.store.value)
        pointer = element_pointer(state, gather.store)
        scalar = state.scalar_of(gather.store.buffer)
        store_vector(state.code, value, pointer, scalar, (gather.lanes, gather.lanes))

    def _value(self, expr: PrimExpr) -> str:
        """Emit a value in all lanes, once for all expressions that surely have it."""
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
        """Emit the load of elements at equal distances, of those of several loads together."""
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
        """Emit an index in all lanes, as 64-bit integers."""
        scalar = self.state.scalar_of(index)
        value = self._value(index)
        if scalar.bits == _WORD.bits:
            return value
        how = "sext" if scalar.kind == "int" else "zext"
        source, target = (vector_type(item, self.gather.lanes) for item in (scalar.register, "i64"))
        return self.state.code.emit(f"{how} {source} {value} to {target}")


def is_row(state: State, gather: Gather, load: BufferLoad) -> bool:
    """Tell whether all that a load reads in a vector of iterations lies in one vector."""
    storage = state.environment.storage[load.buffer]
    extent, bits = storage.extents[-1], storage.scalar.bits
    if state.options.vector_bits < VECTOR_BITS or bits not in ELEMENT_BITS or storage.scalar.is_narrowed:
        return False
    if storage.strides[-1] != "1" or "%" in extent or gather.lanes % TOGETHER:
        return False
    is_fixed = all(index in gather.fixed for index in load.indices[:-1])
    return is_fixed and 0 < int(extent) <= VECTOR_BITS // bits


def row_of(state: State, load: BufferLoad) -> str:
    """Emit the load of the row in which a load reads; what is behind its last element is 0."""
    code, storage = state.code, state.environment.storage[load.buffer]
    pointer = storage.pointer
    for index, stride in zip(load.indices[:-1], storage.strides[:-1], strict=True):
        place = state.widen(lower_expr(state, index), state.scalar_of(index))
        distance = place if stride == "1" else code.emit(f"mul nuw nsw i64 {place}, {stride}")
        pointer = at_distance(code, pointer, storage.scalar.memory, distance)
    width = VECTOR_BITS // storage.scalar.bits
    return load_vector(code, pointer, storage.scalar, (width, int(storage.extents[-1])))


def taken(state: State, load: BufferLoad, row: str, places: tuple[str, int]) -> str:
    """Emit the elements of a row at a vector of places in it; `places` are its register and its lanes."""
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
    """Plan an innermost loop that reads elements at indirect indices, and stores side by side."""
    gather = read_gather(state, loop)
    if gather is None:
        return None
    names = ", ".join(dict.fromkeys(f"`{load.buffer.name}`" for load in gather.gathered))
    reason = f"{gather.lanes} elements of {names} are read at once, behind one check"
    rows = dict.fromkeys(f"`{load.buffer.name}`" for load in gather.gathered if is_row(state, gather, load))
    reason += f"; rows of {', '.join(rows)} lie in a vector, from which they are taken" if rows else ""
    return Plan(reason, _Rounds(state, gather).emit)


# Why the bits stay: a vector of iterations computes in each lane what one iteration does, with operations that round
# lane by lane. Nothing that it loads lies in the memory that it stores to, so that all loads may come before all
# stores, and the stores of a vector lie side by side in the order of its iterations. The gathered indices of some
# vectors are checked before any of them is stored: if one is out of range, nothing of these iterations was done, and
# they run one by one from the first of them on as written. What is loaded without that check is proven in range, as
# both sides of a choice are.
GATHER = Transform("gather", "Elements at places that are data are read in vectors", MODES, plan_gather)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Writes the code of a loop in vectors."""

    state: State
    gather: Gather

    def emit(self) -> None:
        """Write the code of the whole loop."""
        lower_for(self.state, self._loop, Iterations(self._iterations))

    def _iterations(self, counting: Counting) -> None:
        """Write charged iterations: whole vectors of them, and one by one the rest, and all from a violation on."""
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
        """Write the loop of whole vectors; what was reached is kept in memory at `place`."""
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
        """Emit the variables of the loops where each vector starts, in the iterations from `first` on."""
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
        """Write rounds as they stand."""
        state = self.state
        options, state.options = state.options, replace(state.options, is_transformed=False)
        was_deoptimised, state.position.is_deoptimised = state.position.is_deoptimised, True
        counted(state, self._loop, counting)
        state.options, state.position.is_deoptimised = options, was_deoptimised


def require(state: State, load: BufferLoad, vectors: Sequence[VectorEmitter], otherwise: str) -> None:
    """Go on if all that `load` reads in some vectors is in range, else go to the block `otherwise`."""
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
    """Emit whether all lanes of vectors are below an extent, without signs; `shape` is how many lanes, and the extent.

    The sign of `(extent - 1 - i) | i` is set just where `i` is negative or not below the extent.
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
    """Emit the greatest index in range; one of a narrow dtype is never more than the greatest of that."""
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
    """Emit whether no lane of a vector has its sign set."""
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
