"""Loads and stores of vectors, whole or of their first lanes only; what is masked out is not touched."""

from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.types import ScalarType

_SHORT_NAMES = (("half", "f16"), ("float", "f32"), ("double", "f64"))


def load_vector(code: FunctionBuilder, scalar: ScalarType, pointer: str, part: tuple[int, int]) -> str:
    """Emit the load of the first elements of a vector, the others 0; `part` is its number of lanes, and how many."""
    lanes, count = part
    vector = f"<{lanes} x {scalar.memory}>"
    if count == lanes:
        return code.emit(f"load {vector}, ptr {pointer}, align {scalar.size_bytes}")
    name = f"@llvm.masked.load.{_suffix(scalar, lanes)}"
    code.declare(f"declare {vector} {name}(ptr, i32, <{lanes} x i1>, {vector})")
    arguments = f"ptr {pointer}, i32 {scalar.size_bytes}, {_mask(lanes, count)}, {vector} zeroinitializer"
    return code.emit(f"call {vector} {name}({arguments})")


def store_vector(code: FunctionBuilder, scalar: ScalarType, value: str, pointer: str, part: tuple[int, int]) -> None:
    """Emit the store of the first elements of a vector; `part` is its number of lanes and how many are stored."""
    lanes, count = part
    vector = f"<{lanes} x {scalar.memory}>"
    if count == lanes:
        code.do(f"store {vector} {value}, ptr {pointer}, align {scalar.size_bytes}")
        return
    name = f"@llvm.masked.store.{_suffix(scalar, lanes)}"
    code.declare(f"declare void {name}({vector}, ptr, i32, <{lanes} x i1>)")
    code.do(f"call void {name}({vector} {value}, ptr {pointer}, i32 {scalar.size_bytes}, {_mask(lanes, count)})")


def _mask(lanes: int, count: int) -> str:
    return f"<{lanes} x i1> <{', '.join(f'i1 {str(at < count).lower()}' for at in range(lanes))}>"


def _suffix(scalar: ScalarType, lanes: int) -> str:
    return f"v{lanes}{dict(_SHORT_NAMES).get(scalar.memory, scalar.memory)}.p0"
