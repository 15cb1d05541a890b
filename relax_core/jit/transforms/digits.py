"""Indices that are quotients and remainders of sums, as those of a reshape: digits that may make a sum again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.jit.lowering.bounds import dtype_interval
from relax_core.jit.lowering.polynomial import Interval
from relax_core.jit.transforms.affine import Affine, affine_of

Intervals = Mapping[PrimVar, Interval]
_DIVISIONS = ("//", "%", "truncdiv", "truncmod")


@dataclass(frozen=True, slots=True)
class Digit:
    """`whole // divisor % modulus`, times `factor`; without a modulus only the quotient."""

    whole: Affine
    divisor: int = 1
    modulus: int | None = None
    factor: int = 1

    def interval(self, intervals: Intervals) -> Interval | None:
        """Return the values that this takes, without its factor."""
        found = self.whole.interval(intervals)
        if found is None:
            return None
        quotient = Interval(found.low // self.divisor, found.high // self.divisor)
        if self.modulus is None:
            return quotient
        turns = self._turns(quotient)
        if turns is None:
            return Interval(0, self.modulus - 1)
        return Interval(quotient.low - turns * self.modulus, quotient.high - turns * self.modulus)

    def joined(self, above: "Digit") -> Self | None:
        """Return the sum with the digit of the same number that stands next above, if it is one digit."""
        if self.modulus is None or above.whole != self.whole or above.divisor != self.divisor * self.modulus:
            return None
        if above.factor != self.factor * self.modulus:
            return None
        return replace(self, modulus=None if above.modulus is None else self.modulus * above.modulus)

    def plain(self, intervals: Intervals) -> Affine | None:
        """Return the value as a sum, if it is one."""
        found = self.whole.divided("//", self.divisor, intervals)
        if found is None or self.modulus is None:
            return None if found is None else found.times(self.factor)
        quotient = replace(self, modulus=None).interval(intervals)
        turns = None if quotient is None else self._turns(quotient)
        return None if turns is None else found.plus(Affine(-turns * self.modulus)).times(self.factor)

    def _turns(self, quotient: Interval) -> int | None:
        """Return how often the modulus is taken away, if it is for all quotients as often."""
        assert self.modulus is not None, "only a remainder turns over"
        low, high = quotient.low // self.modulus, quotient.high // self.modulus
        return low if low == high else None


def digits_of(expr: PrimExpr, known: Mapping[PrimVar, Affine], intervals: Intervals) -> tuple[Digit, ...] | None:
    """Read an integer expression as a sum of digits; `None` if it is none."""
    # A quotient that is exact alone would not join the remainders of the same place to that place again.
    whole = None if _divides(expr) else affine_of(expr, known, intervals)
    if whole is not None:
        return (Digit(whole),)
    match expr:
        case Cast(value=value) if dtype_of(expr).startswith("int"):
            inner = digits_of(value, known, intervals)
            values = None if inner is None else interval_of(inner, intervals)
            return inner if values is not None and values.is_within(dtype_interval(dtype_of(value))) else None
        case Binary(op="+" | "-" as op, a=a, b=b):
            left, right = digits_of(a, known, intervals), digits_of(b, known, intervals)
            if left is None or right is None:
                return None
            return (*left, *(replace(item, factor=item.factor if op == "+" else -item.factor) for item in right))
        case Binary(op="*", a=a, b=IntImm(value=factor)) | Binary(op="*", a=IntImm(value=factor), b=a):
            inner = digits_of(a, known, intervals)
            return None if inner is None else tuple(replace(item, factor=item.factor * factor) for item in inner)
        case Binary(op="//" | "%" | "truncdiv" | "truncmod" as op, a=a, b=IntImm(value=by)) if by > 0:
            inner = digits_of(a, known, intervals)
            if inner is None or len(inner) != 1 or inner[0].factor != 1:
                return None
            values = inner[0].interval(intervals)
            if values is None or not values.is_within(dtype_interval(dtype_of(a))):
                return None
            if values.low < 0 and op.startswith("trunc"):
                return None
            made = _quotient(inner[0], by) if op in ("//", "truncdiv") else _remainder(inner[0], by)
            return None if made is None else (made,)
        case _:
            return None


def _divides(expr: PrimExpr) -> bool:
    return any(isinstance(item, Binary) and item.op in _DIVISIONS for item in postorder(expr))


def interval_of(digits: Iterable[Digit], intervals: Intervals) -> Interval | None:
    """Return the values that a sum of digits takes."""
    low = high = 0
    for digit in digits:
        found = digit.interval(intervals)
        if found is None:
            return None
        ends = (digit.factor * found.low, digit.factor * found.high)
        low, high = low + min(ends), high + max(ends)
    return Interval(low, high)


def sum_of(digits: Iterable[Digit], intervals: Intervals) -> Affine | None:
    """Return a sum of digits as a sum of variables, if it is one: the digits of one number make that number again."""
    left = sorted(digits, key=lambda digit: digit.divisor)
    total = Affine()
    while left:
        digit = left.pop(0)
        above = next((item for item in left if digit.joined(item) is not None), None)
        joined = None if above is None else digit.joined(above)
        if above is not None and joined is not None:
            left.remove(above)
            left.insert(0, joined)
            continue
        plain = digit.plain(intervals)
        if plain is None:
            return None
        total = total.plus(plain)
    return total


def _quotient(digit: Digit, by: int) -> Digit | None:
    if digit.modulus is None:
        return replace(digit, divisor=digit.divisor * by)
    is_whole = digit.modulus % by == 0
    return replace(digit, divisor=digit.divisor * by, modulus=digit.modulus // by) if is_whole else None


def _remainder(digit: Digit, by: int) -> Digit | None:
    return replace(digit, modulus=by) if digit.modulus is None or digit.modulus % by == 0 else None
