"""What conditions and attributes of a rule compute with: shapes, dtypes, attributes and numbers, never the program.

A comparison that is not proven, such as `n == 4` for a symbolic `n`, is `Unknown`, and so is what rests on it.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from relax_core.ir.expr import Constant, Expr, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_different, prove_equal, simplify
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import BinaryKind, IntImm, PrimExpr, binary, const
from relax_core.ops.show import show_type

PROPERTIES = ("dtype", "shape", "ndim", "is_constant", "value")
"""What a condition may ask of a tensor."""
_NUMBER_LIMIT = 1 << 62
_LENGTH_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known before the program runs, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Matched:
    """What a name of the pattern stands for, its type, and what it is bound to if it is a variable."""

    expr: Expr
    type: Type | None
    value: Expr


Datum: TypeAlias = "bool | int | float | str | PrimExpr | tuple[Any, ...] | Matched | Unknown | None"
Truth: TypeAlias = "bool | Unknown"
Names: TypeAlias = Mapping[str, Datum]

_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.FloorDiv: lambda a, b: a // b,
        ast.Mod: operator.mod,
        ast.Div: lambda a, b: a / b,
    }
)
_SYMBOLIC: Mapping[type[ast.operator], BinaryKind] = MappingProxyType(
    {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
)
_ORDER: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = MappingProxyType(
    {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
)
COMPARISONS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, *_ORDER)
ARITHMETIC = tuple(_ARITHMETIC)


def show(value: Datum) -> str:
    """Return a value as a rule would write it."""
    match value:
        case Unknown(reason=reason):
            return f"not known ({reason})"
        case Matched(type=type_):
            return "a value" if type_ is None else show_type(type_)
        case PrimExpr():
            return show_prim(value)
        case tuple(items):
            return f"({', '.join(map(show, items))}{',' if len(items) == 1 else ''})"
        case str():
            return f'"{value}"'
        case _:
            return repr(value)


def evaluate(node: ast.expr, names: Names) -> Datum:
    """Compute an expression of a condition, whose form was checked when the rule was read."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name):
            return names.get(name, Unknown(f"{name} stands for nothing"))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(evaluate(item, names) for item in items)
        case ast.Attribute(value=value, attr=attr):
            return _property(evaluate(value, names), attr)
        case ast.Subscript(value=value, slice=index):
            return _item(evaluate(value, names), index, names)
        case ast.Call(args=[item]):
            found = evaluate(item, names)
            return len(found) if isinstance(found, tuple) else _unknown(found, "it has no length")
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, evaluate(left, names), evaluate(right, names))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = truth(evaluate(operand, names))
            return found if isinstance(found, Unknown) else not found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _combined(ast.Sub(), 0, evaluate(operand, names))
        case ast.BoolOp(op=op, values=values):
            return _joined(op, [truth(evaluate(item, names)) for item in values])
        case ast.Compare(left=left, ops=ops, comparators=rest):
            operands = [evaluate(item, names) for item in (left, *rest)]
            pairs = zip(ops, operands, operands[1:], strict=False)
            return _joined(ast.And(), [truth(_compared(*pair)) for pair in pairs])
        case _:
            return Unknown("it has another form than a condition")


def truth(value: Datum) -> bool | Unknown:
    """Return whether a condition holds."""
    match value:
        case bool() | Unknown():
            return value
        case _:
            return Unknown(f"{show(value)} is neither true nor false")


def _joined(op: ast.boolop, values: list[bool | Unknown]) -> bool | Unknown:
    """Join truths: what is not known decides only if nothing else does."""
    decides = isinstance(op, ast.Or)
    if any(item is decides for item in values):
        return decides
    return next((item for item in values if isinstance(item, Unknown)), not decides)


def _unknown(value: Datum, reason: str) -> Unknown:
    return value if isinstance(value, Unknown) else Unknown(reason)


def _property(value: Datum, name: str) -> Datum:
    if not isinstance(value, Matched):
        return _unknown(value, f"{show(value)} is no tensor")
    match name, value.type, value.value:
        case "is_constant", _, expr:
            return isinstance(expr, Constant)
        case "value", _, Constant(data=data) if data.ndim == 0:
            return data.item()
        case "value", _, _:
            return Unknown("it is no constant of rank 0")
        case "dtype", TensorType(dtype=str(dtype)), _:
            return dtype
        case "ndim", TensorType(ndim=int(ndim)), _:
            return ndim
        case "shape", TensorType(dims=tuple(dims)), _:
            return tuple(map(known, dims))
        case _, type_, _:
            return Unknown(f"its {name} is not known: it is {'untyped' if type_ is None else show_type(type_)}")


def known(dim: PrimExpr) -> int | PrimExpr:
    """Return a dimension as a number if it is one."""
    value = constant_value(dim)
    return dim if value is None else value


def _item(value: Datum, index: ast.expr, names: Names) -> Datum:
    if not isinstance(value, tuple):
        return _unknown(value, f"{show(value)} has no elements")
    if isinstance(index, ast.Slice):
        bounds = [None if item is None else evaluate(item, names) for item in (index.lower, index.upper)]
        if not all(item is None or _is_whole(item) for item in bounds):
            return Unknown("the bounds of a part are whole numbers")
        return value[slice(*cast("list[int | None]", bounds))]
    at = evaluate(index, names)
    if not isinstance(at, int) or isinstance(at, bool):
        return _unknown(at, "an index is a whole number")
    return value[at] if -len(value) <= at < len(value) else Unknown(f"there is no element {at} of {len(value)}")


def _is_whole(value: Datum) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Datum) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _combined(op: ast.operator, a: Datum, b: Datum) -> Datum:
    for item in (a, b):
        if isinstance(item, Unknown):
            return item
    if isinstance(a, tuple) and isinstance(b, tuple) and isinstance(op, ast.Add):
        return (*a, *b) if len(a) + len(b) <= _LENGTH_LIMIT else Unknown("it has too many elements")
    if isinstance(a, PrimExpr) or isinstance(b, PrimExpr):
        return _symbolic(op, a, b)
    if not (_is_number(a) and _is_number(b)):
        return Unknown(f"{show(a)} and {show(b)} are not both numbers")
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and b == 0:
        return Unknown("it divides by zero")
    try:
        made = _ARITHMETIC[type(op)](a, b)
    except OverflowError:
        return Unknown("the number is too large")
    return made if isinstance(made, float) or abs(made) < _NUMBER_LIMIT else Unknown("the number is too large")


def _symbolic(op: ast.operator, a: Datum, b: Datum) -> Datum:
    operands = [const(item, "int64") if _is_whole(item) else item for item in (a, b)]  # pyright: ignore[reportArgumentType]  # a whole number
    sign = _SYMBOLIC.get(type(op))
    if sign is None or not all(isinstance(item, PrimExpr) for item in operands):
        return Unknown(f"{show(a)} and {show(b)} are not both dimensions")
    left, right = cast("list[PrimExpr]", operands)
    if sign in ("//", "%") and not (isinstance(right, IntImm) and right.value > 0):
        return Unknown("a dimension is divided by a positive number only")
    return known(simplify(binary(sign, left, right)))


def _compared(op: ast.cmpop, a: Datum, b: Datum) -> Datum:
    for item in (a, b):
        if isinstance(item, Unknown):
            return item
    match op:
        case ast.Eq():
            return equal(a, b)
        case ast.NotEq():
            return _negated(equal(a, b))
        case ast.In() | ast.NotIn():
            if not isinstance(b, tuple):
                return Unknown(f"{show(b)} has no elements")
            found = _joined(ast.Or(), [equal(a, item) for item in b]) if b else False
            return found if isinstance(op, ast.In) else _negated(found)
        case _ if _is_number(a) and _is_number(b):
            return _ORDER[type(op)](a, b)
        case _ if all(isinstance(item, PrimExpr) or _is_whole(item) for item in (a, b)):
            return _ordered(op, a, b)
        case _:
            return Unknown(f"{show(a)} and {show(b)} have no order")


def _ordered(op: ast.cmpop, a: Datum, b: Datum) -> Datum:
    difference = _symbolic(ast.Sub(), a, b)
    if isinstance(difference, int):
        return _ORDER[type(op)](difference, 0)
    return Unknown(f"{show(a)} and {show(b)} are not ordered for every size")


def _negated(value: "Truth") -> "Truth":
    return value if isinstance(value, Unknown) else not value


def equal(a: Datum, b: Datum) -> bool | Unknown:
    """Tell whether two values are equal, dimensions for every size."""
    match a, b:
        case (Unknown() as reason, _) | (_, Unknown() as reason):
            return reason
        case tuple(x), tuple(y):
            if len(x) != len(y):
                return False
            return _joined(ast.And(), [equal(*pair) for pair in zip(x, y, strict=True)]) if x else True
        case Matched(expr=x), Matched(expr=y):
            return x is y
        case (PrimExpr(), _) | (_, PrimExpr()):
            return _equal_dims(a, b)
        case _ if _is_number(a) and _is_number(b):
            return a == b
        case _:
            return type(a) is type(b) and a == b


def _equal_dims(a: Datum, b: Datum) -> bool | Unknown:
    left, right = (const(item, "int64") if _is_whole(item) else item for item in (a, b))  # pyright: ignore[reportArgumentType]  # a whole number
    if not (isinstance(left, PrimExpr) and isinstance(right, PrimExpr)):
        return False
    if prove_equal(left, right):
        return True
    return False if prove_different(left, right) else Unknown(f"{show(a)} is not {show(b)} for every size")
