"""Intervals of integers, and the integers that a dtype holds."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

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

    def plus(self, other: "Interval", factor: int = 1) -> "Interval":
        """Return the values of `a + factor * b`."""
        ends = (factor * other.low, factor * other.high)
        return Interval(self.low + min(ends), self.high + max(ends))

    def times(self, other: "Interval") -> "Interval":
        """Return the interval of products."""
        corners = (self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high)
        return Interval(min(corners), max(corners))

    def floordiv(self, other: "Interval") -> "Interval":
        """Return the interval of `a // b`, rounded towards minus infinity, for values of `b` that are not zero."""
        divisors = [value for value in (other.low, -1, 1, other.high) if value and value in other]
        corners = [a // b for a in self for b in divisors] or [0]
        return Interval(min(corners), max(corners))

    def floormod(self, other: "Interval") -> "Interval":
        """Return the interval of `a % b` with the sign of `b`, for values of `b` that are not zero."""
        if other.low > 0:
            if self.low >= 0 and self.high < other.low:
                return self
            return Interval(0, min(other.high - 1, self.high) if self.low >= 0 else other.high - 1)
        return Interval(min(other.low + 1, 0), max(other.high - 1, 0))


EVERYTHING = Interval(-INFINITY, INFINITY)
NATURAL = Interval(0, INFINITY)


def count_interval(extent: int) -> Interval:
    """Return the values of a variable that counts from 0 to `extent`, exclusive; of one that never counts only 0."""
    return Interval(0, max(extent - 1, 0))


def dtype_interval(dtype: str) -> Interval:
    """Return the integers of a scalar dtype; everything for a dtype that is none of integers."""
    return _DTYPES.get(dtype, EVERYTHING)


def is_integral(dtype: str) -> bool:
    """Tell whether the values of a scalar dtype are integers; a bool is 0 or 1."""
    return dtype in _DTYPES


def wrap(value: int, dtype: str) -> int:
    """Return the integer of `dtype` that equals `value` modulo the number of integers of that dtype."""
    low, high = _DTYPES[dtype]
    return (value - low) % (high - low + 1) + low


_BITS = (1, 2, 4, 8, 16, 32, 64)
_DTYPES: Mapping[str, Interval] = MappingProxyType(
    {
        **{f"int{bits}": Interval(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in _BITS},
        **{f"uint{bits}": Interval(0, (1 << bits) - 1) for bits in _BITS},
        "bool": Interval(0, 1),
    }
)
