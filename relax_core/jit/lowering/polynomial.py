"""Integer polynomials over numbered atoms, and intervals: the arithmetic of the range analysis.

A polynomial maps a monomial, the sorted tuple of its atoms' numbers, to a coefficient that is not zero; the
empty monomial is the constant. An atom is a variable or an expression that the analysis does not look into.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

Monomial: TypeAlias = tuple[int, ...]
Polynomial: TypeAlias = Mapping[Monomial, int]

# Stands for "no limit". It outweighs every sum of 64-bit products, so sums of limits keep their sign.
INFINITY = 1 << 400


class Interval(NamedTuple):
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def is_within(self, other: "Interval") -> bool:
        """Tell whether every value is one of `other`, which may have no limit on either side."""
        is_above = other.low <= max(self.low, -INFINITY)
        return is_above and min(self.high, INFINITY) <= other.high

    def union(self, other: "Interval") -> "Interval":
        """Return the least interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))


EVERYTHING = Interval(-INFINITY, INFINITY)
NATURAL = Interval(0, INFINITY)


def constant(value: int) -> Polynomial:
    """Make the polynomial of a number."""
    return {(): value} if value else {}


def constant_value(p: Polynomial) -> int | None:
    """Return the number that `p` is, or `None` if it has atoms."""
    return None if any(p_key for p_key in p) else p.get((), 0)


def add(a: Polynomial, b: Polynomial, factor: int = 1) -> Polynomial:
    """Return `a + factor * b`."""
    total = dict(a)
    for monomial, coefficient in b.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return `a * b`."""
    total: Polynomial = {}
    for left, x in a.items():
        total = add(total, {tuple(sorted(left + right)): y for right, y in b.items()}, x)
    return total


def degree(p: Polynomial) -> int:
    """Return how many atoms the longest product in `p` has."""
    return max(map(len, p), default=0)


def split(p: Polynomial, atom: int) -> tuple[Polynomial, Polynomial] | None:
    """Return `(q, r)` with `p = q * atom + r`, or `None` if `atom` occurs with a higher power."""
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in p.items():
        match monomial.count(atom):
            case 0:
                rest[monomial] = coefficient
            case 1:
                position = monomial.index(atom)
                quotient[monomial[:position] + monomial[position + 1 :]] = coefficient
            case _:
                return None
    return quotient, rest


def split_by_divisor(p: Polynomial, divisor: int) -> tuple[Polynomial, Polynomial]:
    """Return `(q, r)` with `p = divisor * q + r`, where `r` holds the terms that `divisor` does not divide.

    The constant is divided with rest, so `r`'s constant is in `[0, divisor)`.
    """
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in p.items():
        if coefficient % divisor == 0:
            quotient[monomial] = coefficient // divisor
        elif monomial:
            rest[monomial] = coefficient
        else:
            rest[()] = coefficient % divisor
            if coefficient // divisor:
                quotient[()] = coefficient // divisor
    return quotient, rest


def multiply_intervals(a: Interval, b: Interval) -> Interval:
    """Return the interval of products."""
    corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    return Interval(min(corners), max(corners))


def divide_intervals(a: Interval, b: Interval) -> Interval:
    """Return the interval of `a // b`, rounded towards minus infinity, for values of `b` that are not zero."""
    divisors = [value for value in (b.low, -1, 1, b.high) if value and value in b]
    corners = [x // y for x in a for y in divisors] or [0]
    return Interval(min(corners), max(corners))


def modulo_interval(a: Interval, b: Interval) -> Interval:
    """Return the interval of `a % b` with the sign of `b`, for values of `b` that are not zero."""
    if b.low > 0:
        if a.low >= 0 and a.high < b.low:
            return a
        return Interval(0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1)
    return Interval(min(b.low + 1, 0), max(b.high - 1, 0))
