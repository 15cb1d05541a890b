"""The value of a scalar expression where its variables have values."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import (
    Binary,
    BinaryKind,
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

Scalar: TypeAlias = int | float | bool | str

WORD_BITS = 64
# Numbers of more bits have no value: a short text could ask for one that fills the memory.
LARGEST_BITS = 4096


class NoValueError(ArithmeticError):
    """An expression has no value: a variable is unbound, a divisor zero, a result beyond all bounds."""


def evaluate(expr: PrimExpr, values: Mapping[PrimVar, int | float | bool]) -> Scalar:
    """Return the value of `expr`, a Python int, float, bool or str; what is not chosen needs none.

    Integers have no limits; whether a result fits its dtype is for the caller to ask.

    Raises:
        NoValueError: it has none.
    """
    found = evaluate_parts(expr, values)[expr]
    if isinstance(found, NoValueError):
        raise found
    return found


def evaluate_parts(expr: PrimExpr, values: Mapping[PrimVar, int | float | bool]) -> dict[Node, Scalar | NoValueError]:
    """Return the value of `expr` and of each of its parts, or why it has none."""
    memo: dict[Node, Scalar | NoValueError] = {}
    for current in postorder(expr):
        assert isinstance(current, PrimExpr), "only scalar expressions have a value"
        try:
            memo[current] = _limited(_value(current, memo, values))
        except NoValueError as error:
            memo[current] = error
        except (KeyError, ArithmeticError, ValueError) as error:
            memo[current] = NoValueError(str(error))
    return memo


def combine(op: BinaryKind, a: int, b: int) -> int | bool:
    """Return the value of an operation of integers; `/` is `truncdiv`.

    Raises:
        NoValueError: a division by zero, or a shift by no number of bits of a word.
    """
    if (not b and op in _DIVISIONS) or (op in ("<<", ">>") and not 0 <= b < WORD_BITS):
        raise NoValueError(op)
    return _OPERATIONS[op](a, b)


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_DIVISIONS = ("//", "/", "%", "truncdiv", "truncmod")
_OPERATIONS = MappingProxyType[BinaryKind, Callable[[int, int], int | bool]](
    {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "//": lambda a, b: a // b,
        "/": _truncdiv,
        "%": lambda a, b: a % b,
        "truncdiv": _truncdiv,
        "truncmod": lambda a, b: a - b * _truncdiv(a, b),
        "min": min,
        "max": max,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "and": lambda a, b: bool(a and b),
        "or": lambda a, b: bool(a or b),
        "&": lambda a, b: a & b,
        "|": lambda a, b: a | b,
        "^": lambda a, b: a ^ b,
        "<<": lambda a, b: a << b,
        ">>": lambda a, b: a >> b,
    }
)
_MATH = ("exp", "log", "sqrt", "pow", "floor", "ceil", "sin", "cos", "tan", "tanh", "fabs", "log2", "log10")


def _value(
    expr: PrimExpr, memo: Mapping[Node, Scalar | NoValueError], values: Mapping[PrimVar, int | float | bool]
) -> Scalar:
    def of(part: PrimExpr) -> Scalar:
        found = memo[part]
        if isinstance(found, NoValueError):
            raise found
        return found

    match expr:
        case PrimVar():
            return values[expr]
        case IntImm(value=value, dtype=dtype):
            return bool(value) if dtype == "bool" else value
        case FloatImm(value=value) | StringImm(value=value):
            return value
        case Binary(op="and", a=a, b=b):
            return bool(of(a) and of(b))
        case Binary(op="or", a=a, b=b):
            return bool(of(a) or of(b))
        case Binary(op=op, a=a, b=b):
            left, right = of(a), of(b)
            if op == "/" and isinstance(left, float) and isinstance(right, float | int):
                return left / right
            return combine(op, left, right)  # pyright: ignore[reportArgumentType]  # floats work alike
        case Unary(op=op, a=a):
            operand = of(a)
            assert not isinstance(operand, str), "no operation on strings"
            return -operand if op == "-" else not operand if op == "not" else ~int(operand)
        case Cast(value=value, dtype=dtype):
            return _cast(of(value), dtype)
        case Select(condition=condition, true_value=yes, false_value=no):
            return of(yes) if of(condition) else of(no)
        case Intrinsic(name=name, args=args) if name in _MATH:
            function: Callable[..., float] = getattr(math, name)
            return function(*map(of, args))
        case _:
            raise NoValueError(type(expr).__name__)


def _limited(value: Scalar) -> Scalar:
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        raise NoValueError("a number of too many bits")
    return value


def _cast(value: Scalar, dtype: str) -> Scalar:
    match dtype:
        case "bool":
            return bool(value)
        case _ if dtype.startswith("float"):
            return float(value)
        case _:
            return int(value)
