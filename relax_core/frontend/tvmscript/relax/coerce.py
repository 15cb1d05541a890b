"""Coerce a value of the text to the node that its context expects."""

import ast

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.values import Items, Literal, TypeValue, Value
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Null,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    constant,
)
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm, const
from relax_core.ops.spec import Param
from relax_core.source import Span

_NUMBERS = (bool, int, float)


def to_scalar(value: Value) -> PrimExpr | None:
    """Return `value` as a scalar expression if it is a number or one already."""
    match value:
        case PrimExpr():
            return value
        case Literal(value=bool() | int() | float() as number):
            # As in TVM, a float literal is a float64 host scalar.
            return _scalar(number, "float64" if isinstance(number, float) else None, value.span)
        case _:
            return None


def to_expr(context: Context, value: Value, place: ast.expr, expected: Type | None = None) -> Expr:
    """Coerce to an expression; `expected` decides what a bare literal or a bare tuple is."""
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
    """Coerce to the argument for `param` of an operator."""
    match value:
        case Literal():
            made = literal_argument(value, param)
            return _literal_field(context, value, place, param) if made is None else made
        case Items():
            made = ints_argument(value, param)
            return _items_argument(context, value, place, param) if made is None else made
        case Call(op=Op(name="tir.index_map"), args=(text,)) if param.kind == "index_map":
            return text
        case IntImm() if param.kind == "axes":
            return Tuple((PrimValue(value, span=value.span),), span=value.span)
        case _:
            return to_expr(context, value, place)


def literal_argument(literal: Literal, param: Param) -> Expr | None:
    """Coerce a literal to the argument for `param`; `None` if that takes its context."""
    value, span = literal.value, literal.span
    if value is None:
        return Null(span=span)
    match param.kind:
        case "prim" | "ints" if isinstance(value, _NUMBERS):
            return PrimValue(_scalar(value, _dtype_for(value, param), span), span=span)
        case "axes" if isinstance(value, int):
            return Tuple((PrimValue(_scalar(value, "int64", span), span=span),), span=span)
        case "dtype" if isinstance(value, str):
            return DataTypeImm(value, span=span)
        case "func" if isinstance(value, str):
            return ExternFunc(value, span=span)
        case "prim" if isinstance(value, str):
            return PrimValue(StringImm(value, span=span), span=span)
        case _:
            return None


def _literal_field(context: Context, literal: Literal, place: ast.expr, param: Param) -> Expr:
    match param.kind:
        case "shape":
            return _shape(context, literal, place)
        case "expr":
            return _field(context, literal, place)
        case kind:
            return to_expr(context, literal, place, TensorType() if kind in ("tensor", "tuple") else None)


def ints_argument(items: Items, param: Param) -> Expr | None:
    """Coerce a list of literals to the argument for `param`; `None` if that takes its context."""
    if param.kind not in ("axes", "ints"):
        return None
    scalars = [to_scalar(item) for item in items.values]
    fields = tuple(PrimValue(scalar, span=scalar.span) for scalar in scalars if scalar is not None)
    return Tuple(fields, span=items.span) if len(fields) == len(scalars) else None


def _items_argument(context: Context, items: Items, place: ast.expr, param: Param) -> Expr:
    match param.kind:
        case "axes" | "ints":
            return Tuple(tuple(_prim(context, item, place) for item in items.values), span=items.span)
        case "shape":
            return _shape(context, items, place)
        case "tuple":
            return Tuple(tuple(_field(context, item, place) for item in items.values), span=items.span)
        case "expr":
            return _field(context, items, place)
        case kind:
            return to_expr(context, items, place, TensorType() if kind == "tensor" else None)


def _dtype_for(number: int | float, param: Param) -> str | None:
    """Return the dtype of a literal: its parameter's if that can hold it, else its own, which is then reported."""
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


def _scalar(value: int | float, dtype: str | None, span: Span) -> PrimExpr:
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


def _tensor(context: Context, value: int | float, dtype: str | None, place: ast.expr):
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
    """Coerce a field of an argument tuple: a scalar to a host scalar, a nested tuple of scalars to a shape."""
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
