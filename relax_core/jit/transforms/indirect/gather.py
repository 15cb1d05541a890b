"""Vectorise loops with indirect accesses: check a vector of indices, then gather.

If one of the indices is out of range, the loop is deoptimised: the iterations of that vector, and all after them,
run one by one with their checks in place, so that what precedes the violation happens and the violation is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.loops import Counting, Iterations, counted, lower_for
from relax_core.jit.lowering.scalars.scalar import integer_literal
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES, ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.indirect.gather_read import Gather, read_gather
from relax_core.jit.transforms.indirect.gather_values import VectorEmitter, is_row
from relax_core.jit.transforms.transform import Plan, Transform
from relax_core.jit.transforms.vector_code import splat, vector_type

WORD_BITS = 64
MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# Processors test as many bits at once without leaving their vectors' registers.
TESTED_BITS = 256
_WORD = SCALAR_TYPES["int64"]


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
