"""Scalar expressions as a reader of a message knows them from the source."""

from collections.abc import Callable, Iterable

from relax_core.ir.notation.infix import UNARY, infix
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimList,
    PrimVar,
    Select,
    StringImm,
    Unary,
    dtype_of,
)
from relax_core.ir.tir import BufferLoad, BufferRef


def show_prim(expr: PrimExpr, *, is_short: bool = False) -> str:
    """Return a scalar expression with as few parentheses as it needs, in TVMScript or, if `is_short`, plain Python."""
    return infix(expr, 0, _short_operand if is_short else _operand)


def _operand(expr: PrimExpr) -> str:
    match expr:
        case Cast(value=value, dtype=dtype):
            return f"T.Cast({dtype!r}, {show_prim(value)})".replace("'", '"')
        case Select(condition=condition, true_value=a, false_value=b, is_lazy=is_lazy):
            name = "if_then_else" if is_lazy else "Select"
            return f"T.{name}({', '.join(show_prim(item) for item in (condition, a, b))})"
        case _:
            return _common_operand(expr, _operand, "T.")


def _short_operand(expr: PrimExpr) -> str:
    match expr:
        case Cast(value=value, dtype=dtype):
            return f"{dtype}({show_prim(value, is_short=True)})"
        case Select(condition=condition, true_value=yes, false_value=no):
            a, b, c = (infix(item, 1, _short_operand) for item in (yes, condition, no))
            return f"({a} if {b} else {c})"
        case _:
            return _common_operand(expr, _short_operand, "")


def _common_operand(expr: PrimExpr, operand: Callable[[PrimExpr], str], prefix: str) -> str:
    """Write what is no infix operator; `operand` writes such parts of it, and `prefix` stands before its functions."""

    def listed(items: Iterable[PrimExpr]) -> str:
        return ", ".join([infix(item, 0, operand) for item in items])

    match expr:
        case PrimVar(name=name):
            return name
        case IntImm(value=value):
            return str(bool(value)) if expr.dtype == "bool" else str(value)
        case FloatImm(value=value) | StringImm(value=value):
            return repr(value)
        case Binary(op=op, a=a, b=b):
            return f"{prefix}{op}({listed((a, b))})"
        case Unary(op=op, a=a):
            return f"{'not ' if op == 'not' else op}{infix(a, UNARY, operand)}"
        case Intrinsic(name=name, args=args):
            return f"{prefix}{name}({listed(args)})"
        case PrimList(items=items):
            return f"[{listed(items)}]"
        case BufferRef(buffer=buffer, is_pointer=is_pointer):
            return f"{buffer.name}.data" if is_pointer else buffer.name
        case BufferLoad(buffer=buffer, indices=indices):
            return f"{buffer.name}[{listed(indices)}]"
        case _:
            return f"{type(expr).__name__}({dtype_of(expr)})"
