"""Scalar expressions as short text for messages."""

from collections.abc import Mapping
from types import MappingProxyType

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

_PRECEDENCE: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("*", "/", "//", "%"), 9),
        **dict.fromkeys(("+", "-"), 8),
        **dict.fromkeys(("<<", ">>"), 7),
        "&": 6,
        "^": 5,
        "|": 4,
        **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 3),
        "and": 1,
        "or": 0,
    }
)
_TIGHTEST = 10


def text_of(expr: PrimExpr) -> str:
    """Print `expr` in TVMScript's way with as few parentheses as it needs."""
    return _print(expr, 0)


def _print(expr: PrimExpr, outer: int) -> str:
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
            inner = _PRECEDENCE.get(op)
            if inner is None:
                return f"T.{op}({_print(a, 0)}, {_print(b, 0)})"
            text = f"{_print(a, inner)} {op} {_print(b, inner + 1)}"
            return f"({text})" if inner < outer else text
        case Unary(op=op, a=a):
            return f"{'not ' if op == 'not' else op}{_print(a, _TIGHTEST)}"
        case Cast(value=value, dtype=dtype):
            return f"T.Cast({dtype!r}, {_print(value, 0)})".replace("'", '"')
        case Select(condition=condition, true_value=a, false_value=b, is_lazy=is_lazy):
            name = "if_then_else" if is_lazy else "Select"
            return f"T.{name}({', '.join(_print(item, 0) for item in (condition, a, b))})"
        case Intrinsic(name=name, args=args):
            return f"T.{name}({', '.join(_print(item, 0) for item in args)})"
        case PrimList(items=items):
            return f"[{', '.join(_print(item, 0) for item in items)}]"
        case BufferRef(buffer=buffer, is_pointer=is_pointer):
            return f"{buffer.name}.data" if is_pointer else buffer.name
        case BufferLoad(buffer=buffer, indices=indices):
            return f"{buffer.name}[{', '.join(_print(item, 0) for item in indices)}]"
        case _:
            return f"{type(expr).__name__}({dtype_of(expr)})"
