"""Gathers from a row that fits one vector register: the row is loaded whole, and permuted."""

from relax_core.ir.tir import BufferLoad
from relax_core.jit.lowering.scalar import lower_expr
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.gather_read import Gather
from relax_core.jit.transforms.vector_code import at_distance, load_vector, vector_type

# Processors with vectors of so many bits take elements of a vector at indirect indices in one instruction,
VECTOR_BITS = 512
# for elements of so many bits, and LLVM finds it for so many places of 64 bits.
ELEMENT_BITS = (32, 64)
TOGETHER = 8


def is_row(state: State, gather: Gather, load: BufferLoad) -> bool:
    """Tell whether all that a load reads in a vector of iterations lies in one vector."""
    storage = state.storage[load.buffer]
    extent, bits = storage.extents[-1], storage.scalar.bits
    if state.options.vector_bits < VECTOR_BITS or bits not in ELEMENT_BITS or storage.scalar.is_narrowed:
        return False
    if storage.strides[-1] != "1" or "%" in extent or gather.lanes % TOGETHER:
        return False
    is_fixed = all(index in gather.fixed for index in load.indices[:-1])
    return is_fixed and 0 < int(extent) <= VECTOR_BITS // bits


def row_of(state: State, load: BufferLoad) -> str:
    """Emit the load of the row in which a load reads; what is behind its last element is 0."""
    code, storage = state.code, state.storage[load.buffer]
    pointer = storage.pointer
    for index, stride in zip(load.indices[:-1], storage.strides[:-1], strict=True):
        place = state.widen(lower_expr(state, index), state.scalar_of(index))
        distance = place if stride == "1" else code.emit(f"mul nuw nsw i64 {place}, {stride}")
        pointer = at_distance(code, pointer, storage.scalar.memory, distance)
    width = VECTOR_BITS // storage.scalar.bits
    return load_vector(code, pointer, storage.scalar, width, int(storage.extents[-1]))


def taken(state: State, load: BufferLoad, row: str, places: tuple[str, int]) -> str:
    """Emit the elements of a row at a vector of places in it; `places` are its register and its lanes."""
    code, scalar = state.code, state.storage[load.buffer].scalar
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
