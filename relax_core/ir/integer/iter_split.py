"""Indices that are quotients and remainders of affine forms, as those of a reshape: an iterator split and fused again.

The words are those of TVM's iterator maps: an iterator is a sum of splits `source // lower_factor % extent * scale`.

See: tvm/include/tvm/arith/iter_affine_map.h
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from relax_core.ir.integer.affine import Affine, Intervals, affine_of
from relax_core.ir.integer.interval import Interval, dtype_interval
from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, Cast, IntImm, PrimExpr, PrimVar, dtype_of

_DIVISIONS = ("//", "%", "truncdiv", "truncmod")


@dataclass(frozen=True, slots=True)
class IterSplit:
    """`source // lower_factor % extent`, times `scale`; without an extent only the quotient."""

    source: Affine
    lower_factor: int = 1
    extent: int | None = None
    scale: int = 1

    def interval(self, intervals: Intervals) -> Interval | None:
        """Return the values that this takes, without its scale."""
        found = self.source.interval(intervals)
        if found is None:
            return None
        quotient = Interval(found.low // self.lower_factor, found.high // self.lower_factor)
        if self.extent is None:
            return quotient
        multiple = self._multiple(quotient)
        if multiple is None:
            return Interval(0, self.extent - 1)
        return Interval(quotient.low - multiple * self.extent, quotient.high - multiple * self.extent)

    def fused(self, outer: "IterSplit") -> Self | None:
        """Return the sum with the split of the same source that stands next above, if it is one split."""
        if self.extent is None or outer.source != self.source:
            return None
        if outer.lower_factor != self.lower_factor * self.extent or outer.scale != self.scale * self.extent:
            return None
        return replace(self, extent=None if outer.extent is None else self.extent * outer.extent)

    def affine(self, intervals: Intervals) -> Affine | None:
        """Return the value as an affine form, if it has one."""
        found = self.source.divided("//", self.lower_factor, intervals)
        if found is None or self.extent is None:
            return None if found is None else found.times(self.scale)
        quotient = replace(self, extent=None).interval(intervals)
        multiple = None if quotient is None else self._multiple(quotient)
        return None if multiple is None else found.plus(Affine(-multiple * self.extent)).times(self.scale)

    def _multiple(self, quotient: Interval) -> int | None:
        """Return how many times the extent is taken away, if it is for all quotients as often."""
        assert self.extent is not None, "only a remainder takes its modulus away"
        low, high = quotient.low // self.extent, quotient.high // self.extent
        return low if low == high else None


def splits_of(expr: PrimExpr, known: Mapping[PrimVar, Affine], intervals: Intervals) -> tuple[IterSplit, ...] | None:
    """Read an integer expression as a sum of splits; `None` if it is none. It may wrap around as in `affine_of`."""
    # A quotient that is exact alone would not fuse with the remainders of the same source.
    whole = None if _divides(expr) else affine_of(expr, known, intervals)
    if whole is not None:
        return (IterSplit(whole),)
    match expr:
        case Cast(value=value) if dtype_of(expr).startswith("int"):
            inner = splits_of(value, known, intervals)
            values = None if inner is None else interval_of(inner, intervals)
            return inner if values is not None and values.is_within(dtype_interval(dtype_of(value))) else None
        case Binary(op="+" | "-" as op, a=a, b=b) if dtype_of(a) == dtype_of(b):
            left, right = splits_of(a, known, intervals), splits_of(b, known, intervals)
            if left is None or right is None:
                return None
            return (*left, *(replace(item, scale=item.scale if op == "+" else -item.scale) for item in right))
        case Binary(op="*", a=a, b=IntImm(value=factor)) | Binary(op="*", a=IntImm(value=factor), b=a):
            inner = splits_of(a, known, intervals)
            return None if inner is None else tuple(replace(item, scale=item.scale * factor) for item in inner)
        case Binary(op="//" | "%" | "truncdiv" | "truncmod" as op, a=a, b=IntImm(value=by)) if by > 0:
            inner = splits_of(a, known, intervals)
            if inner is None or len(inner) != 1 or inner[0].scale != 1:
                return None
            values = inner[0].interval(intervals)
            if values is None or not values.is_within(dtype_interval(dtype_of(a))):
                return None
            if values.low < 0 and op.startswith("trunc"):
                return None
            return _quotient(inner[0], by) if op in ("//", "truncdiv") else _remainder(inner[0], by)
        case _:
            return None


def interval_of(splits: Iterable[IterSplit], intervals: Intervals) -> Interval | None:
    """Return the values that a sum of splits takes."""
    total = Interval(0, 0)
    for split in splits:
        found = split.interval(intervals)
        if found is None:
            return None
        total = total.plus(found, split.scale)
    return total


def affine_sum(splits: Iterable[IterSplit], intervals: Intervals) -> Affine | None:
    """Return a sum of splits as an affine form, if it has one: the splits of one source are fused to it again."""
    left = sorted(splits, key=lambda split: split.lower_factor)
    total = Affine()
    while left:
        split = left.pop(0)
        outer = next((item for item in left if split.fused(item) is not None), None)
        fused = None if outer is None else split.fused(outer)
        if outer is not None and fused is not None:
            left.remove(outer)
            left.insert(0, fused)
            continue
        plain = split.affine(intervals)
        if plain is None:
            return None
        total = total.plus(plain)
    return total


def _divides(expr: PrimExpr) -> bool:
    return any(isinstance(item, Binary) and item.op in _DIVISIONS for item in postorder(expr))


def _quotient(split: IterSplit, by: int) -> tuple[IterSplit] | None:
    if split.extent is None:
        return (replace(split, lower_factor=split.lower_factor * by),)
    if split.extent % by:
        return None
    return (replace(split, lower_factor=split.lower_factor * by, extent=split.extent // by),)


def _remainder(split: IterSplit, by: int) -> tuple[IterSplit] | None:
    return (replace(split, extent=by),) if split.extent is None or split.extent % by == 0 else None
