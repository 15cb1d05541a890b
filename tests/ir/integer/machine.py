"""Random integer expressions near the limits of their dtypes, and what a machine computes of them.

To make a strategy takes hypothesis longer than to draw from it, so that each is made once.
"""

from collections.abc import Mapping
from functools import cache

from hypothesis import strategies as st

from relax_core.ir.integer.interval import Interval, dtype_interval, wrap
from relax_core.ir.prim import Binary, BinaryKind, Cast, IntImm, PrimExpr, PrimVar, Select, dtype_of

DTYPES = ("int8", "int32", "int64", "uint8", "uint32")
ARITHMETIC: tuple[BinaryKind, ...] = ("+", "-", "*", "//", "%", "min", "max", "truncdiv", "truncmod")
DTYPE = st.sampled_from(DTYPES)
OPERATOR = st.sampled_from(ARITHMETIC)
SCALING: st.SearchStrategy[BinaryKind] = st.sampled_from(("//", "%", "*"))
SHAPE = st.integers(0, 9)
SMALL = st.integers(1, 9)
DISTANCE = st.integers(-9, 9)


@cache
def border(dtype: str) -> st.SearchStrategy[int]:
    """Draw small numbers, and those about the limits of a dtype and their roots."""
    low, high = dtype_interval(dtype)
    root = 1 << high.bit_length() // 2
    centres = (low, high, low // 2, high // 2, root, -root, 0, 0, 0)

    def near(centre: int, by: int) -> int:
        return min(max(centre + by, low), high)

    return st.builds(near, st.sampled_from(centres), DISTANCE)


@cache
def _one_of(variables: tuple[PrimVar, ...], dtype: str) -> st.SearchStrategy[PrimVar] | None:
    own = [var for var in variables if var.dtype == dtype]
    return st.sampled_from(own) if own else None


@cache
@st.composite
def expressions(draw: st.DrawFn, variables: tuple[PrimVar, ...], dtype: str = "", depth: int = 3) -> PrimExpr:
    """Draw an expression of `dtype`, or of any, with conversions from others inside."""
    dtype = dtype or draw(DTYPE)
    shape = draw(SHAPE) if depth else 0
    if shape < 4:
        own = _one_of(variables, dtype)
        return draw(own) if own is not None and shape < 3 else IntImm(draw(border(dtype)), dtype)
    inner = draw(expressions(variables, dtype if shape < 9 else "", depth - 1))
    if shape == 9:
        return Cast(inner, dtype)
    if shape == 8:
        return Binary(draw(SCALING), inner, IntImm(draw(SMALL), dtype), dtype)
    return Binary(draw(OPERATOR), inner, draw(expressions(variables, dtype, depth - 1)), dtype)


def machine_value(expr: PrimExpr, values: Mapping[PrimVar, int]) -> int:
    """Compute as a processor does: every result wraps around to its dtype.

    Raises:
        ZeroDivisionError: a divisor is zero.
    """
    match expr:
        case IntImm(value=value):
            return value
        case PrimVar():
            return values[expr]
        case Cast(value=value, dtype=dtype):
            return wrap(machine_value(value, values), dtype)
        case Select(condition=condition, true_value=yes, false_value=no):
            return machine_value(yes if machine_value(condition, values) else no, values)
        case Binary(op=op, a=a, b=b):
            return wrap(_combined(op, machine_value(a, values), machine_value(b, values)), dtype_of(expr))
        case _:
            raise AssertionError(f"no arithmetic of integers: {type(expr).__name__}")


def _combined(op: BinaryKind, a: int, b: int) -> int:
    quotient = 0 if op not in ("truncdiv", "truncmod") else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case "truncdiv":
            return quotient
        case "truncmod":
            return a - b * quotient
        case _:
            raise AssertionError(op)


@cache
def ranges(dtype: str) -> st.SearchStrategy[Interval]:
    """Draw an interval of numbers of a dtype, often at its limits."""
    return st.tuples(border(dtype), border(dtype)).map(lambda ends: Interval(min(ends), max(ends)))


def within(interval: Interval) -> st.SearchStrategy[int]:
    """Draw a number of an interval, often one of its ends."""
    return st.one_of(st.sampled_from([*interval]), st.integers(*interval))
