"""How many operations on floats an expression is."""

from typing import Final

from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, Intrinsic, PrimExpr, dtype_of, lanes_of

_ARITHMETIC: Final = ("+", "-", "*", "/", "min", "max")
_STRAIGHT: Final = ("Ramp", "Broadcast", "likely", "reinterpret")
"""Calls that compute nothing."""


def operations_in(expr: PrimExpr) -> int:
    """Return how many operations on floats an expression is; one on a vector is one for each of its elements."""
    parts = (part for part in postorder(expr) if isinstance(part, PrimExpr))
    return sum(lanes_of(dtype_of(part)) for part in parts if _is_operation(part))


def _is_operation(node: PrimExpr) -> bool:
    match node:
        case Binary(op=op):
            return op in _ARITHMETIC and "float" in dtype_of(node)
        case Intrinsic(name=name):
            return name not in _STRAIGHT and "float" in dtype_of(node)
        case _:
            return False
