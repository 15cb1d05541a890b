"""Emit the values of one vector of iterations of a loop that gathers."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from relax_core.ir.prim import Binary, Cast, PrimExpr, PrimVar, Select
from relax_core.ir.tir import BufferLoad
from relax_core.jit.lowering.scalars.arithmetic import comparison
from relax_core.jit.lowering.scalars.scalar import element_pointer, lower_expr
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.indirect.gather_read import Gather, StridedLoad
from relax_core.jit.transforms.indirect.guard_read import is_same
from relax_core.jit.transforms.nest_values import enter_block
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
