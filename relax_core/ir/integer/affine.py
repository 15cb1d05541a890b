"""Affine forms: sums of variables times constants, which strides are read off."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self, TypeAlias, TypeVar

from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.integer.polynomial import add, split_by_divisor
from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import IterVar

T = TypeVar("T")
Intervals: TypeAlias = Mapping[PrimVar, Interval]
NO_INTERVALS: Intervals = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Affine:
    """A polynomial of degree one: `constant` and the sum of each variable times its coefficient, none of them zero."""

    constant: int = 0
    coefficients: Mapping[PrimVar, int] = field(default_factory=dict[PrimVar, int])

    def of(self, var: PrimVar) -> int:
        """Return the coefficient of `var`."""
        return self.coefficients.get(var, 0)

    def plus(self, other: "Affine", factor: int = 1) -> Self:
        """Return this and `factor` times `other`."""
        return type(self)(self.constant + factor * other.constant, add(self.coefficients, other.coefficients, factor))

    def times(self, factor: int) -> Self:
        """Return `factor` times this."""
        return type(self)().plus(self, factor)

    def divided(self, op: Literal["//", "%"], divisor: int, intervals: Intervals) -> Self | None:
        """Return the quotient or the remainder, rounded down, if the terms tell them apart.

        What `divisor` does not divide must lie in `[0, divisor)` for all values of the variables: then it is the
        remainder, and the other terms are `divisor` times the quotient.
        """
        whole, left = split_by_divisor(self.coefficients, divisor)
        rest = type(self)(self.constant % divisor, left)
        found = rest.interval(intervals)
        if found is None or found.low < 0 or found.high >= divisor:
            return None
        return rest if op == "%" else type(self)(self.constant // divisor, whole)

    def interval(self, intervals: Intervals) -> Interval | None:
        """Return the values that this takes while each variable stays in its interval; `None` if one has none."""
        total = Interval(self.constant, self.constant)
        for var, coefficient in self.coefficients.items():
            found = intervals.get(var)
            if found is None:
                return None
            total = total.plus(found, coefficient)
        return total

    def fits(self, dtype: str, intervals: Intervals) -> bool:
        """Tell whether this is a number of `dtype` for all values of the variables, so that none wraps around."""
        around = {var: dtype_interval(dtype_of(var)) for var in self.coefficients if var not in intervals}
        found = self.interval({**intervals, **around} if around else intervals)
        return found is not None and found.is_within(dtype_interval(dtype))


def affine_of(expr: PrimExpr, known: Mapping[PrimVar, Affine], intervals: Intervals = NO_INTERVALS) -> Affine | None:
    """Read an integer expression; `known` gives variables a value, all others stand for themselves.

    `None` if it has no affine form: a load, a product of variables, a float, a division which is not exact for the
    `intervals` of the variables. Sums and products may wrap around, so that the form equals the expression modulo the
    size of its dtype: whoever uses it as an index compares its interval with that dtype, or with the buffer's extent.
    What is divided or converted to another dtype is proven not to have wrapped around before.
    """
    match expr:
        case IntImm(value=value):
            return Affine(int(value))
        case PrimVar():
            return known.get(expr, Affine(0, {expr: 1})) if dtype_of(expr).startswith(("int", "uint")) else None
        case Cast(value=value) if dtype_of(expr).startswith("int"):
            inner = affine_of(value, known, intervals)
            return inner if inner is None or inner.fits(dtype_of(value), intervals) else None
        case Binary(op="//" | "%" as op, a=a, b=IntImm(value=divisor)) if divisor > 0:
            whole = affine_of(a, known, intervals)
            if whole is None or not whole.fits(dtype_of(a), intervals):
                return None
            return whole.divided(op, divisor, intervals)
        case Binary(op="+" | "-" | "*" as op, a=a, b=b):
            left, right = affine_of(a, known, intervals), affine_of(b, known, intervals)
            if left is None or right is None:
                return None
            for side, value in ((a, left), (b, right)):
                if dtype_of(side) != dtype_of(expr) and not value.fits(dtype_of(side), intervals):
                    return None
            if op != "*":
                return left.plus(right, 1 if op == "+" else -1)
            if not left.coefficients:
                return right.times(left.constant)
            return left.times(right.constant) if not right.coefficients else None
        case _:
            return None


def affine_of_binding(item: IterVar, known: Mapping[PrimVar, Affine], intervals: Intervals) -> Affine | None:
    """Read what the variable of a block is bound to, as a number of the variable's dtype."""
    is_alike = dtype_of(item.binding) == item.var.dtype
    return affine_of(item.binding if is_alike else Cast(item.binding, item.var.dtype), known, intervals)


def overlapping(terms: Iterable[tuple[T, int, int]]) -> T | None:
    """Return a counter for whose values a sum of counters times strides may be the same; `None` if there is none.

    `terms` are the counters with their strides and extents. Sorted by strides, each must be greater than all that the
    counters before add up to. Then the sum is injective: of the counters in which two points differ, the one with the
    greatest stride moves it farther than all others together can take it back.
    """
    reach = 0
    for counter, stride, extent in sorted(terms, key=lambda term: abs(term[1])):
        if extent > 1:
            if abs(stride) <= reach:
                return counter
            reach += abs(stride) * (extent - 1)
    return None


def is_onto(terms: Iterable[tuple[int, int]], count: int) -> bool:
    """Tell whether a sum of counters times strides is every number from 0 to `count`, exclusive, and each once.

    It is if the strides are the place values of a mixed-radix number whose digits the counters are.
    """
    place_value = 1
    for stride, extent in sorted(term for term in terms if term[1] > 1):
        if stride != place_value:
            return False
        place_value *= extent
    return place_value == count
