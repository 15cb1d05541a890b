"""Integer expressions that are sums of variables times constants: what strides are read off."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self

from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.jit.lowering.bounds import dtype_interval
from relax_core.jit.lowering.polynomial import Interval


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant` and the sum of each variable times its coefficient, none of which is zero."""

    constant: int = 0
    coefficients: Mapping[PrimVar, int] = field(default_factory=dict[PrimVar, int])

    def of(self, var: PrimVar) -> int:
        """Return the coefficient of `var`."""
        return self.coefficients.get(var, 0)

    def plus(self, other: "Affine", factor: int = 1) -> Self:
        """Return this and `factor` times `other`."""
        total = dict(self.coefficients)
        for var, coefficient in other.coefficients.items():
            value = total.pop(var, 0) + factor * coefficient
            if value:
                total[var] = value
        return type(self)(self.constant + factor * other.constant, total)

    def times(self, factor: int) -> Self:
        """Return `factor` times this."""
        if factor == 0:
            return type(self)()
        return type(self)(self.constant * factor, {var: value * factor for var, value in self.coefficients.items()})

    def divided(self, op: Literal["//", "%"], divisor: int, intervals: Mapping[PrimVar, Interval]) -> Self | None:
        """Return the quotient or the remainder, rounded down, if the terms tell them apart."""
        whole = {var: value for var, value in self.coefficients.items() if value % divisor == 0}
        rest = type(self)(
            self.constant % divisor, {var: value for var, value in self.coefficients.items() if var not in whole}
        )
        found = rest.interval(intervals)
        if found is None or found.low < 0 or found.high >= divisor:
            return None
        if op == "%":
            return rest
        return type(self)(self.constant // divisor, {var: value // divisor for var, value in whole.items()})

    def interval(self, intervals: Mapping[PrimVar, Interval]) -> Interval | None:
        """Return the values that this takes while each variable stays in its interval; `None` if one has none."""
        low = high = self.constant
        for var, coefficient in self.coefficients.items():
            found = intervals.get(var)
            if found is None:
                return None
            ends = (coefficient * found.low, coefficient * found.high)
            low, high = low + min(ends), high + max(ends)
        return Interval(low, high)

    def fits(self, dtype: str, intervals: Mapping[PrimVar, Interval]) -> bool:
        """Tell whether this is a number of `dtype` for all values of the variables, so that none wraps around."""
        around = {var: dtype_interval(dtype_of(var)) for var in self.coefficients if var not in intervals}
        found = self.interval({**intervals, **around} if around else intervals)
        return found is not None and found.is_within(dtype_interval(dtype))


NO_INTERVALS: Mapping[PrimVar, Interval] = MappingProxyType({})


def affine_of(
    expr: PrimExpr, known: Mapping[PrimVar, Affine], intervals: Mapping[PrimVar, Interval] = NO_INTERVALS
) -> Affine | None:
    """Read an integer expression; `known` gives variables a value, all others stand for themselves.

    `None` if it is no such sum: a load, a product of variables, a float, a division which is not exact for the
    `intervals` of the variables. Machine integers may wrap around: sums and products do so alike, and the caller
    compares the interval of the result with a buffer's extent; what is divided or converted to a wider dtype must not
    have wrapped around before.
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
