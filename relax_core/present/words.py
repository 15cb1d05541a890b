"""Short words for types, dtypes and scalar expressions, as graphs, registers and tables show them."""

import re

from relax_core.ir.expr import (
    AdtType,
    FuncType,
    ObjectType,
    PrimType,
    RefType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
)
from relax_core.ir.notation.infix import UNARY, infix
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    StringImm,
    Unary,
)
from relax_core.ir.tir import BufferLoad

_DTYPE = re.compile(r"^(bfloat|float|uint|int)(\d+)$")


def dtype_text(dtype: str | None) -> str:
    """`f32` for `float32`; an unknown dtype is `?`."""
    if not dtype:
        return "?"
    match = _DTYPE.match(dtype)
    if match is None:
        return dtype
    return {"bfloat": "bf", "float": "f", "uint": "u", "int": "i"}[match[1]] + match[2]


def prim_text(expr: PrimExpr) -> str:
    """Print a scalar expression with the parentheses that it needs."""
    return infix(expr, 0, _operand)


def _operand(expr: PrimExpr) -> str:
    match expr:
        case PrimVar(name=name):
            return name
        case IntImm(value=value, dtype="bool"):
            return str(bool(value))
        case IntImm(value=value) | FloatImm(value=value):
            return str(value)
        case StringImm(value=value):
            return repr(value)
        case Binary(op=op, a=a, b=b):
            return f"{op}({prim_text(a)}, {prim_text(b)})"
        case Unary(op=op, a=a):
            return f"{op} {infix(a, UNARY, _operand)}" if op == "not" else f"{op}{infix(a, UNARY, _operand)}"
        case Cast(value=value, dtype=dtype):
            return f"{dtype}({prim_text(value)})"
        case Select(condition=condition, true_value=yes, false_value=no):
            return f"({infix(yes, 1, _operand)} if {infix(condition, 1, _operand)} else {infix(no, 1, _operand)})"
        case Intrinsic(name=name, args=args):
            return f"{name}({', '.join(prim_text(item) for item in args)})"
        case BufferLoad(buffer=buffer, indices=indices):
            return f"{buffer.name}[{', '.join(prim_text(item) for item in indices)}]"
        case _:
            return type(expr).__name__


def dims_text(dims: tuple[PrimExpr, ...]) -> str:
    """`(m, k * 2)`, `(n,)`, `()`."""
    inner = ", ".join(map(prim_text, dims))
    return f"({inner},)" if len(dims) == 1 else f"({inner})"


def type_text(type_: Type | None) -> str:
    """Print a type for a node or a register: `(m, k) f32`, `Shape (n,)`, `Tuple()`, `Object`, `→ i64`."""
    match type_:
        case None:
            return ""
        case TensorType(shape=tuple() as dims, dtype=dtype):
            return f"{dims_text(dims)} {dtype_text(dtype)}"
        case TensorType(shape=None, dtype=dtype, ndim=ndim):
            rank = "rank ?" if ndim is None else f"rank {ndim}"
            return f"{rank} {dtype_text(dtype)}"
        case TensorType(shape=shape, dtype=dtype):
            return f"{getattr(shape, 'name', '?')} {dtype_text(dtype)}"
        case ShapeType(values=tuple() as dims):
            return f"Shape {dims_text(dims)}"
        case ShapeType(ndim=ndim):
            return "Shape" if ndim is None else f"Shape rank {ndim}"
        case PrimType(dtype=dtype, value=value):
            return f"Prim {dtype_text(dtype)}" + (f" = {prim_text(value)}" if value is not None else "")
        case TupleType(fields=fields):
            return f"Tuple({', '.join(map(type_text, fields))})"
        case FuncType(params=params, ret=ret):
            inner = "…" if params is None else ", ".join(map(type_text, params))
            return f"({inner}) → {type_text(ret)}"
        case ObjectType():
            return "Object"
        case AdtType(name=name, args=args):
            return name + (f"[{', '.join(map(type_text, args))}]" if args else "")
        case RefType(value=value):
            return f"Ref[{type_text(value)}]"
        case TypeVar(name=name):
            return name


def is_void(type_: Type | None) -> bool:
    """Tell whether `type_` is that of a call which returns nothing."""
    return isinstance(type_, TupleType) and not type_.fields
