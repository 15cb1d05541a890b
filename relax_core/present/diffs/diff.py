"""Diff of two texts side by side: lines paired, changed tokens marked, moved lines found by origins."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from typing import Final, TypeAlias

from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.code import joined, tokenize
from relax_core.present.diffs.likeness import ALIKE, Likeness, common
from relax_core.present.models import Diff, DiffRow, DiffSide, Fold, Mark, Syntax, Token
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.printer.printed import Printed
from relax_core.source import Source

_PAIRED_LIMIT = 4_000
"""Above this product of line counts, the lines of a block are paired in order and not by similarity."""
_MATCHED_LIMIT = 250_000
"""Up to this product of line counts lines are matched by `SequenceMatcher`, which finds more."""
_FOLD_FROM, _CONTEXT = 12, 3
_WORD = re.compile(r"\w+|\W")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_DEFINITION = re.compile(r"\s*(?:def +)?\w+(?= ?[:=(])")
"""The name that a line binds or defines; a function is told from a variable by its keyword."""
_Relation: TypeAlias = Callable[[int, int], bool]
_Pair: TypeAlias = tuple[int | None, int | None]
_Range: TypeAlias = tuple[int, int]
_Difference: TypeAlias = tuple[int, int, int, int]
"""Half-open ranges: of the old lines, then of the new ones."""
_Moved: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""Old lines, and new ones."""
_NONE_MOVED: Final[_Moved] = (frozenset(), frozenset())


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A printed module with the numbers of its nodes."""

    title: str
    printed: Printed
    index: NodeIndex
    header: int = 0
    """How many characters at the top are not shown."""


@dataclass(slots=True)
class _Line:
    text: str
    tokens: tuple[Token, ...]
    nodes: tuple[Node, ...] = ()
    node: str = ""


def diff_pages(before: Page, after: Page, log: RewriteLog) -> Diff:
    """Compare two printed modules; a line that a pass carried elsewhere is `moved`."""
    old, new = _lines(before), _lines(after)
    likeness = Likeness()
    pairs = _align([line.text for line in old], [line.text for line in new], likeness, _successors(old, new, log))
    moved = _moved(old, new, pairs, log, likeness)
    rows = tuple(_row(pair, old, new, likeness, moved) for pair in pairs)
    marks = [(row.before.mark if row.before else None, row.after.mark if row.after else None) for row in rows]
    return Diff(
        before.title,
        after.title,
        rows,
        _folds(rows),
        added_count=sum(b == "added" for _, b in marks),
        removed_count=sum(a == "removed" for a, _ in marks),
        changed_count=sum(b == "changed" for _, b in marks),
        moved_count=sum(b == "moved" for _, b in marks),
        is_unchanged=before.printed.text[before.header :] == after.printed.text[after.header :],
    )


def diff_texts(before_title: str, before: str, after_title: str, after: str, *, is_placed: bool = False) -> Diff:
    """Compare two texts that have no nodes; lines that are placed go by side and number, `a/1`, to be selected by."""
    old, new = (
        [
            _Line(text, tokens, (), f"{side}/{number}" if is_placed else "")
            for number, (text, tokens) in enumerate(_cut(item), 1)
        ]
        for side, item in (("a", before), ("b", after))
    )
    likeness = Likeness()
    pairs = _align_named([line.text for line in old], [line.text for line in new], likeness)
    rows = tuple(_row(pair, old, new, likeness) for pair in pairs)
    return Diff(before_title, after_title, rows, _folds(rows), is_unchanged=before == after)


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Count the lines that only `after` has and those that only `before` has; a changed line counts in both."""
    pairs = _blocks(before.splitlines(), after.splitlines())
    return sum(d - c for _, _, c, d in pairs), sum(b - a for a, b, _, _ in pairs)


def _cut(text: str) -> list[tuple[str, tuple[Token, ...]]]:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return list(zip(lines, tokenize(text), strict=False))


def _lines(page: Page) -> list[_Line]:
    """Return the lines of a page, each with the nodes whose text begins on it, the largest first."""
    whole = page.printed.text[page.header :]
    begun = _begun(whole, page)
    lines: list[_Line] = []
    for number, (text, tokens) in enumerate(_cut(whole)):
        nodes = tuple(node for _, node in sorted(begun[number], key=lambda found: -found[0]))
        ids = (page.index.id_of(node) for node in nodes)
        lines.append(_Line(text, tokens, nodes, next(filter(None, ids), "")))
    return lines


def _begun(text: str, page: Page) -> list[list[tuple[int, Node]]]:
    """Return for every line the nodes that begin on it, with the lengths of their texts."""
    starts = Source("", text).line_starts
    begun: list[list[tuple[int, Node]]] = [[] for _ in starts]
    line = 0
    # Ranges are in the order of their starts.
    for start, end, node in page.printed.ranges:
        while line + 1 < len(starts) and start - page.header >= starts[line + 1]:
            line += 1
        begun[line].append((end - start, node))
    return begun


def _blocks(old: list[str], new: list[str]) -> list[_Difference]:
    """Return the ranges `(old from, old to, new from, new to)` that differ."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _merged(_differences(old, new, (start, len(old) - end), (start, len(new) - end)))


def _differences(old: list[str], new: list[str], left: _Range, right: _Range) -> Iterator[_Difference]:
    """Yield the differences of two ranges; long ones are anchored at lines that occur once.

    `SequenceMatcher` is quadratic where lines repeat, as the `alloc` and `call` lines of a lowered program do.
    """
    (a, b), (c, d) = left, right
    if (b - a) * (d - c) <= _MATCHED_LIMIT:
        matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
        yield from ((a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal")
        return
    anchors = _anchors(old[a:b], new[c:d])
    if not anchors:
        yield a, b, c, d
        return
    i, k = a, c
    for old_line, new_line in (*((a + x, c + y) for x, y in anchors), (b, d)):
        if (old_line, new_line) != (i, k):
            yield from _differences(old, new, (i, old_line), (k, new_line))
        i, k = old_line + 1, new_line + 1


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest chain of lines that occur once in each text (Cohen's patience diff); O(n log n)."""
    old_count, new_count = Counter(old), Counter(new)
    place = {line: number for number, line in enumerate(new) if new_count[line] == 1}
    piles: list[int] = []
    tops: list[tuple[int, int]] = []
    below: dict[tuple[int, int], tuple[int, int] | None] = {}
    for number, line in enumerate(old):
        if old_count[line] != 1 or line not in place:
            continue
        pair = (number, place[line])
        pile = bisect_left(piles, pair[1])
        below[pair] = tops[pile - 1] if pile else None
        piles[pile : pile + 1] = [pair[1]]
        tops[pile : pile + 1] = [pair]
    chain: list[tuple[int, int]] = []
    last = tops[-1] if tops else None
    while last is not None:
        chain.append(last)
        last = below[last]
    return chain[::-1]


def _merged(differences: Iterator[_Difference]) -> list[_Difference]:
    """Join differences that touch."""
    merged: list[_Difference] = []
    for a, b, c, d in differences:
        if merged and merged[-1][1] == a and merged[-1][3] == c:
            merged[-1] = (merged[-1][0], b, merged[-1][2], d)
        else:
            merged.append((a, b, c, d))
    return merged


def _successors(old: list[_Line], new: list[_Line], log: RewriteLog) -> _Relation:
    """Return a predicate: does a new line show what became of the binding or function of an old one?"""

    @cache
    def ancestry(number: int) -> frozenset[Node]:
        return frozenset(item for node in new[number].nodes[:1] for item in log.ancestry(node))

    def is_successor(a: int, b: int) -> bool:
        is_alike = old[a].text.split()[:1] == new[b].text.split()[:1]
        return is_alike and any(node in ancestry(b) for node in old[a].nodes[:1])

    return is_successor


def _align_named(old: list[str], new: list[str], likeness: Likeness) -> list[_Pair]:
    """Pair line numbers of two texts without nodes: in a changed block lines that define one name are one line.

    That leaves little to compare by similarity, which takes the longest by far in a module of a thousand bindings.
    """
    names = [
        [_defined(line) or f"{side}{number}" for number, line in enumerate(lines)]
        for side, lines in (("\n", old), ("\r", new))
    ]
    words_of = cache(_WORD_OR_SIGN.findall)

    def share(a: int, b: int) -> float:
        return _words_alike(words_of(old[a]), words_of(new[b]), likeness)

    pairs: list[_Pair] = []
    i = j = 0
    for a, b, c, d in _blocks(old, new):
        pairs += zip(range(i, a), range(j, c), strict=True)
        x, y = a, c
        # A name of one line of the block in each text; a line without one has a name that the other text lacks.
        for left, right in (*_anchors(names[0][a:b], names[1][c:d]), (b - a, d - c)):
            pairs += _pair_block(range(x, a + left), range(y, c + right), share)
            x, y = a + left + 1, c + right + 1
            if x <= b:
                pairs.append((x - 1, y - 1))
        i, j = b, d
    pairs += zip(range(i, len(old)), range(j, len(new)), strict=True)
    return pairs


def _defined(line: str) -> str:
    """Return what a line defines, "" for nothing."""
    found = _DEFINITION.match(line)
    return found[0].lstrip() if found is not None else ""


def _align(old: list[str], new: list[str], likeness: Likeness, is_successor: _Relation) -> list[_Pair]:
    """Pair line numbers; `None` stands for a line that the other side does not have."""

    def share(a: int, b: int) -> float:
        # A successor stands beside its origin, however few words they share.
        return 2.0 if is_successor(a, b) else _texts_alike(old[a], new[b], likeness)

    pairs: list[_Pair] = []
    i = j = 0
    for a, b, c, d in _blocks(old, new):
        pairs += zip(range(i, a), range(j, c), strict=True)
        pairs += _pair_block(range(a, b), range(c, d), share)
        i, j = b, d
    pairs += zip(range(i, len(old)), range(j, len(new)), strict=True)
    return pairs


def _pair_block(left: range, right: range, share: Callable[[int, int], float]) -> list[_Pair]:
    """Pair the lines of a changed block by similarity, in order."""
    pairs: list[_Pair] = []
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


def _texts_alike(a: str, b: str, likeness: Likeness) -> float:
    a, b = a.strip(), b.strip()
    if not a or not b or a.startswith("def ") != b.startswith("def "):
        return 1.0 if a == b else 0.0
    return likeness.share(a, b)


def _words_alike(a: list[str], b: list[str], likeness: Likeness) -> float:
    """Compare lines by words and signs, which takes a tenth of the time that characters take."""
    if not a or not b or (a[0] == "def") != (b[0] == "def"):
        return 1.0 if a == b else 0.0
    return likeness.share(a, b)


def _moved(old: list[_Line], new: list[_Line], pairs: list[_Pair], log: RewriteLog, likeness: Likeness) -> _Moved:
    """Find unpaired lines of both sides that are one line moved: by origin, or by equal text."""
    gone = [a for a, b in pairs if a is not None and b is None]
    come = [b for a, b in pairs if a is None and b is not None]
    by_node = {node: a for a in gone for node in old[a].nodes[:1]}
    by_text: dict[str, list[int]] = defaultdict(list)
    for a in gone:
        if old[a].text.strip():
            by_text[old[a].text.strip()].append(a)
    from_: set[int] = set()
    to: set[int] = set()
    for b in come:
        origins = (item for node in new[b].nodes[:1] for item in log.ancestry(node))
        found = next((by_node[item] for item in origins if item in by_node), None)
        if found is None or found in from_ or not _is_same_kind(old[found], new[b], likeness):
            same = [a for a in by_text.get(new[b].text.strip(), ()) if a not in from_]
            found = same[0] if same else None
        if found is not None:
            from_.add(found)
            to.add(b)
    return frozenset(from_), frozenset(to)


def _is_same_kind(old: _Line, new: _Line, likeness: Likeness) -> bool:
    return old.text.split()[:1] == new.text.split()[:1] or _texts_alike(old.text, new.text, likeness) >= ALIKE


def _row(pair: _Pair, old: list[_Line], new: list[_Line], likeness: Likeness, moved: _Moved = _NONE_MOVED) -> DiffRow:
    a, b = pair
    if a is not None and b is not None:
        if old[a].text == new[b].text:
            return DiffRow(_side(old, a, "unchanged"), _side(new, b, "unchanged"))
        left, right = _highlighted(old[a].tokens, new[b].tokens, likeness)
        return DiffRow(_side(old, a, "changed", left), _side(new, b, "changed", right))
    before = _side(old, a, "moved" if a in moved[0] else "removed") if a is not None else None
    after = _side(new, b, "moved" if b in moved[1] else "added") if b is not None else None
    return DiffRow(before, after)


def _side(lines: list[_Line], number: int, mark: Mark, tokens: tuple[Token, ...] | None = None) -> DiffSide:
    line = lines[number]
    return DiffSide(number + 1, mark, line.tokens if tokens is None else tokens, line.node)


def _highlighted(
    old: tuple[Token, ...], new: tuple[Token, ...], likeness: Likeness
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Mark the words that differ between two forms of a line."""
    start, end = common(old, new)
    left, right = (_words(tokens[start : len(tokens) - end]) for tokens in (old, new))
    changed_left, changed_right = likeness.differing([text for text, _ in left], [text for text, _ in right])
    behind = old[len(old) - end :]
    return (
        (*old[:start], *_joined(left, changed_left), *behind),
        (*new[:start], *_joined(right, changed_right), *behind),
    )


def _words(tokens: tuple[Token, ...]) -> list[tuple[str, Syntax]]:
    """Cut tokens into words and single signs."""
    return [(word, token.syntax) for token in tokens for word in _WORD.findall(token.text)]


def _joined(words: list[tuple[str, Syntax]], changed: frozenset[int]) -> tuple[Token, ...]:
    """Join words of one look."""
    pieces: Iterator[tuple[tuple[Syntax, bool], str]] = (
        ((syntax, number in changed), text) for number, (text, syntax) in enumerate(words)
    )
    return tuple(Token(text, *look) for look, text in joined(pieces))


def _folds(rows: tuple[DiffRow, ...]) -> tuple[Fold, ...]:
    """Fold long runs of unchanged rows, except a few lines of context."""
    folds: list[Fold] = []
    start = 0
    for number in range(len(rows) + 1):
        is_quiet = number < len(rows) and _is_unchanged(rows[number])
        if is_quiet:
            continue
        first = start + (_CONTEXT if start else 0)
        last = number - (_CONTEXT if number < len(rows) else 0)
        if number - start >= _FOLD_FROM and last > first and (start or number < len(rows)):
            folds.append(Fold(first, last - first))
        start = number + 1
    return tuple(folds)


def _is_unchanged(row: DiffRow) -> bool:
    return all(side is not None and side.mark == "unchanged" for side in (row.before, row.after))
