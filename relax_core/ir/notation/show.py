"""Scalar expressions as a reader of a message knows them from the source."""

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


def show_prim(expr: PrimExpr) -> str:
    """Return a scalar expression in TVMScript's way, with as few parentheses as it needs."""
    return infix(expr, 0, _operand)


def _operand(expr: PrimExpr) -> str:
    match expr:
        case PrimVar(name=name):
            return name
        case IntImm(value=value):
            return str(bool(value)) if expr.dtype == "bool" else str(value)
        case FloatImm(value=value):
            return repr(value)
        case StringImm(value=value):
            return repr(value)
        case Binary(op=op, a=a, b=b):
            return f"T.{op}({show_prim(a)}, {show_prim(b)})"
        case Unary(op=op, a=a):
            return f"{'not ' if op == 'not' else op}{infix(a, UNARY, _operand)}"
        case Cast(value=value, dtype=dtype):
            return f"T.Cast({dtype!r}, {show_prim(value)})".replace("'", '"')
        case Select(condition=condition, true_value=a, false_value=b, is_lazy=is_lazy):
            name = "if_then_else" if is_lazy else "Select"
            return f"T.{name}({', '.join(show_prim(item) for item in (condition, a, b))})"
        case Intrinsic(name=name, args=args):
            return f"T.{name}({', '.join(show_prim(item) for item in args)})"
        case PrimList(items=items):
            return f"[{', '.join(show_prim(item) for item in items)}]"
        case BufferRef(buffer=buffer, is_pointer=is_pointer):
            return f"{buffer.name}.data" if is_pointer else buffer.name
        case BufferLoad(buffer=buffer, indices=indices):
            return f"{buffer.name}[{', '.join(show_prim(item) for item in indices)}]"
        case _:
            return f"{type(expr).__name__}({dtype_of(expr)})"
