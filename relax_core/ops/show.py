"""Types and scalar expressions as a reader of a message knows them from the source."""

from relax_core.ir.expr import Var
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

_CALLS = ("min", "max", "truncdiv", "truncmod")
_TIGHT = ("*", "/", "//", "%")


def show_prim(expr: PrimExpr) -> str:
    """Return a scalar expression as text. A sum may be long: the left operands are walked without recursion."""
    spine: list[Binary] = []
    while isinstance(expr, Binary) and expr.op not in _CALLS:
        spine.append(expr)
        expr = expr.a
    text = _atom(expr)
    is_loose = False
    for item in reversed(spine):
        left = f"({text})" if is_loose and item.op in _TIGHT else text
        text = f"{left} {item.op} {_right(item)}"
        is_loose = item.op not in _TIGHT
    return text


def _right(expr: Binary) -> str:
    needs_parentheses = isinstance(expr.b, Binary) and expr.b.op not in _CALLS
    is_plain_sum = (
        expr.op == "+" and needs_parentheses and isinstance(expr.b, Binary) and expr.b.op in ("+", "-", *_TIGHT)
    )
    text = show_prim(expr.b)
    return f"({text})" if needs_parentheses and not is_plain_sum else text


def _atom(expr: PrimExpr) -> str:
    match expr:
        case PrimVar(name=name):
            return name
        case IntImm(value=value, dtype=dtype):
            return str(bool(value)) if dtype == "bool" else str(value)
        case FloatImm(value=value):
            return repr(value)
        case StringImm(value=value):
            return f'"{value}"'
        case Binary(op=op, a=a, b=b):
            return f"T.{op}({show_prim(a)}, {show_prim(b)})"
        case Unary(op=op, a=a):
            operand = f"({show_prim(a)})" if isinstance(a, Binary) else show_prim(a)
            return f"{op} {operand}" if op == "not" else f"{op}{operand}"
        case Cast(value=value, dtype=dtype):
            return f'T.Cast("{dtype}", {show_prim(value)})'
        case Select(condition=condition, true_value=yes, false_value=no):
            return f"T.if_then_else({show_prim(condition)}, {show_prim(yes)}, {show_prim(no)})"
        case Intrinsic(name=name, args=args):
            return f"T.{name}({', '.join(show_prim(arg) for arg in args)})"
        case BufferLoad(buffer=buffer, indices=indices):
            return f"{buffer.name}[{', '.join(show_prim(index) for index in indices)}]"
        case _:
            return type(expr).__name__


def show_dims(dims: tuple[PrimExpr, ...]) -> str:
    """Return dimensions as a tuple."""
    return f"({', '.join(show_prim(dim) for dim in dims)}{',' if len(dims) == 1 else ''})"


def show_type(type_: Type) -> str:
    """Return a type as TVMScript spells it."""
    match type_:
        case TensorType(shape=shape, dtype=dtype, ndim=ndim):
            parts = [show_dims(shape)] if isinstance(shape, tuple) else [shape.name] if isinstance(shape, Var) else []
            parts += [f'dtype="{dtype}"'] if dtype is not None else []
            parts += [f"ndim={ndim}"] if shape is None and ndim is not None else []
            return f"R.Tensor({', '.join(parts)})" if parts else "R.Tensor"
        case ShapeType(values=values, ndim=ndim):
            inner = show_dims(values) if values is not None else f"ndim={ndim}" if ndim is not None else ""
            return f"R.Shape({inner})" if inner else "R.Shape"
        case PrimType(dtype=dtype, value=value):
            return f'R.Prim("{dtype}")' if value is None else f"R.Prim({show_prim(value)})"
        case TupleType(fields=fields):
            return f"R.Tuple({', '.join(show_type(item) for item in fields)})" if fields else "R.Tuple"
        case FuncType(params=None, ret=ret):
            return "R.Callable" if isinstance(ret, ObjectType) else f"R.Callable(ret={show_type(ret)})"
        case FuncType(params=params, ret=ret):
            return f"R.Callable(({', '.join(show_type(item) for item in params or ())}), {show_type(ret)})"
        case ObjectType():
            return "R.Object"
        case AdtType(name=name, args=args):
            return f"{name}[{', '.join(show_type(item) for item in args)}]" if args else name
        case TypeVar(name=name):
            return name
        case RefType(value=value):
            return f"ref({show_type(value)})"
