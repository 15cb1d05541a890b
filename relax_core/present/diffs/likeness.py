"""How alike two lines are and in what they differ, found once for all pairs of lines that differ in the same way."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

ALIKE = 0.5
"""Two lines in one place count as one changed line if this share of their characters agrees."""
_Pattern: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


class Likeness:
    """Compares lines of two texts, and no two pairs of lines that have one pattern.

    What `SequenceMatcher` finds depends on which elements are equal and on nothing else, and in a model of many layers
    most pairs of lines have the pattern of a pair in the layer before.
    """

    def __init__(self) -> None:
        self._shares: dict[tuple[_Pattern, int], float] = {}
        self._differences: dict[tuple[_Pattern, int], tuple[frozenset[int], frozenset[int]]] = {}

    def share(self, a: Sequence[str], b: Sequence[str]) -> float:
        """Return the share of the elements of two sequences that agree; one below `ALIKE` may count as 0."""
        start, end = common(a, b)
        left, right, same = a[start : len(a) - end], b[start : len(b) - end], 2 * (start + end)
        # As many agree at the most as occur in the other one at all: this rejects most pairs.
        bound = 2 * min(_known_in(left, right), _known_in(right, left))
        if same + bound < ALIKE * (len(a) + len(b)):
            return 0.0
        key = _pattern(left, right), same
        known = self._shares.get(key)
        if known is None:
            known = self._shares[key] = _share(*key)
        return known

    def differing(self, a: Sequence[str], b: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
        """Return the places of the elements of each sequence that the other one lacks, none in a common end."""
        start, end = common(a, b)
        key = _pattern(a[start : len(a) - end], b[start : len(b) - end]), start
        known = self._differences.get(key)
        if known is None:
            known = self._differences[key] = _differing(*key)
        return known


def common(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return the lengths of the common prefix and of the common suffix behind it."""
    limit = start = min(len(old), len(new))
    for number, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b:
            start = number
            break
    limit -= start
    for number, (a, b) in enumerate(zip(reversed(old), reversed(new), strict=False)):
        if number == limit or a != b:
            return start, number
    return start, limit


def _known_in(a: Sequence[str], b: Sequence[str]) -> int:
    """Count the elements of `a` that occur in `b`."""
    return sum(map(frozenset(b).__contains__, a))


def _pattern(a: Iterable[str], b: Iterable[str]) -> _Pattern:
    """Number the elements of two sequences in the order in which they first occur."""
    numbers: dict[str, int] = {}
    left, right = (tuple([numbers.setdefault(item, len(numbers)) for item in items]) for items in (a, b))
    return left, right


def _share(pattern: _Pattern, same: int) -> float:
    """Return the share that agrees where `same` further elements do; one below the limit may count as 0."""
    matcher = SequenceMatcher(None, *pattern, autojunk=False)
    rest = len(pattern[0]) + len(pattern[1])
    # The upper bounds are cheap and reject most pairs.
    for bound in (matcher.real_quick_ratio, matcher.quick_ratio):
        if same + bound() * rest < ALIKE * (same + rest):
            return 0.0
    return (same + matcher.ratio() * rest) / (same + rest)


def _differing(pattern: _Pattern, start: int) -> tuple[frozenset[int], frozenset[int]]:
    left: set[int] = set()
    right: set[int] = set()
    for tag, a, b, c, d in SequenceMatcher(None, *pattern, autojunk=False).get_opcodes():
        if tag != "equal":
            left.update(range(start + a, start + b))
            right.update(range(start + c, start + d))
    return frozenset(left), frozenset(right)
