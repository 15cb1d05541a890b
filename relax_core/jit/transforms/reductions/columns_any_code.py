"""The code of reductions whose outputs lie side by side: vectors of outputs, masked where there are fewer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from relax_core.ir.integer.polynomial import constant_of, split
from relax_core.ir.prim import COMPARISONS, Binary, FloatImm, IntImm, PrimExpr, PrimVar, Select, Unary
from relax_core.ir.tir import BufferLoad, For
from relax_core.jit.lowering.code import phi
from relax_core.jit.lowering.loops import Counting, Iterations, lower_for
from relax_core.jit.lowering.scalars.scalar import element_pointer, lower_expr, number_literal
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.scalars.vectors import comment_store
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contractions.read import Accumulation
from relax_core.jit.transforms.repeat import begin_of, repeat
from relax_core.jit.transforms.vector_code import (
    combine,
    load_apart,
    load_masked,
    splat,
    stack_array,
    store_masked,
    store_vector,
    vector_type,
)

# So many terms are written out, where what chooses between them is known.
UNROLLED = 32


@dataclass(frozen=True, slots=True)
class LaneCondition:
    """A condition in a register: a vector of truths, or one for all lanes if it `is_for_all`.

    `holds_for_all` is a register that tells whether it holds in all lanes; empty if that was not computed.
    """

    register: str
    holds_for_all: str = ""
    is_for_all: bool = False


# Conditions that all hold in the lanes that are touched. They are joined last, so that LLVM sees which of them are the
# same in other terms: what chooses a row does not depend on what chooses a column.
Mask = tuple[LaneCondition, ...]


@dataclass(frozen=True, slots=True)
class AnyColumns:
    """A loop over outputs that lie side by side, the loops over the `terms` of each, and the accumulation in them.

    Indices of `found` are of the variables of the loops, and of what is around them.
    """

    columns: For
    terms: tuple[For, ...]
    found: Accumulation
    init: FloatImm | IntImm | None
    scalar: ScalarType
    lanes: int


def lane_stride(state: State, columns: AnyColumns, index: PrimExpr) -> int | None:
    """Return how far an index moves from one lane to the next, if that is known; all loops are entered."""
    bounds = state.bounds
    ((variable,),) = bounds.poly(columns.columns.var)
    parts = split(bounds.poly(index), variable)
    # Any other atom may be a quotient or a choice that moves with the lanes.
    atoms = () if parts is None else {number for monomial in (*parts[0], *parts[1]) for number in monomial}
    if parts is None or not all(isinstance(bounds.atoms[number].expr, PrimVar) for number in atoms):
        return None
    return constant_of(parts[0])


@dataclass(slots=True)
class AnyColumnsCode:
    """Writes the code of one nest; `total` holds the totals of a vector of outputs, and becomes a register."""

    state: State
    columns: AnyColumns
    total: str = ""

    def emit(self) -> None:
        """Write everything."""
        self.total = stack_array(self.state, "totals", self.columns.scalar, self.columns.lanes)
        lower_for(self.state, self.columns.columns, Iterations(self._outputs))

    def _outputs(self, counting: Counting) -> None:
        """Write vectors of outputs, and a masked one for what is left."""
        state, code, lanes = self.state, self.state.code, self.columns.lanes
        code.declare("declare i64 @llvm.smax.i64(i64, i64)")
        left = code.emit(f"sub nsw i64 {counting.end}, {counting.first}")
        count = code.emit(f"call i64 @llvm.smax.i64(i64 {left}, i64 0)")
        whole = code.emit(f"udiv i64 {count}, {lanes}")
        vectors = code.emit(f"udiv i64 {code.emit(f'add nuw nsw i64 {count}, {lanes - 1}')}, {lanes}")

        def vector(number: str, *, is_whole: bool) -> None:
            begin = begin_of(code, number, lanes)
            place = code.emit(f"add nuw nsw i64 {counting.first}, {begin}")
            self._vector(place, () if is_whole else (self._lanes_of(code.emit(f"sub nuw nsw i64 {count}, {begin}")),))

        repeat(state, whole, lambda number: vector(number, is_whole=True))
        repeat(state, vectors, lambda number: vector(number, is_whole=False), whole)

    def _lanes_of(self, left: str) -> LaneCondition:
        """Write which lanes are outputs, of which so many are left."""
        code, lanes = self.state.code, self.columns.lanes
        numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
        return LaneCondition(code.emit(f"icmp slt <{lanes} x i64> <{numbers}>, {splat(code, 'i64', lanes, left)}"))

    def _vector(self, first: str, mask: Mask) -> None:
        """Write a vector of outputs from their start to their store."""
        state, code, columns = self.state, self.state.code, self.columns
        scope = self._enter(columns.columns, first)
        target = element_pointer(state, columns.found.own)
        scalar, lanes = columns.scalar, columns.lanes
        if columns.init is not None:
            self._keep(splat(code, scalar.register, lanes, number_literal(columns.init, scalar)))
        else:
            self._keep(self._read(target, 1, mask))
        self._terms(columns.terms, mask)
        if mask:
            store_masked(code, self._total(), target, scalar, (lanes, self._joined(mask)))
        else:
            store_vector(code, self._total(), target, scalar, (lanes, lanes))
        self._leave(scope)

    def _terms(self, loops: Sequence[For], mask: Mask) -> None:
        """Write the loops over the terms, the outermost first, and the combination with one."""
        state, code, found = self.state, self.state.code, self.columns.found
        if not loops:
            before = code.set_location(found.update)
            comment_store(state, found.update)
            value, total = self._value(found.term, mask), self._total()
            operands = (value, total) if found.is_term_first else (total, value)
            self._keep(combine(code, found.op, operands, self.columns.scalar, self.columns.lanes))
            code.restore_location(before)
            return
        loop, *inner = loops

        def term(number: str) -> None:
            scope = self._enter(loop, number)
            self._terms(inner, mask)
            self._leave(scope)

        counts = [state.bounds.constant(item.extent) for item in loops]
        if (
            state.position.is_charged
            and None not in counts
            and prod(max(count or 0, 0) for count in counts) <= UNROLLED
        ):
            for number in range(counts[0] or 0):
                term(str(number))
        else:
            lower_for(state, loop, Iterations(lambda counting: repeat(state, counting.end, term, counting.first)))

    def _enter(self, loop: For, number: str) -> int:
        state = self.state
        mark = state.bounds.mark()
        state.bounds.enter_loop(loop)
        self._define(loop, number)
        return mark

    def _define(self, loop: For, number: str) -> None:
        bits = self.state.scalar_of(loop.var).bits
        self.state.define(loop.var, number if bits == 64 else self.state.code.emit(f"trunc i64 {number} to i{bits}"))

    def _leave(self, mark: int) -> None:
        self.state.forget()
        self.state.bounds.leave(mark)

    def _value(self, expr: PrimExpr, mask: Mask) -> str:
        """Write the value of an expression in the lanes of a mask."""
        code, scalar, lanes = self.state.code, self.columns.scalar, self.columns.lanes
        match expr:
            case FloatImm() | IntImm():
                return splat(code, scalar.register, lanes, number_literal(expr, scalar))
            case BufferLoad():
                stride = lane_stride(self.state, self.columns, expr.indices[-1])
                assert stride is not None, "other loads are refused"
                return self._read(self._address(expr), stride, mask)
            case Binary(op=op, a=a, b=b):
                return combine(code, op, (self._value(a, mask), self._value(b, mask)), scalar, lanes)
            case Select():
                return self._chosen(expr, mask)
            case _:
                raise AssertionError(f"{type(expr).__name__} is refused where the reduction is read")

    def _chosen(self, expr: Select, mask: Mask) -> str:
        """Write a choice: without masks where all lanes of a whole vector choose the first side."""
        code, scalar, lanes = self.state.code, self.columns.scalar, self.columns.lanes
        needed = self._needed(expr.condition)
        vector = vector_type(scalar.register, lanes)
        tests = [item.holds_for_all for item in needed]
        is_tested = not mask and "" not in tests
        plain, mixed, done = (code.label(hint) for hint in ("alike", "mixed", "chosen"))
        incoming: list[tuple[str, str]] = []
        if is_tested:
            code.branch(reduce(lambda a, b: code.emit(f"and i1 {a}, {b}"), tests), plain, mixed)
            code.start(plain)
            incoming.append((self._value(expr.true_value, ()), code.block))
            code.jump(done)
            code.start(mixed)
        chosen = self._joined(needed)
        others = LaneCondition(self._vector_of("xor", chosen, "splat (i1 true)"))
        sides = self._value(expr.true_value, (*mask, *needed)), self._value(expr.false_value, (*mask, others))
        value = code.emit(f"select <{lanes} x i1> {chosen}, {vector} {sides[0]}, {vector} {sides[1]}")
        if not is_tested:
            return value
        incoming.append((value, code.block))
        code.goto(done)
        return code.emit(phi(vector, *incoming))

    def _needed(self, condition: PrimExpr) -> Mask:
        """Write a condition as those that all have to hold."""
        match condition:
            case Binary(op="and", a=a, b=b):
                return (*self._needed(a), *self._needed(b))
            case Binary(op="or", a=a, b=b):
                sides = (self._joined(self._needed(side)) for side in (a, b))
                return (LaneCondition(self._vector_of("or", *sides)),)
            case Unary(op="not", a=a):
                inner = self._joined(self._needed(a))
                return (LaneCondition(self._vector_of("xor", inner, "splat (i1 true)")),)
            case Binary(op=op, a=a, b=b) if op in COMPARISONS:
                return (self._compared(op, a, b),)
            case _:
                raise AssertionError(f"{type(condition).__name__} is refused where the reduction is read")

    def _compared(self, op: str, a: PrimExpr, b: PrimExpr) -> LaneCondition:
        state, code = self.state, self.state.code
        test = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}[op]
        strides = [lane_stride(state, self.columns, side) for side in (a, b)]
        left, right = (state.widen(lower_expr(state, side), state.scalar_of(side)) for side in (a, b))
        assert None not in strides, "other conditions are refused"
        apart, distance = code.emit(f"sub nsw i64 {left}, {right}"), (strides[0] or 0) - (strides[1] or 0)
        if distance == 0:
            register = code.emit(f"icmp {test} i64 {apart}, 0")
            return LaneCondition(register, register, is_for_all=True)
        steps = [lane * distance for lane in range(self.columns.lanes)]
        vector = f"<{len(steps)} x i64>"
        behind = ", ".join(f"i64 {step}" for step in steps)
        places = code.emit(f"add nsw {vector} {splat(code, 'i64', len(steps), apart)}, <{behind}>")
        register = code.emit(f"icmp {test} {vector} {places}, zeroinitializer")
        if op in ("==", "!="):
            return LaneCondition(register)
        # The lane in which it is the farthest from true is the first or the last.
        step = max(steps) if op in ("<", "<=") else min(steps)
        farthest = code.emit(f"add nsw i64 {apart}, {step}")
        return LaneCondition(register, code.emit(f"icmp {test} i64 {farthest}, 0"))

    def _joined(self, mask: Mask, spread: int | None = None) -> str:
        """Write the lanes in which all conditions hold; with `spread` they are every second of those from there on."""
        code, lanes = self.state.code, self.columns.lanes
        found = "splat (i1 true)"
        for item in (item for item in mask if not item.is_for_all):
            found = item.register if found.startswith("splat") else self._vector_of("and", found, item.register)
        if spread is not None:
            vector = f"<{lanes} x i1>"
            chosen = ", ".join(f"i32 {lanes if at % 2 else at // 2}" for at in range(spread, spread + lanes))
            sources = f"{vector} {found}, {vector} zeroinitializer"
            found = code.emit(f"shufflevector {sources}, <{lanes} x i32> <{chosen}>")
        for item in (item for item in mask if item.is_for_all):
            found = self._vector_of("and", found, splat(code, "i1", lanes, item.register))
        return found

    def _vector_of(self, how: str, a: str, b: str) -> str:
        return self.state.code.emit(f"{how} <{self.columns.lanes} x i1> {a}, {b}")

    def _address(self, load: BufferLoad) -> str:
        """Write the address of the first lane's element, which may lie outside of the buffer if it is not chosen."""
        state, code = self.state, self.state.code
        storage = state.environment.storage[load.buffer]
        offset = "0"
        for index, stride in zip(load.indices, storage.strides, strict=True):
            place = state.widen(lower_expr(state, index), state.scalar_of(index))
            term = place if stride == "1" else code.emit(f"mul i64 {place}, {stride}")
            offset = term if offset == "0" else code.emit(f"add i64 {offset}, {term}")
        return code.emit(f"getelementptr {storage.scalar.memory}, ptr {storage.pointer}, i64 {offset}")

    def _read(self, pointer: str, stride: int, mask: Mask) -> str:
        """Write the load of elements that lie `stride` apart, in the lanes of a mask."""
        code, scalar, lanes = self.state.code, self.columns.scalar, self.columns.lanes
        if stride == 0:
            value = code.emit(f"load {scalar.memory}, ptr {pointer}, align {scalar.size_bytes}")
            return splat(code, scalar.register, lanes, value)
        if not mask:
            return load_apart(code, pointer, scalar, (lanes, lanes), stride)
        if stride == 1:
            return load_masked(code, pointer, scalar, lanes, (self._joined(mask), "zeroinitializer"))
        halves: list[str] = []
        for half in (0, lanes):
            place = code.emit(f"getelementptr {scalar.memory}, ptr {pointer}, i64 {half}")
            chosen = self._joined(mask, half)
            halves.append(load_masked(code, place, scalar, lanes, (chosen, "zeroinitializer")))
        vector = vector_type(scalar.memory, lanes)
        places = ", ".join(f"i32 {2 * lane}" for lane in range(lanes))
        return code.emit(f"shufflevector {vector} {halves[0]}, {vector} {halves[1]}, <{lanes} x i32> <{places}>")

    @property
    def _type(self) -> str:
        return vector_type(self.columns.scalar.memory, self.columns.lanes)

    def _total(self) -> str:
        return self.state.code.emit(f"load {self._type}, ptr {self.total}, align 64")

    def _keep(self, total: str) -> None:
        self.state.code.do(f"store {self._type} {total}, ptr {self.total}, align 64")
