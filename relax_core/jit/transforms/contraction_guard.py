"""The indices of loads, and the conditions under which a guarded load, as of a padded convolution, is done."""

from collections.abc import Sequence
from dataclasses import dataclass

from relax_core.ir.integer.affine import Affine, affine_of
from relax_core.ir.integer.interval import EVERYTHING, Interval, dtype_interval
from relax_core.ir.prim import Binary, IntImm, Intrinsic, PrimExpr, PrimVar, dtype_of
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.contraction import Dim, Quotient

# What the copies of guarded loads compute from dividends of 32 bits stays far below 64.
SMALL = dtype_interval("int32")


@dataclass(slots=True)
class Reading:
    """What is known while a nest is read: variables as sums over the axes, and the values that the axes take."""

    state: State
    dims: list[Dim]
    known: dict[PrimVar, Affine]
    intervals: dict[PrimVar, Interval]

    def affine(self, expr: PrimExpr) -> Affine | None:
        """Read an index."""
        return affine_of(expr, self.known, self.intervals)

    def quotient(self, expr: PrimExpr) -> Quotient | None:
        """Read an index that may be a quotient."""
        whole = self.affine(expr)
        if whole is not None:
            return Quotient(whole)
        match expr:
            case Binary(op="//", a=a, b=IntImm(value=divisor)) if divisor > 0:
                inner = self.affine(a)
                return None if inner is None else Quotient(inner, divisor)
            case _:
                return None

    def interval(self, value: Affine) -> Interval | None:
        """Return the values of a sum over the axes and over variables around the nest."""
        around = {var: self.state.bounds.interval(var) for var in value.coefficients if var not in self.intervals}
        return value.interval({**around, **self.intervals})

    def is_exact(self, value: Affine, expr: PrimExpr) -> bool:
        """Tell whether `value`, read from `expr`, has not wrapped around: it fits that dtype, and 32 bits."""
        found = self.interval(value)
        limits = (dtype_interval(dtype_of(expr)), SMALL)
        return found is not None and all(found.is_within(item) for item in limits)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Sums that are not negative, and sums that are multiples of a number."""

    naturals: tuple[Affine, ...] = ()
    multiples: tuple[Quotient, ...] = ()

    @property
    def are_trivial(self) -> bool:
        """Tell whether they always hold."""
        return not self.naturals and not self.multiples


def read_conditions(reading: Reading, condition: PrimExpr) -> Conditions | str:
    """Read a conjunction of comparisons, or say what it is instead."""
    naturals: list[Affine] = []
    multiples: list[Quotient] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Binary(op="and", a=a, b=b):
                stack += (a, b)
            case Intrinsic(name="likely", args=(inner,)):
                stack.append(inner)
            case Binary(op="==", a=Binary(op="%", a=a, b=IntImm(value=divisor)), b=IntImm(value=0)) if divisor > 0:
                whole = reading.affine(a)
                if whole is None or not reading.is_exact(whole, a):
                    return "a remainder in a condition is of no sum of loop variables"
                multiples.append(Quotient(whole, divisor))
            case Binary(op="<" | "<=" | ">" | ">=" as op, a=a, b=b):
                sides = (a, b) if op in ("<", "<=") else (b, a)
                difference = _difference(reading, sides, is_strict=op in ("<", ">"))
                if difference is None:
                    return "a condition compares no sums of loop variables"
                naturals.append(difference)
            case _:
                return "a condition is no comparison of indices"
    return Conditions(tuple(item for item in naturals if not _always(reading, item)), tuple(multiples))


def valid_dividends(quotients: Sequence[Quotient], conditions: Conditions) -> tuple[Interval, ...] | None:
    """Return the values that the conditions allow for each quotient; `None` if one of them is about anything else."""
    valid = [EVERYTHING for _ in quotients]
    for condition in conditions.naturals:
        for at, quotient in enumerate(quotients):
            below, above = quotient.dividend.plus(condition), condition.plus(quotient.dividend, -1)
            if quotient.dividend.coefficients and not below.coefficients:
                valid[at] = Interval(valid[at].low, min(valid[at].high, below.constant))
                break
            if quotient.dividend.coefficients and not above.coefficients:
                valid[at] = Interval(max(valid[at].low, -above.constant), valid[at].high)
                break
        else:
            return None
    divided = [quotient for quotient in quotients if quotient.divisor > 1]
    are_matched = all(quotient in conditions.multiples for quotient in divided) and all(
        quotient in divided for quotient in conditions.multiples
    )
    return tuple(valid) if are_matched else None


def _difference(reading: Reading, sides: tuple[PrimExpr, PrimExpr], *, is_strict: bool) -> Affine | None:
    """Return a sum that is not negative where the first side is less than the second, or equal unless `is_strict`."""
    left, right = (reading.quotient(side) for side in sides)
    if left is None or right is None:
        return None
    if not (reading.is_exact(left.dividend, sides[0]) and reading.is_exact(right.dividend, sides[1])):
        return None
    strict = Affine(-1 if is_strict else 0)
    if left.divisor == right.divisor == 1:
        return right.dividend.plus(left.dividend, -1).plus(strict)
    # A quotient is at least a constant where the dividend is at least so many times the divisor.
    if right.divisor > 1 and not left.dividend.coefficients and left.divisor == 1:
        return right.dividend.plus(left.dividend.plus(strict, -1), -right.divisor)
    if left.divisor > 1 and not right.dividend.coefficients and right.divisor == 1:
        highest = right.dividend.plus(strict).times(left.divisor).plus(Affine(left.divisor - 1))
        return highest.plus(left.dividend, -1)
    return None


def _always(reading: Reading, value: Affine) -> bool:
    found = reading.interval(value)
    return found is not None and found.low >= 0
