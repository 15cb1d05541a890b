"""Short words for types, dtypes, scalar expressions and numbers, as graphs, registers and tables show them."""

import re
import unicodedata

from relax_core.diagnostics import plural as plural
from relax_core.ir.infix import UNARY, infix
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
from relax_core.ir.types import (
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

_DTYPE = re.compile(r"^(bfloat|float|uint|int)(\d+)$")


def columns(text: str) -> int:
    """Count the columns of a fixed-width font that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def cut(text: str, limit: int) -> str:
    """Return `text` with at most `limit` columns; what is cut is shown by `…`."""
    if columns(text) <= limit:
        return text
    kept: list[str] = []
    used = 1
    for ch in text:
        used += columns(ch)
        if used > limit:
            break
        kept.append(ch)
    return "".join(kept) + "…"


def bytes_text(count: int) -> str:
    """`20 B`, `1.1 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} B"
    for unit, size in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if count < size * 1000 or unit == "GB":
            return f"{count / size:.1f} {unit}"
    raise AssertionError


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
