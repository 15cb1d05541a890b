"""Make a node of a value of the text, as its place expects."""

import ast

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.values import Items, Literal, TypeValue, Value
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    Var,
    constant,
)
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm, const
from relax_core.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ops.spec import Param
from relax_core.source import Span


def to_scalar(value: Value) -> PrimExpr | None:
    """Return `value` as a scalar expression if it is a number or one already."""
    match value:
        case PrimExpr():
            return value
        case Literal(value=bool() | int() | float() as number):
            # As TVM: a host scalar that is written as a float is float64.
            return _scalar(number, "float64" if isinstance(number, float) else None, value.span)
        case _:
            return None


def to_expr(context: Context, value: Value, place: ast.expr, expected: Type | None = None) -> Expr:
    """Make an expression; `expected` says what a bare literal and a bare tuple are."""
    match value:
        case Expr():
            return value
        case PrimExpr():
            return PrimValue(value, span=context.span(place))
        case Literal(value=None):
            return Null(span=value.span)
        case Literal(value=str(text)):
            return PrimValue(StringImm(text, span=value.span), span=value.span)
        case Literal():
            return _literal(context, value, place, expected)
        case Items():
            return _items(context, value, place, expected)
        case TypeValue():
            raise context.fail("RS004", place, f"expected a value, got the type `{source_of(place)}`")


def to_argument(context: Context, value: Value, place: ast.expr, param: Param) -> Expr:
    """Make the argument for `param` of an operator."""
    if param.kind == "tensor" and isinstance(value, Expr):
        return value
    match param.kind, value:
        case _, Literal(value=None) if param.kind != "tensor":
            return Null(span=value.span)
        case "dtype", Literal(value=str(text)):
            return DataTypeImm(text, span=value.span)
        case "func", Literal(value=str(name)):
            return ExternFunc(name, span=value.span)
        case "prim" | "ints", Literal(value=bool() | int() | float() as number):
            return PrimValue(_scalar(number, _dtype_for(number, param), value.span), span=value.span)
        case "index_map", Call(op=Op(name="tir.index_map"), args=(text,)):
            return text
        case "axes", IntImm() as scalar:
            return Tuple((PrimValue(scalar, span=value.span),), span=value.span)
        case "axes", Literal(value=int() as number):
            return Tuple((PrimValue(_scalar(number, "int64", value.span), span=value.span),), span=value.span)
        case "axes" | "ints", Items(values=values):
            return Tuple(tuple(_prim(context, item, place) for item in values), span=value.span)
        case "shape", Items() | Literal():
            return _shape(context, value, place)
        case "tuple", Items(values=values):
            return Tuple(tuple(_field(context, item, place) for item in values), span=value.span)
        case "expr", Items() | Literal():
            return _field(context, value, place)
        case _:
            return to_expr(context, value, place, TensorType() if param.kind in ("tensor", "tuple") else None)


def _dtype_for(number: bool | int | float, param: Param) -> str | None:
    """A literal takes the dtype of its parameter if that can hold it; else it keeps its own, which is reported."""
    match param.dtype:
        case "string":
            return None
        case "bool":
            return "bool" if number in (0, 1) else None
        case str(dtype) if dtype.startswith(("int", "uint")) and isinstance(number, float):
            return None
        case dtype:
            return dtype


def is_tuple(expr: Expr, known: set[Var]) -> bool:
    """Tell whether `expr` is a tuple as far as the text says."""
    match expr:
        case Tuple():
            return True
        case Var(annotation=TupleType()):
            return True
        case Var():
            return expr in known
        case _:
            return False


def is_shape(expr: Expr) -> bool:
    """Tell whether `expr` is a shape as far as the text says."""
    match expr:
        case ShapeExpr() | Var(annotation=ShapeType()):
            return True
        case Call(op=ExternFunc(name=name) | Op(name=name)):
            return name in ("vm.builtin.shape_of", "relax.shape_of")
        case _:
            return False


def _scalar(value: bool | int | float, dtype: str | None, span: Span) -> PrimExpr:
    return const(value, dtype, span=span)


def _literal(context: Context, literal: Literal, place: ast.expr, expected: Type | None) -> Expr:
    value = literal.value
    assert value is not None
    assert not isinstance(value, str)
    match expected:
        case TensorType(dtype=dtype):
            return Constant(_tensor(context, value, dtype, place), span=literal.span)
        case PrimType(dtype=dtype):
            return PrimValue(_scalar(value, dtype, literal.span), span=literal.span)
        case _:
            dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
            hint = f'write R.const({value}, "{dtype}") for a tensor, or R.prim_value({value}) for a host scalar'
            message = f"`{value}` may be a tensor or a host scalar here; it is taken as a host scalar"
            context.report("PA008", place, message, hint, "warning")
            return PrimValue(_scalar(value, None, literal.span), span=literal.span)


def _tensor(context: Context, value: bool | int | float, dtype: str | None, place: ast.expr):
    try:
        return constant(value, dtype).data
    except (OverflowError, TypeError, ValueError):
        raise context.fail("PA010", place, f"`{value}` is no {dtype}") from None


def _items(context: Context, items: Items, place: ast.expr, expected: Type | None) -> Expr:
    values = items.values
    match expected:
        case ShapeType():
            return _shape(context, items, place)
        case TupleType(fields=fields) if len(fields) == len(values):
            pairs = zip(values, fields, strict=True)
            return Tuple(tuple(to_expr(context, item, place, field) for item, field in pairs), span=items.span)
        case _:
            pass
    if values and all(to_scalar(item) is not None for item in values):
        if context.is_2022:
            return _shape(context, items, place)
        if any(isinstance(item, PrimExpr) for item in values):
            return Tuple(tuple(_field(context, item, place) for item in values), span=items.span)
        text = source_of(place)
        hint = f"write R.shape([{text.strip('()[],')}]) for a shape, or R.tuple(R.prim_value(...), ...) for a tuple"
        context.report(
            "PA008", place, f"`{text}` may be a shape or a tuple here; it is taken as a tuple", hint, "warning"
        )
        return Tuple(tuple(_field(context, item, place) for item in values), span=items.span)
    return Tuple(tuple(to_expr(context, item, place) for item in values), span=items.span)


def _field(context: Context, value: Value, place: ast.expr) -> Expr:
    """A field of an argument tuple: a scalar stands for a host scalar, a nested tuple of scalars for a shape."""
    if (scalar := to_scalar(value)) is not None:
        return PrimValue(scalar, span=scalar.span)
    return to_expr(context, value, place)


def _prim(context: Context, value: Value, place: ast.expr) -> Expr:
    scalar = to_scalar(value)
    if scalar is not None:
        return PrimValue(scalar, span=scalar.span)
    if isinstance(value, Expr):
        return value
    raise context.fail("PA006", place, f"expected integers, got `{source_of(place)}`")


def _shape(context: Context, value: Items | Literal, place: ast.expr) -> Expr:
    values = value.values if isinstance(value, Items) else (value,)
    dims: list[PrimExpr] = []
    for item in values:
        scalar = item.value if isinstance(item, PrimValue) else to_scalar(item)
        if scalar is None or isinstance(scalar, FloatImm):
            raise context.fail("PA009", place, f"expected dimensions, got `{source_of(place)}`")
        dims.append(scalar)
    return ShapeExpr(tuple(dims), span=value.span)
