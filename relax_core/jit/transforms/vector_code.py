"""Explicit vectors: loads, stores, splats, gathers, conversions, lane-wise operations and transpositions of tiles."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from relax_core.ir.prim import BinaryKind
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.scalars.types import ScalarType
from relax_core.jit.lowering.state import State

_SHORT: Mapping[str, str] = MappingProxyType({"half": "f16", "float": "f32", "double": "f64"})
_FLOAT: Mapping[str, str] = MappingProxyType({"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"})
_INTEGER: Mapping[str, str] = MappingProxyType({"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"})
QUARTER_BITS = 128
LANE_LIMIT = 16


def vector_type(llvm: str, lanes: int) -> str:
    """Return the LLVM type of a vector of `lanes` elements; one lane is a scalar."""
    return llvm if lanes == 1 else f"<{lanes} x {llvm}>"


def stack_array(state: State, hint: str, scalar: ScalarType, count: int) -> str:
    """Allocate an array of `count` elements in the entry block; it counts towards the kernel's stack frame."""
    register = f"%{state.code.label(hint)}"
    state.code.entry.append(f"{register} = alloca [{count} x {scalar.memory}], align 64")
    state.emitted.stack_bytes += count * scalar.size_bytes
    return register


def at_distance(code: FunctionBuilder, pointer: str, llvm: str, distance: int | str) -> str:
    """Emit the address of the element `distance` elements behind one."""
    if str(distance) == "0":
        return pointer
    return code.emit(f"getelementptr {llvm}, ptr {pointer}, i64 {distance}")


def splat(code: FunctionBuilder, llvm: str, lanes: int, value: str) -> str:
    """Emit a vector whose lanes all are `value`, a register or a literal."""
    if lanes == 1:
        return value
    if not value.startswith("%"):
        return f"splat ({llvm} {value})"
    vector = vector_type(llvm, lanes)
    first = code.emit(f"insertelement {vector} poison, {llvm} {value}, i64 0")
    return code.emit(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")


def first_lanes(lanes: int, active: int) -> str:
    """Return the mask of the first `active` lanes."""
    return f"<{', '.join('i1 true' if lane < active else 'i1 false' for lane in range(lanes))}>"


def load_vector(code: FunctionBuilder, pointer: str, scalar: ScalarType, shape: tuple[int, int]) -> str:
    """Emit a load of a vector's first lanes; the others are 0, and their memory is not accessed.

    `shape` is (lanes, lanes that are loaded).
    """
    lanes, active = shape
    vector = vector_type(scalar.memory, lanes)
    if active >= lanes:
        return code.emit(f"load {vector}, ptr {pointer}, align {scalar.size_bytes}")
    return load_masked(code, pointer, scalar, lanes, (first_lanes(lanes, active), "zeroinitializer"))


def load_masked(code: FunctionBuilder, pointer: str, scalar: ScalarType, lanes: int, chosen: tuple[str, str]) -> str:
    """Emit a masked load; `chosen` is the mask, and the vector that gives the other lanes."""
    mask, other = chosen
    vector = vector_type(scalar.memory, lanes)
    name = f"@llvm.masked.load.v{lanes}{_short(scalar.memory)}.p0"
    code.declare(f"declare {vector} {name}(ptr, i32, <{lanes} x i1>, {vector})")
    arguments = f"ptr {pointer}, i32 {scalar.size_bytes}, <{lanes} x i1> {mask}, {vector} {other}"
    return code.emit(f"call {vector} {name}({arguments})")


def store_vector(code: FunctionBuilder, value: str, pointer: str, scalar: ScalarType, shape: tuple[int, int]) -> None:
    """Emit a store of a vector's first lanes; `shape` is (lanes, lanes that are stored)."""
    lanes, active = shape
    vector = vector_type(scalar.memory, lanes)
    if active >= lanes:
        code.do(f"store {vector} {value}, ptr {pointer}, align {scalar.size_bytes}")
        return
    store_masked(code, value, pointer, scalar, (lanes, first_lanes(lanes, active)))


def store_masked(code: FunctionBuilder, value: str, pointer: str, scalar: ScalarType, chosen: tuple[int, str]) -> None:
    """Emit a masked store; `chosen` is (lanes, mask)."""
    lanes, mask = chosen
    vector = vector_type(scalar.memory, lanes)
    name = f"@llvm.masked.store.v{lanes}{_short(scalar.memory)}.p0"
    code.declare(f"declare void {name}({vector}, ptr, i32, <{lanes} x i1>)")
    code.do(f"call void {name}({vector} {value}, ptr {pointer}, i32 {scalar.size_bytes}, <{lanes} x i1> {mask})")


def load_apart(code: FunctionBuilder, pointer: str, scalar: ScalarType, shape: tuple[int, int], stride: int) -> str:
    """Emit a strided load; `shape` is (lanes, lanes that are loaded), `stride` is in elements."""
    lanes, active = shape
    reach = (active - 1) * stride + 1
    if stride == 1:
        return load_vector(code, pointer, scalar, (lanes, active))
    if stride != 2 or reach <= lanes:
        places = [at_distance(code, pointer, scalar.memory, lane * stride) for lane in range(active)]
        return gather(code, places, scalar, lanes)
    halves = [
        load_vector(
            code, at_distance(code, pointer, scalar.memory, half * lanes), scalar, (lanes, reach - half * lanes)
        )
        for half in range(2)
    ]
    vector = vector_type(scalar.memory, lanes)
    places = ", ".join(f"i32 {2 * lane}" for lane in range(lanes))
    return code.emit(f"shufflevector {vector} {halves[0]}, {vector} {halves[1]}, <{lanes} x i32> <{places}>")


def gather(code: FunctionBuilder, pointers: Sequence[str], scalar: ScalarType, lanes: int) -> str:
    """Assemble a vector from scalar loads, one per pointer; lanes without a pointer are 0."""
    vector = vector_type(scalar.memory, lanes)
    found = "zeroinitializer" if lanes > 1 else "0"
    for lane, pointer in enumerate(pointers):
        value = code.emit(f"load {scalar.memory}, ptr {pointer}, align {scalar.size_bytes}")
        if lanes == 1:
            return value
        found = code.emit(f"insertelement {vector} {found}, {scalar.memory} {value}, i64 {lane}")
    return found


def gather_at(code: FunctionBuilder, pointers: str, scalar: ScalarType, lanes: int, alignment: int) -> str:
    """Emit a gather from a vector of addresses, all of which are dereferenceable."""
    vector, places, mask = vector_type(scalar.memory, lanes), f"<{lanes} x ptr>", f"<{lanes} x i1>"
    name = f"@llvm.masked.gather.v{lanes}{_short(scalar.memory)}.v{lanes}p0"
    code.declare(f"declare {vector} {name}({places}, i32, {mask}, {vector})")
    arguments = f"{places} {pointers}, i32 {alignment}, {mask} splat (i1 true), {vector} poison"
    return code.emit(f"call {vector} {name}({arguments})")


def widened(code: FunctionBuilder, value: str, scalar: ScalarType, lanes: int) -> str:
    """Emit the conversion of elements from their type in memory to that in registers."""
    if not scalar.is_narrowed:
        return value
    short, word, wide = (vector_type(llvm, lanes) for llvm in ("i16", "i32", "float"))
    bits = code.emit(f"zext {short} {value} to {word}")
    shifted = code.emit(f"shl {word} {bits}, {splat(code, 'i32', lanes, '16')}")
    return code.emit(f"bitcast {word} {shifted} to {wide}")


def can_convert(source: ScalarType, target: ScalarType) -> bool:
    """Tell whether `converted` supports a conversion: one LLVM instruction that rounds as the scalar one."""
    if "bool" in (source.kind, target.kind) or (target.kind != "float" and source.kind == "float"):
        return False
    if target.is_narrowed or (target.kind == "float" and target.bits == 16):
        return source == target
    return source.kind != "float" or source.bits <= target.bits


def converted(code: FunctionBuilder, value: str, scalars: tuple[ScalarType, ScalarType], lanes: int) -> str:
    """Emit a conversion from the first dtype to the second, in each lane."""
    source, target = scalars
    of, to = vector_type(source.register, lanes), vector_type(target.register, lanes)
    match source.kind, target.kind:
        case _ if of == to:
            return value
        case "float", "float":
            return code.emit(f"fpext {of} {value} to {to}")
        case _, "float":
            return code.emit(f"{'sitofp' if source.kind == 'int' else 'uitofp'} {of} {value} to {to}")
        case _ if source.bits > target.bits:
            return code.emit(f"trunc {of} {value} to {to}")
        case _:
            return code.emit(f"{'sext' if source.kind == 'int' else 'zext'} {of} {value} to {to}")


def product_sum(code: FunctionBuilder, factors: tuple[str, str], total: str, scalar: ScalarType, lanes: int) -> str:
    """Emit `a * b + total`, fused to one rounding where the target has an instruction for it."""
    vector = vector_type(scalar.register, lanes)
    suffix = f"{'' if lanes == 1 else f'v{lanes}'}{_short(scalar.register)}"
    code.declare(f"declare {vector} @llvm.fmuladd.{suffix}({vector}, {vector}, {vector})")
    return code.emit(
        f"call {vector} @llvm.fmuladd.{suffix}({vector} {factors[0]}, {vector} {factors[1]}, {vector} {total})"
    )


def _short(llvm: str) -> str:
    """Return a type as the names of LLVM's overloaded intrinsics mangle it."""
    return _SHORT.get(llvm, llvm)


def can_combine(op: BinaryKind, scalar: ScalarType) -> bool:
    """Tell whether `combine` supports an operation on elements of `scalar`."""
    if scalar.kind == "bool" or scalar.is_narrowed:
        return False
    return op in ("min", "max") or op in (_FLOAT if scalar.kind == "float" else _INTEGER)


def combine(
    code: FunctionBuilder, op: BinaryKind, operands: tuple[str, str], scalar: ScalarType, lanes: int = 1
) -> str:
    """Emit `a op b` lane by lane; `min` and `max` with a NaN are `b`, as everywhere in kernels."""
    a, b = operands
    vector = scalar.register if lanes == 1 else f"<{lanes} x {scalar.register}>"
    if op in ("min", "max"):
        relation = "lt" if op == "min" else "gt"
        kind = {"float": "fcmp o", "int": "icmp s"}.get(scalar.kind, "icmp u")
        test = code.emit(f"{kind}{relation} {vector} {a}, {b}")
        return code.emit(f"select {'i1' if lanes == 1 else f'<{lanes} x i1>'} {test}, {vector} {a}, {vector} {b}")
    name = (_FLOAT if scalar.kind == "float" else _INTEGER)[op]
    return code.emit(f"{name} {vector} {a}, {b}")


def transposed(code: FunctionBuilder, rows: Sequence[str], memory: str, bits: int) -> list[str]:
    """Emit the transposition of an n x n tile, given as n vectors of n elements of the LLVM type `memory`.

    x86 interleaves two vectors within each 128-bit lane (unpcklps) and permutes 128-bit lanes of two vectors
    (vperm2f128) in one instruction each: log2(n) steps, first within those lanes, then across them.
    """
    lanes = len(rows)
    width = QUARTER_BITS // bits
    vector = f"<{lanes} x {memory}>"
    groups = [
        quarters_transposed(code, rows[first : first + width], memory, bits, lanes) for first in range(0, lanes, width)
    ]
    columns: list[list[str]] = [[group[at] for group in groups] for at in range(width)]
    even, odd = (_quarters(lanes, width, parity) for parity in (0, 1))
    for _ in range((lanes // width).bit_length() - 1):
        columns = [
            [
                _shuffled(code, vector, (parts[at], parts[at + 1]), mask)
                for mask in (even, odd)
                for at in range(0, len(parts), 2)
            ]
            for parts in columns
        ]
    return [columns[place % width][place // width] for place in range(lanes)]


def quarters_transposed(code: FunctionBuilder, rows: Sequence[str], memory: str, bits: int, lanes: int) -> list[str]:
    """Emit the transposition of as many vectors as a quarter of 128 bits has elements, in each quarter by itself."""
    width = QUARTER_BITS // bits
    vector = vector_type(memory, lanes)
    low, high = (_interleaved(lanes, width, half) for half in (0, width // 2))
    found = [*rows]
    for _ in range(width.bit_length() - 1):
        found = [
            _shuffled(code, vector, (found[at], found[at + width // 2]), mask)
            for at in range(width // 2)
            for mask in (low, high)
        ]
    return found


def quarters_joined(code: FunctionBuilder, parts: Sequence[str], memory: str, width: int) -> str:
    """Emit a vector of vectors of `width` elements; there is a power of two of them."""
    if len({*parts}) == 1 < len(parts):
        places = [*range(width)] * len(parts)
        return _shuffled(code, vector_type(memory, width), (parts[0], "poison"), places)
    found, size = [*parts], width
    while len(found) > 1:
        vector, places = vector_type(memory, size), [*range(2 * size)]
        found = [_shuffled(code, vector, (found[at], found[at + 1]), places) for at in range(0, len(found), 2)]
        size *= 2
    return found[0]


def _shuffled(code: FunctionBuilder, vector: str, sources: tuple[str, str], places: Sequence[int]) -> str:
    """Emit the vector of the elements of two at `places`, counted through both."""
    mask = ", ".join(f"i32 {place}" for place in places)
    return code.emit(f"shufflevector {vector} {sources[0]}, {vector} {sources[1]}, <{len(places)} x i32> <{mask}>")


def _interleaved(lanes: int, width: int, half: int) -> list[int]:
    """Return the shuffle mask that interleaves two vectors, from the lower or upper half of each 128-bit lane."""
    return [
        first + half + at + source
        for first in range(0, lanes, width)
        for at in range(width // 2)
        for source in (0, lanes)
    ]


def _quarters(lanes: int, width: int, parity: int) -> list[int]:
    """Return the shuffle mask that takes every other 128-bit lane of one vector, then of the other."""
    starts = [first for first in range(0, 2 * lanes, width) if first // width % 2 == parity]
    return [first + at for first in starts for at in range(width)]
