"""Short words for scalar expressions in prim funcs: arithmetic, comparison, choice, conversion."""

from functools import reduce
from typing import TypeAlias

from relax_core.ir.integer.prove import simplify
from relax_core.ir.prim import Cast, Intrinsic, PrimExpr, Select, Unary, binary, const, dtype_of, is_number

Operand: TypeAlias = "PrimExpr | bool | int | float"

TRUE = const(True)


def lift(value: Operand) -> PrimExpr:
    """Return a number as a literal; it takes the dtype of what it is combined with."""
    return value if isinstance(value, PrimExpr) else const(value)


def add(a: Operand, *more: Operand) -> PrimExpr:
    """Return the sum; an integer 0 in it is left out."""
    return reduce(_sum, map(lift, more), lift(a))


def sub(a: Operand, b: Operand) -> PrimExpr:
    """Return `a - b`; an integer 0 that is taken away is left out."""
    left, right = lift(a), lift(b)
    return left if _leaves(right, 0, left) else binary("-", left, right)


def mul(a: Operand, *more: Operand) -> PrimExpr:
    """Return the product; an integer 1 in it is left out."""
    return reduce(_product, map(lift, more), lift(a))


def div(a: Operand, b: Operand) -> PrimExpr:
    """Return the quotient of floats, and of integers rounded towards zero."""
    left, right = lift(a), lift(b)
    is_float = "float" in dtype_of(left) or "float" in dtype_of(right)
    return binary("/" if is_float else "truncdiv", left, right)


def floordiv(a: Operand, b: Operand) -> PrimExpr:
    """Return the quotient of integers rounded down."""
    return binary("//", lift(a), lift(b))


def floormod(a: Operand, b: Operand) -> PrimExpr:
    """Return the remainder of `floordiv`."""
    return binary("%", lift(a), lift(b))


def greatest(a: Operand, b: Operand) -> PrimExpr:
    """Return the greater of two."""
    return binary("max", lift(a), lift(b))


def least(a: Operand, b: Operand) -> PrimExpr:
    """Return the lesser of two."""
    return binary("min", lift(a), lift(b))


def eq(a: Operand, b: Operand) -> PrimExpr:
    """Return whether two are equal."""
    return binary("==", lift(a), lift(b))


def lt(a: Operand, b: Operand) -> PrimExpr:
    """Return `a < b`."""
    return binary("<", lift(a), lift(b))


def le(a: Operand, b: Operand) -> PrimExpr:
    """Return `a <= b`."""
    return binary("<=", lift(a), lift(b))


def both(*conditions: PrimExpr) -> PrimExpr:
    """Return whether all hold; of none, true."""
    return reduce(lambda left, right: binary("and", left, right), conditions) if conditions else TRUE


def either(*conditions: PrimExpr) -> PrimExpr:
    """Return whether one holds."""
    return reduce(lambda left, right: binary("or", left, right), conditions)


def negated(condition: PrimExpr) -> PrimExpr:
    """Return whether the condition does not hold."""
    return Unary("not", condition, "bool")


def inside(index: PrimExpr, extent: Operand) -> PrimExpr:
    """Return whether `0 <= index < extent`."""
    return both(le(0, index), lt(index, extent))


def choose(condition: PrimExpr, yes: PrimExpr, no: Operand) -> PrimExpr:
    """Return `yes` if the condition holds, else `no`; only the chosen one is evaluated."""
    other = no if isinstance(no, PrimExpr) else lit(no, dtype_of(yes))
    return Select(condition, yes, other, dtype_of(yes))


def lit(value: float, dtype: str) -> PrimExpr:
    """Return a literal of `dtype`."""
    return const(float(value) if "float" in dtype else int(value), dtype)


def cast(value: PrimExpr, dtype: str) -> PrimExpr:
    """Convert; a value that has the dtype already stays."""
    return value if dtype_of(value) == dtype else Cast(value, dtype)


def call(name: str, *args: PrimExpr) -> PrimExpr:
    """Apply a scalar intrinsic, whose result has the dtype of its first argument."""
    return Intrinsic(name, args, dtype_of(args[0]))


def as_index(value: PrimExpr) -> PrimExpr:
    """Return an element of an index tensor as an index."""
    return cast(value, "int64")


def size(value: PrimExpr) -> PrimExpr:
    """Return a dimension in its simplest form."""
    return simplify(value)


def _sum(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if _leaves(b, 0, a):
        return a
    return b if _leaves(a, 0, b) else binary("+", a, b)


def _product(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if _leaves(b, 1, a):
        return a
    return b if _leaves(a, 1, b) else binary("*", a, b)


def _leaves(expr: PrimExpr, neutral: int, other: PrimExpr) -> bool:
    """Tell whether `expr` is a literal that leaves the integer `other` as it is: it would take its dtype."""
    return is_number(expr, neutral) and expr.dtype != "bool" and dtype_of(other).startswith(("int", "uint"))
