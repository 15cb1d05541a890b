"""Numbers that Python would compute from literals: `1.0 / 3.0`, `2**-3`, `np.finfo("float32").max`, `math.sqrt(2.0)`.

They are evaluated as data: only the operators and names in these tables, on numbers, with a bound on what they make.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.names import qualified

Number: TypeAlias = bool | int | float
_DEEPEST: Final = 40
_LARGEST_POWER: Final = 64
WIDEST: Final = 1 << 128
_CONSTANTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        f"{module}.{name}": value
        for module in ("numpy", "math")
        for name, value in (("inf", math.inf), ("nan", math.nan), ("pi", math.pi), ("e", math.e))
    }
)
_FUNCTIONS: Final[Mapping[str, Callable[[Any], Number]]] = MappingProxyType(
    {
        "float": float, "int": int, "abs": abs,
        **{f"{module}.{name}": getattr(math, name) for module in ("numpy", "math") for name in ("sqrt", "exp", "log")},
        **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "log2")},
    }
)  # fmt: skip
_ORDERS: Final[Mapping[type[ast.cmpop], Callable[[Number, Number], bool]]] = MappingProxyType(
    {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
)
_FLOATS: Final = ("float16", "float32", "float64")
_INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_OF_FLOATS: Final = ("max", "min", "eps", "tiny")
_OF_INTEGERS: Final = ("max", "min")


def number_of(context: Context, node: ast.expr) -> Number | None:
    """Return the number that `node` stands for, `None` if it is none that the text alone tells.

    Raises:
        Failed: PA010, it has no value, as a division by zero, or none that is worth to be computed.
    """
    try:
        return _value(context, node, _DEEPEST)
    except (ArithmeticError, ValueError) as error:
        raise context.fail("PA010", node, f"not a number: {error}") from None


def truth_of(context: Context, node: ast.expr) -> bool | None:
    """Return whether a condition holds that Python would decide: `True`, `N > 8`, `"half" == "half" and not False`.

    `None` is one that the text alone does not tell.

    Raises:
        Failed: PA010, a number in it has no value.
    """
    match node:
        case ast.Constant(value=bool(value)):
            return value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = truth_of(context, operand)
            return None if value is None else not value
        case ast.BoolOp(op=op, values=values):
            found = [truth_of(context, item) for item in values]
            known = [item for item in found if item is not None]
            return None if len(known) < len(found) else all(known) if isinstance(op, ast.And) else any(known)
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _holds(ops, [_known(context, item) for item in (left, *others)])
        case _:
            return None


def _known(context: Context, node: ast.expr) -> Number | str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case _:
            return number_of(context, node)


def _holds(ops: Sequence[ast.cmpop], values: Sequence[Number | str | None]) -> bool | None:
    """Tell whether a chain of comparisons holds; `None` if it compares what is not known, or words with numbers."""
    steps: list[bool] = []
    for op, left, right in zip(ops, values, values[1:], strict=False):
        match op, left, right:
            case (_, None, _) | (_, _, None):
                return None
            case ast.Eq(), _, _:
                steps.append(left == right)
            case ast.NotEq(), _, _:
                steps.append(left != right)
            case _, (bool() | int() | float()), (bool() | int() | float()) if type(op) in _ORDERS:
                steps.append(_ORDERS[type(op)](left, right))
            case _:
                return None
    return all(steps)


def _value(context: Context, node: ast.expr, depth: int) -> Number | None:
    if depth == 0:
        return None
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            value = _value(context, operand, depth - 1)
            return value if value is None or isinstance(sign, ast.UAdd) else -value
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            value = _value(context, operand, depth - 1)
            return ~int(value) if isinstance(value, int) else None
        case ast.BinOp(left=left, op=op, right=right):
            return combined(op, _value(context, left, depth - 1), _value(context, right, depth - 1))
        case ast.Attribute(value=ast.Call(func=func, args=[dtype], keywords=[]), attr=name):
            return _limit(context, func, dtype, name)
        case ast.Attribute():
            return _CONSTANTS.get(qualified(node, context.aliases) or "")
        case ast.Call(
            func=ast.Name(id="float"), args=[ast.Constant(value="nan" | "inf" | "-inf" as text)], keywords=[]
        ):
            return float(text)
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, _, *_] as args, keywords=[]):
            numbers = [_value(context, item, depth - 1) for item in args]
            known = [item for item in numbers if item is not None]
            return None if len(known) < len(numbers) else max(known) if name == "max" else min(known)
        case ast.Call(func=func, args=[argument], keywords=[]):
            return _applied(qualified(func, context.aliases) or "", _value(context, argument, depth - 1))
        case _:
            return None


def combined(op: ast.operator, left: Number | None, right: Number | None) -> Number | None:
    """Return what an operator of Python makes of two numbers, `None` for one that it does not take.

    Raises:
        ArithmeticError, ValueError: there is none, or none that is worth to be computed.
    """
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return _bounded(left + right)
        case ast.Sub():
            return _bounded(left - right)
        case ast.Mult():
            return _bounded(left * right)
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow():
            if abs(right) > _LARGEST_POWER:
                raise ValueError("the power is too large")
            return _bounded(left**right)
        case _ if isinstance(left, int) and isinstance(right, int):
            return _of_bits(op, left, right)
        case _:
            return None


def _of_bits(op: ast.operator, left: int, right: int) -> int | None:
    match op:
        case ast.LShift() | ast.RShift() if right > _LARGEST_POWER:
            raise ValueError("the shift is too large")
        case ast.LShift():
            return int(_bounded(left << right))
        case ast.RShift():
            return left >> right
        case ast.BitAnd():
            return left & right
        case ast.BitOr():
            return left | right
        case ast.BitXor():
            return left ^ right
        case _:
            return None


def _bounded(value: Any) -> Number:
    if isinstance(value, complex):
        raise ValueError("it is complex")
    if isinstance(value, int) and abs(value) > WIDEST:
        raise ValueError("it has more than 128 bits")
    assert isinstance(value, int | float)
    return value


def _applied(name: str, value: Number | None) -> Number | None:
    if value is None:
        return None
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](value)
    dtype = name.removeprefix("numpy.")
    if dtype != name and dtype in (*_FLOATS, *_INTEGERS):
        return np.array(value).astype(dtype).item()
    return None


def _limit(context: Context, func: ast.expr, dtype: ast.expr, name: str) -> Number | None:
    """Return `np.finfo(dtype).max` and its like."""
    given = dtype.value if isinstance(dtype, ast.Constant) else qualified(dtype, context.aliases) or ""
    named = str(given).removeprefix("numpy.")
    match qualified(func, context.aliases):
        case "numpy.finfo" if named in _FLOATS and name in _OF_FLOATS:
            return float(getattr(np.finfo(named), name))
        case "numpy.iinfo" if named in _INTEGERS and name in _OF_INTEGERS:
            return int(getattr(np.iinfo(named), name))
        case _:
            return None
