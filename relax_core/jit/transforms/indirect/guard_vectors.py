"""Check a contiguous run of indices by a vector reduction: its unsigned maximum is below the bound, lane by lane."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import Block, For, LetStmt
from relax_core.jit.lowering.code import phi
from relax_core.jit.lowering.loops import Counting
from relax_core.jit.lowering.scalars.arithmetic import convert
from relax_core.jit.lowering.scalars.scalar import element_pointer, integer_literal, lower_expr
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.indirect.guard_read import WORD_BITS, limit_of
from relax_core.jit.transforms.indirect.guard_runs import Around, Run
from relax_core.jit.transforms.nest_values import enter_block
from relax_core.jit.transforms.repeat import repeat
from relax_core.jit.transforms.vector_code import at_distance, load_masked, load_vector, splat, vector_type

# A run of no more vectors is reduced by straight-line code.
STRAIGHT = 16
# Vectors that one iteration of the reduction reads.
TOGETHER = 4


def can_scan(state: State, run: Run) -> bool:
    """Tell whether the bounds of a run repeat with the vector length, so that each lane has one bound."""
    lanes = state.options.lanes(state.scalar_of(run.load).bits)
    return len({(item.shift, item.extent) for item in run.bounds}) == 1 or lanes % len(run.bounds) == 0


def scan(state: State, run: Run, counting: Counting) -> str:
    """Emit the scan of a run over some iterations; return the `i1` that says whether all indices are in bounds."""
    scalar = state.scalar_of(run.load)
    lanes = state.options.lanes(scalar.bits)
    site_count = len(state.emitted.sites)
    with at_iteration(state, run.path, counting.first):
        pointer, count = element_pointer(state, run.load), _count(state, run, counting)
    assert len(state.emitted.sites) == site_count, "nothing stops while it is looked ahead"
    shifts = [item.shift or "0" for item in run.bounds]
    shift = "" if {*shifts} == {"0"} else _lanes(state, shifts, scalar, lanes)
    vectors = _Vectors(state, scalar, lanes, shift, pointer)
    vectors.start()
    vectors.scan(count)
    limits = [limit_of(state, item) for item in run.bounds]
    return vectors.are_below(limits)


@contextmanager
def at_iteration(state: State, path: Sequence[Around], first: str) -> Generator[None]:
    """Put the first iterations of the loops in `path` in scope, the iteration `first` of the outermost one."""
    code = state.code
    mark, bound = state.bounds.mark(), 0
    for position, stmt in enumerate(path):
        match stmt:
            case For(var=var, start=start) as loop:
                register = state.widen(lower_expr(state, start), state.scalar_of(start))
                if position == 0:
                    register = first if register == "0" else code.emit(f"add i64 {register}, {first}")
                scalar = state.scalar_of(var)
                is_narrow = scalar.bits < WORD_BITS and register.startswith("%")
                register = code.emit(f"trunc i64 {register} to {scalar.register}") if is_narrow else register
                state.bounds.enter_loop(loop)
                state.define(var, register)
                bound += 1
            case Block() as block:
                bound += enter_block(state, block)
            case LetStmt(var=var, value=value):
                register = lower_expr(state, value)
                state.bind(var, value, convert(state, register, state.scalar_of(value), state.scalar_of(var)))
                bound += 1
    yield
    state.forget(bound)
    state.bounds.leave(mark)


def _count(state: State, run: Run, counting: Counting) -> str:
    """Emit the length of the run over the iterations, 0 if a loop has no iterations."""
    code = state.code
    count = str(len(run.bounds))
    for loop in run.path:
        if not isinstance(loop, For):
            continue
        if loop is run.path[0]:
            extent = trip_count(state, counting)
        else:
            extent = _not_negative(state, state.widen(lower_expr(state, loop.extent), state.scalar_of(loop.extent)))
        if loop in run.idle:
            extent = _at_most_one(state, extent)
        if "%" not in count and "%" not in extent:
            count = str(int(count) * int(extent))
        elif extent != "1":
            count = extent if count == "1" else code.emit(f"mul nuw nsw i64 {count}, {extent}")
    return count


def trip_count(state: State, counting: Counting) -> str:
    """Emit the number of iterations, which is at least 1."""
    if counting.count:
        return str(counting.count)
    return state.code.emit(f"sub nuw nsw i64 {counting.end}, {counting.first}")


def _not_negative(state: State, extent: str) -> str:
    if "%" not in extent:
        return str(max(int(extent), 0))
    state.code.declare("declare i64 @llvm.smax.i64(i64, i64)")
    return state.code.emit(f"call i64 @llvm.smax.i64(i64 {extent}, i64 0)")


def _at_most_one(state: State, extent: str) -> str:
    if "%" not in extent:
        return str(min(int(extent), 1))
    state.code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    return state.code.emit(f"call i64 @llvm.smin.i64(i64 {extent}, i64 1)")


def _lanes(state: State, values: Sequence[str], scalar: ScalarType, lanes: int) -> str:
    """Emit a vector in which `values`, 64-bit registers or literals, repeat."""
    code, llvm = state.code, scalar.register
    narrow = [_narrowed(state, value, scalar) for value in values]
    if len({*narrow}) == 1:
        return splat(code, llvm, lanes, narrow[0])
    vector = vector_type(llvm, lanes)
    if not any("%" in value for value in narrow):
        return f"<{', '.join(f'{llvm} {narrow[lane % len(narrow)]}' for lane in range(lanes))}>"
    found = "poison"
    for lane in range(lanes):
        found = code.emit(f"insertelement {vector} {found}, {llvm} {narrow[lane % len(narrow)]}, i64 {lane}")
    return found


def _narrowed(state: State, value: str, scalar: ScalarType) -> str:
    if "%" not in value:
        return integer_literal(int(value), scalar)
    return value if scalar.bits == WORD_BITS else state.code.emit(f"trunc i64 {value} to {scalar.register}")


@dataclass(slots=True)
class _Vectors:
    """Emits the unsigned maximum, lane by lane, of the elements from `pointer` on, in the stack slot `place`."""

    state: State
    scalar: ScalarType
    lanes: int
    shift: str
    pointer: str
    place: str = ""

    @property
    def vector(self) -> str:
        """The type of a vector of indices."""
        return vector_type(self.scalar.register, self.lanes)

    def start(self) -> None:
        """Initialise the maxima with 0, the neutral element, which only an extent of 0 does not exceed."""
        code = self.state.code
        self.place = f"%{code.label('greatest')}"
        code.entry.append(f"{self.place} = alloca {self.vector}, align 64")
        self._keep("zeroinitializer")

    def scan(self, count: str) -> None:
        """Reduce `count` elements, a literal or a register."""
        size = TOGETHER * self.lanes
        if "%" not in count and int(count) <= STRAIGHT * self.lanes:
            self._straight("0", int(count))
        elif "%" not in count:
            repeat(self.state, int(count) // size, self._together, is_written=True)
            self._straight(str(int(count) // size * size), int(count) % size)
        else:
            code = self.state.code
            rounds = code.emit(f"udiv i64 {count}, {size}")
            repeat(self.state, rounds, self._together, is_written=True)
            # The remainder is shorter than an iteration: single vectors, the last one masked.
            self._rest(code.emit(f"mul nuw nsw i64 {rounds}, {size}"), count)

    def are_below(self, limits: Sequence[str]) -> str:
        """Emit whether each lane's maximum is below its bound."""
        code, scalar = self.state.code, self.scalar
        greatest = code.emit(f"load {self.vector}, ptr {self.place}, align 64")
        wide = scalar
        if any("%" in limit for limit in limits) and scalar.bits < WORD_BITS:
            wide = self.state.scalar_of(PrimVar("wide", "int64"))
            how = "sext" if scalar.kind == "int" else "zext"
            greatest = code.emit(f"{how} {self.vector} {greatest} to {vector_type(wide.register, self.lanes)}")
        else:
            # No index exceeds the largest value of its dtype.
            most = scalar.high + 1
            if all(int(limit) >= most for limit in limits if "%" not in limit) and scalar.kind == "uint":
                return "true"
            limits = [limit if "%" in limit else str(min(int(limit), most)) for limit in limits]
        below = _lanes(self.state, limits, wide, self.lanes)
        are_in = code.emit(f"icmp ult {vector_type(wide.register, self.lanes)} {greatest}, {below}")
        bits = code.emit(f"bitcast <{self.lanes} x i1> {are_in} to i{self.lanes}")
        return code.emit(f"icmp eq i{self.lanes} {bits}, -1", "in")

    def _straight(self, first: str, count: int) -> None:
        whole = [self._vector(str(int(first) + at), self.lanes) for at in range(0, count - self.lanes + 1, self.lanes)]
        rest = count % self.lanes
        vectors = [*whole, *([self._vector(str(int(first) + count - rest), rest)] if rest else [])]
        if vectors:
            self._keep(self._greatest([self._kept(), *vectors]))

    def _together(self, number: str) -> None:
        first = number
        if number != "0":
            first = self.state.code.emit(f"mul nuw nsw i64 {number}, {TOGETHER * self.lanes}")
        vectors: list[str] = []
        for at in range(TOGETHER):
            place = first if at == 0 else self.state.code.emit(f"add nuw nsw i64 {first}, {at * self.lanes}")
            vectors.append(self._vector(place, self.lanes))
        self._keep(self._greatest([self._kept(), *vectors]))

    def _rest(self, first: str, count: str) -> None:
        """Reduce the elements from `first` up to `count` by masked loads, so that nothing behind them is read."""
        code = self.state.code
        head, inside, leave = (code.label(hint) for hint in ("again", "once", "over"))
        before = code.block
        code.goto(head)
        base, following = f"%{code.label('base')}", f"%{code.label('next')}"
        position = code.reserve()
        code.branch(code.emit(f"icmp slt i64 {base}, {count}"), inside, leave)
        code.start(inside)
        llvm = f"<{self.lanes} x i64>"
        left = splat(code, "i64", self.lanes, code.emit(f"sub nuw nsw i64 {count}, {base}"))
        numbers = f"<{', '.join(f'i64 {lane}' for lane in range(self.lanes))}>"
        mask = code.emit(f"icmp ult {llvm} {numbers}, {left}")
        pointer = at_distance(code, self.pointer, self.scalar.memory, base)
        found = load_masked(code, pointer, self.scalar, self.lanes, (mask, "zeroinitializer"))
        self._keep(self._greatest([self._kept(), self._shifted(found)]))
        code.do(f"{following} = add nuw nsw i64 {base}, {self.lanes}")
        code.fill(position, f"{base} = {phi('i64', (first, before), (following, code.block))}")
        code.do(f"br label %{head}, !llvm.loop {code.written_loop()}")
        code.start(leave)

    def _vector(self, distance: str, active: int) -> str:
        code = self.state.code
        pointer = at_distance(code, self.pointer, self.scalar.memory, distance)
        return self._shifted(load_vector(code, pointer, self.scalar, (self.lanes, active)))

    def _shifted(self, found: str) -> str:
        return self.state.code.emit(f"add {self.vector} {found}, {self.shift}") if self.shift else found

    def _kept(self) -> str:
        return self.state.code.emit(f"load {self.vector}, ptr {self.place}, align 64")

    def _keep(self, value: str) -> None:
        self.state.code.do(f"store {self.vector} {value}, ptr {self.place}, align 64")

    def _greatest(self, vectors: Sequence[str]) -> str:
        """Emit the lane-wise unsigned maximum of vectors as a balanced tree."""
        code = self.state.code
        name = f"@llvm.umax.v{self.lanes}{self.scalar.register}"
        code.declare(f"declare {self.vector} {name}({self.vector}, {self.vector})")
        found = [*vectors]
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=False)
            made = [code.emit(f"call {self.vector} {name}({self.vector} {a}, {self.vector} {b})") for a, b in pairs]
            found = [*made, *found[2 * len(made) :]]
        return found[0]
