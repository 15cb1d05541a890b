"""Which lines of two texts stand beside each other: equal ones, then related ones, then those that are alike.

Only lines that nothing relates are compared by likeness, since that is quadratic in the length of a changed block.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from typing import TypeAlias

from relax_core.present.diffs.likeness import ALIKE, Likeness

_PAIRED_LIMIT = 4_000
"""Above this product of line counts, the lines of a block are paired in order and not by similarity."""
_MATCHED_LIMIT = 250_000
"""Up to this product of line counts lines are matched by `SequenceMatcher`, which finds more."""
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_DEFINITION = re.compile(r"\s*(?:def +)?\w+(?= ?[:=(])")
"""The name that a line binds or defines; a function is told from a variable by its keyword."""
LinePair: TypeAlias = tuple[int | None, int | None]
"""`None` stands for a line that the other side does not have."""
_Range: TypeAlias = tuple[int, int]
LineRanges: TypeAlias = tuple[int, int, int, int]
"""Half-open ranges: of the old lines, then of the new ones."""
_Relation: TypeAlias = Callable[[range, range], Iterable[tuple[int, int]]]
"""Gives the pairs of an old and a new line, of two ranges, that are one line."""
_Placed: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""Old and new lines of which it is known what became of them: they are no other line, however like it they are."""


@dataclass(frozen=True, slots=True)
class LineOrigins:
    """From which old lines each new line was made."""

    sure: Mapping[int, Sequence[int]]
    """Under the same name."""
    likely: Mapping[int, Sequence[int]]
    """Under another one; no line that has a sure origin, and no origin that is a sure one."""


def align_by_origin(old: Sequence[str], new: Sequence[str], origins: LineOrigins, likeness: Likeness) -> list[LinePair]:
    """Pair line numbers; in a changed block lines stand beside what they were made from, in order."""

    def related(left: range, right: range) -> Iterator[tuple[int, int]]:
        for b in right:
            yield from ((a, b) for a in origins.sure.get(b, origins.likely.get(b, ())) if a in left)

    placed = frozenset(a for lines in origins.sure.values() for a in lines), frozenset(origins.sure)
    return _align(old, new, related, placed, likeness)


def align_by_name(old: Sequence[str], new: Sequence[str], likeness: Likeness) -> list[LinePair]:
    """Pair line numbers; in a changed block lines that define one name are one line."""
    names = [[_defined(line) for line in lines] for lines in (old, new)]

    def related(left: range, right: range) -> Iterator[tuple[int, int]]:
        place = {name: a for name, a in _single(names[0], left) if name}
        yield from ((place[name], b) for name, b in _single(names[1], right) if name in place)

    return _align(old, new, related, (frozenset(), frozenset()), likeness)


def differing_ranges(old: Sequence[str], new: Sequence[str]) -> list[LineRanges]:
    """Return the ranges `(old from, old to, new from, new to)` that differ."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _merged(_differences(old, new, (start, len(old) - end), (start, len(new) - end)))


def are_alike(old: str, new: str, likeness: Likeness) -> bool:
    """Tell whether two lines in one place count as one changed line."""
    return _share(_WORD_OR_SIGN.findall(old), _WORD_OR_SIGN.findall(new), likeness) >= ALIKE


def _align(
    old: Sequence[str], new: Sequence[str], related: _Relation, placed: _Placed, likeness: Likeness
) -> list[LinePair]:
    words_of = cache(_WORD_OR_SIGN.findall)

    def share(a: int, b: int) -> float:
        is_elsewhere = a in placed[0] or b in placed[1]
        return 0.0 if is_elsewhere else _share(words_of(old[a]), words_of(new[b]), likeness)

    pairs: list[LinePair] = []
    i = j = 0
    for a, b, c, d in differing_ranges(old, new):
        pairs += zip(range(i, a), range(j, c), strict=True)
        x, y = a, c
        for left, right in _longest_chain(related(range(a, b), range(c, d))):
            pairs += _pair_alike(range(x, left), range(y, right), share)
            pairs.append((left, right))
            x, y = left + 1, right + 1
        pairs += _pair_alike(range(x, b), range(y, d), share)
        i, j = b, d
    pairs += zip(range(i, len(old)), range(j, len(new)), strict=True)
    return pairs


def _differences(old: Sequence[str], new: Sequence[str], left: _Range, right: _Range) -> Iterator[LineRanges]:
    """Yield the differences of two ranges; long ones are anchored at lines that occur once.

    `SequenceMatcher` is quadratic where lines repeat, as the `alloc` and `call` lines of a lowered program do.
    """
    (a, b), (c, d) = left, right
    if (b - a) * (d - c) <= _MATCHED_LIMIT:
        matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
        yield from ((a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal")
        return
    place = dict(_single(new, range(c, d)))
    anchors = _longest_chain((line, place[text]) for text, line in _single(old, range(a, b)) if text in place)
    if not anchors:
        yield a, b, c, d
        return
    i, k = a, c
    for old_line, new_line in (*anchors, (b, d)):
        if (old_line, new_line) != (i, k):
            yield from _differences(old, new, (i, old_line), (k, new_line))
        i, k = old_line + 1, new_line + 1


def _single(texts: Sequence[str], lines: range) -> Iterator[tuple[str, int]]:
    """Yield the texts that occur on one of `lines` only, each with its line."""
    count = Counter(texts[line] for line in lines)
    return ((texts[line], line) for line in lines if count[texts[line]] == 1)


def _longest_chain(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest sequence of pairs in which both lines increase, as in Cohen's patience diff; O(n log n)."""
    piles: list[int] = []
    tops: list[tuple[int, int]] = []
    below: dict[tuple[int, int], tuple[int, int] | None] = {}
    # Old lines of one new line come in descending order, so that no two of them are in one sequence.
    for pair in sorted(pairs, key=lambda item: (item[1], -item[0])):
        pile = bisect_left(piles, pair[0])
        below[pair] = tops[pile - 1] if pile else None
        piles[pile : pile + 1] = [pair[0]]
        tops[pile : pile + 1] = [pair]
    chain: list[tuple[int, int]] = []
    last = tops[-1] if tops else None
    while last is not None:
        chain.append(last)
        last = below[last]
    return chain[::-1]


def _merged(differences: Iterator[LineRanges]) -> list[LineRanges]:
    """Join differences that touch."""
    merged: list[LineRanges] = []
    for a, b, c, d in differences:
        if merged and merged[-1][1] == a and merged[-1][3] == c:
            merged[-1] = (merged[-1][0], b, merged[-1][2], d)
        else:
            merged.append((a, b, c, d))
    return merged


def _defined(line: str) -> str:
    """Return what a line defines, "" for nothing."""
    found = _DEFINITION.match(line)
    return found[0].lstrip() if found is not None else ""


def _pair_alike(left: range, right: range, share: Callable[[int, int], float]) -> list[LinePair]:
    """Pair lines that nothing else relates by similarity, in order."""
    pairs: list[LinePair] = []
    if not left or not right or len(left) * len(right) > _PAIRED_LIMIT:
        return list(zip_longest(left, right))
    best = _best_pairs([[share(a, b) for b in right] for a in left])
    i = j = 0
    for a, b in [*best, (len(left), len(right))]:
        pairs += [(left[n], None) for n in range(i, a)]
        pairs += [(None, right[n]) for n in range(j, b)]
        if a < len(left):
            pairs.append((left[a], right[b]))
        i, j = a + 1, b + 1
    return pairs


def _best_pairs(likeness: list[list[float]]) -> list[tuple[int, int]]:
    """Choose an increasing sequence of pairs with the greatest total similarity, none below the limit."""
    rows, columns = len(likeness), len(likeness[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            value = likeness[i][j]
            taken = value + best[i + 1][j + 1] if value >= ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], taken)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


def _share(a: list[str], b: list[str], likeness: Likeness) -> float:
    """Compare lines by words and signs, which takes a tenth of the time that characters take."""
    if not a or not b or (a[0] == "def") != (b[0] == "def"):
        return 1.0 if a == b else 0.0
    if a[0] == "def" and _name_of(a) == _name_of(b):
        return 1.0
    return likeness.share(a, b)


def _name_of(words: list[str]) -> str:
    """Return the name of a function from the words of its first line; Relay writes a sign before it."""
    return next((word for word in words[1:] if word not in "@%"), "")
