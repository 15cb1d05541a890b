"""Operations on vectors that keep what the scalar operation of a prim func gives in every lane."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ir.prim import BinaryKind
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.lowering.types import ScalarType

_FLOAT: Mapping[str, str] = MappingProxyType({"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"})
_INTEGER: Mapping[str, str] = MappingProxyType({"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"})


def can_combine(op: BinaryKind, scalar: ScalarType) -> bool:
    """Tell whether `combine` knows the operation on elements of `scalar`."""
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
