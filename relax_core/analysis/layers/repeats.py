"""Find parts of a sequence that repeat one behind the other, such as the layers of a model.

An item has a label, which tells what it is, and uses earlier items. Copies of a part have equal labels, and each item
uses what the one in its place in the copy before uses: the same item of its own copy or of the copy before, or one and
the same item before all copies. The first copy has something else in place of a copy before it.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

_Run: TypeAlias = tuple[int, int, int]
"""Items from the first to before the second are equal to those that come `period` later, the third number."""
OUTSIDE: Final = -1
"""The place of what is no item: each copy may use another one of these."""
SHORTEST: Final = 4
"""A shorter part is no layer."""
_LONGEST: Final = 2000
"""Longer parts are not looked for, so that the time is linear in the length of the sequence."""
_FEWEST: Final = 3
_STARTS: Final = 8
"""At so many places within a run it is tried where a copy begins."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """`count` copies of `length` items each, from the item `start` on."""

    start: int
    length: int
    count: int

    @property
    def end(self) -> int:
        """The place behind the last copy."""
        return self.start + self.length * self.count


def find_repeats(
    labels: Sequence[Hashable], uses: Sequence[Sequence[int]], numbers: Sequence[str] = ()
) -> tuple[Repeat, ...]:
    """Return what repeats, in order and without overlap; the longest stretches are looked for first.

    Args:
        labels: what each item is. Items of which no other is equal have a label of their own.
        uses: for each item the earlier items that it uses, or `OUTSIDE`, in an order that goes with its label.
        numbers: what may count the copies, for each item. Of cuts that are as good, one is made where it changes.
    """
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(label, len(code_of)) for label in labels], np.int64)
    found: list[Repeat] = []
    ranges = [(0, len(codes))]
    while ranges:
        first, last = ranges.pop()
        run = _longest_run(codes[first:last])
        if run is None:
            continue
        start, end, period = run[0] + first, run[1] + first + run[2], run[2]
        repeat = _aligned((start, end, period), uses, numbers) if period >= SHORTEST else None
        if repeat is not None:
            found.append(repeat)
            start, end = repeat.start, repeat.end
        ranges += [(first, start), (end, last)]
    return tuple(sorted(found, key=lambda item: item.start))


def _longest_run(codes: "np.ndarray[Any, np.dtype[np.int64]]") -> _Run | None:
    """Return the run that covers the most items; of several, the one with the shortest period."""
    best: _Run | None = None
    covered = 0
    for period in range(1, min(len(codes) // _FEWEST, _LONGEST) + 1):
        if len(codes) <= covered:
            break
        is_equal = codes[:-period] == codes[period:]
        # Most periods are out by the number of equal items, however these lie.
        if np.count_nonzero(is_equal) < max((_FEWEST - 1) * period, covered - period + 1):
            continue
        for start, end in _runs(is_equal):
            if end - start >= (_FEWEST - 1) * period and end - start + period > covered:
                best, covered = (start, end, period), end - start + period
    return best


def _runs(is_equal: "np.ndarray[Any, np.dtype[np.bool_]]") -> Iterator[tuple[int, int]]:
    """Yield the ranges of true items."""
    steps = np.diff(np.concatenate(([0], is_equal.astype(np.int8), [0])))
    return zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True)


def _aligned(run: _Run, uses: Sequence[Sequence[int]], numbers: Sequence[str]) -> Repeat | None:
    """Cut a run into copies where few values go from one copy to the next, and drop the copies that differ."""
    first, end, period = run
    crossing = _crossing(run, uses)
    # The boundary behind the first copy counts: what the first one reads may come from elsewhere.
    inside = [0 < place < len(numbers) and numbers[place - 1] == numbers[place] for place in range(first, end)]
    order = [(crossing[place + period - first], inside[place - first], place) for place in range(first, first + period)]
    starts = [place for *_, place in sorted(order)]
    count, start = 0, first
    for tried in starts[:_STARTS]:
        equal = _equal_count(tried, (end - tried) // period, period, uses)
        if equal > count:
            count, start = equal, tried
        if count == (end - first) // period:
            # There is room for no further copy, wherever the first one begins.
            break
    return Repeat(start, period, count) if count >= _FEWEST else None


def _crossing(run: _Run, uses: Sequence[Sequence[int]]) -> list[int]:
    """Count for each place of a run the values made before it that are used behind it, at most a period away."""
    first, end, period = run
    last_use: dict[int, int] = {}
    for place in range(first, end):
        for used in uses[place]:
            if first <= used and place - used <= period:
                last_use[used] = place
    change = [0] * (end - first + 2)
    for made, used in last_use.items():
        change[made + 1 - first] += 1
        change[used + 1 - first] -= 1
    counts: list[int] = []
    total = 0
    for step in change:
        total += step
        counts.append(total)
    return counts


def _equal_count(start: int, count: int, period: int, uses: Sequence[Sequence[int]]) -> int:
    """Count the copies from `start` on of which each is equal to the one before."""
    for number in range(1, count):
        begin = start + number * period
        for place in range(begin, begin + period):
            before = uses[place - period]
            if len(before) != len(uses[place]):
                return number
            for now, then in zip(uses[place], before, strict=True):
                is_moved = then >= start and now - then == period
                if not is_moved and not _is_same_use(now, then, start, begin, period):
                    return number
    return count


def _is_same_use(now: int, then: int, start: int, begin: int, period: int) -> bool:
    """Tell whether an item of the copy from `begin` on uses what the item of the copy before does."""
    if now < start:
        return now == then
    if begin - period == start and now < begin:
        # What the second copy takes of the first one, the first one takes from before.
        return then < start
    return then >= 0 and now - then == period
