"""Diff of two texts side by side: lines paired, changed tokens marked, moved lines found by origins."""

import re
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from relax_core.ir.dialect import dialect_of
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.present.code import header_length
from relax_core.present.diffs.align import (
    LineOrigins,
    LinePair,
    align_by_name,
    align_by_origin,
    are_alike,
    differing_ranges,
)
from relax_core.present.diffs.likeness import Likeness
from relax_core.present.models import Diff, DiffRow, DiffSide, Fold, Mark
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.printer.printed import NodeRange, Printed
from relax_core.source import Source

_FOLD_FROM, _CONTEXT = 12, 3
_BINDS = " = "
"""A line with this binds a value: what is bound may get another name, a function or a branch does not become one."""
_WORD = re.compile(r"\w+|\W")
_Ranges: TypeAlias = tuple[tuple[int, int], ...]
_Moved: TypeAlias = tuple[frozenset[int], frozenset[int]]
"""Old lines, and new ones."""
_NONE_MOVED: Final[_Moved] = (frozenset(), frozenset())


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a text, with the nodes whose text begins on it, the largest first."""

    text: str
    nodes: tuple[Node, ...] = ()
    node: str = ""
    """The id of the first of them that has one."""


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The text of a module without its head, by lines: one beside others, before one pass and behind another."""

    text: str
    lines: tuple[Line, ...]
    title: str = ""
    language: Literal["tvmscript", "relay"] = "tvmscript"


def page_of(printed: Printed, index: NodeIndex) -> Page:
    """Cut a printed module into lines, whose nodes have the ids of `index`."""
    header = header_length(printed.text)
    text = printed.text[header:]
    begun = _begun(text, header, printed.ranges)
    lines: list[Line] = []
    for number, line in enumerate(_cut(text)):
        nodes = tuple(node for _, node in sorted(begun[number], key=lambda found: -found[0]))
        ids = (index.id_of(node) for node in nodes)
        lines.append(Line(line, nodes, next(filter(None, ids), "")))
    return Page(text, tuple(lines), language="relay" if dialect_of(index.module) == "relay" else "tvmscript")


def diff_pages(before: Page, after: Page, log: RewriteLog) -> Diff:
    """Compare two printed modules; a line that a pass carried elsewhere is `moved`."""
    old, new = before.lines, after.lines
    likeness = Likeness()
    texts = [line.text for line in old], [line.text for line in new]
    pairs = align_by_origin(*texts, _origins(old, new, log), likeness)
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
        is_unchanged=before.text == after.text,
        language=after.language,
    )


def diff_texts(before_title: str, before: str, after_title: str, after: str, *, is_placed: bool = False) -> Diff:
    """Compare two texts that have no nodes; lines that are placed go by side and number, `a/1`, to be selected by."""
    old, new = (
        [Line(text, (), f"{side}/{number}" if is_placed else "") for number, text in enumerate(_cut(item), 1)]
        for side, item in (("a", before), ("b", after))
    )
    likeness = Likeness()
    pairs = align_by_name([line.text for line in old], [line.text for line in new], likeness)
    rows = tuple(_row(pair, old, new, likeness) for pair in pairs)
    return Diff(before_title, after_title, rows, _folds(rows), is_unchanged=before == after)


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Count the lines that only `after` has and those that only `before` has; a changed line counts in both."""
    ranges = differing_ranges(before.splitlines(), after.splitlines())
    return sum(d - c for _, _, c, d in ranges), sum(b - a for a, b, _, _ in ranges)


def _cut(text: str) -> list[str]:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _begun(text: str, header: int, ranges: tuple[NodeRange, ...]) -> list[list[tuple[int, Node]]]:
    """Return for every line the nodes that begin on it, with the lengths of their texts."""
    starts = Source("", text).line_starts
    begun: list[list[tuple[int, Node]]] = [[] for _ in starts]
    line = 0
    # Ranges are in the order of their starts.
    for start, end, node in ranges:
        while line + 1 < len(starts) and start - header >= starts[line + 1]:
            line += 1
        begun[line].append((end - start, node))
    return begun


def _origins(old: Sequence[Line], new: Sequence[Line], log: RewriteLog) -> LineOrigins:
    """Return for each new line the old ones whose binding or function became what it shows."""
    line_of = {node: number for number, line in enumerate(old) for node in line.nodes[:1]}
    sure: dict[int, list[int]] = {}
    others: dict[int, list[int]] = {}
    for number, line in enumerate(new):
        found = (line_of.get(item) for node in line.nodes[:1] for item in log.ancestry(node))
        known = [item for item in found if item is not None]
        name = line.text.split()[:1]
        same = [item for item in known if old[item].text.split()[:1] == name]
        if same:
            sure[number] = same
        elif _BINDS in line.text:
            others[number] = [item for item in known if _BINDS in old[item].text]
    taken = {item for same in sure.values() for item in same}
    likely = {number: [item for item in known if item not in taken] for number, known in others.items()}
    return LineOrigins(sure, likely)


def _moved(
    old: Sequence[Line], new: Sequence[Line], pairs: list[LinePair], log: RewriteLog, likeness: Likeness
) -> _Moved:
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


def _is_same_kind(old: Line, new: Line, likeness: Likeness) -> bool:
    return old.text.split()[:1] == new.text.split()[:1] or are_alike(old.text, new.text, likeness)


def _row(
    pair: LinePair, old: Sequence[Line], new: Sequence[Line], likeness: Likeness, moved: _Moved = _NONE_MOVED
) -> DiffRow:
    a, b = pair
    if a is not None and b is not None:
        if old[a].text == new[b].text:
            return DiffRow(_side(old, a, "unchanged"), _side(new, b, "unchanged"))
        left, right = _differing(old[a].text, new[b].text, likeness)
        return DiffRow(_side(old, a, "changed", left), _side(new, b, "changed", right))
    before = _side(old, a, "moved" if a in moved[0] else "removed") if a is not None else None
    after = _side(new, b, "moved" if b in moved[1] else "added") if b is not None else None
    return DiffRow(before, after)


def _side(lines: Sequence[Line], number: int, mark: Mark, differing: _Ranges = ()) -> DiffSide:
    line = lines[number]
    return DiffSide(number + 1, mark, line.text, line.node, differing)


def _differing(old: str, new: str, likeness: Likeness) -> tuple[_Ranges, _Ranges]:
    """Return where the words and single signs are in which two forms of a line differ."""
    left, right = _WORD.findall(old), _WORD.findall(new)
    changed_left, changed_right = likeness.differing(left, right)
    return _ranges(left, changed_left), _ranges(right, changed_right)


def _ranges(words: Sequence[str], changed: Container[int]) -> _Ranges:
    """Return from where to where the words with the numbers `changed` reach; those that touch have one range."""
    found: list[tuple[int, int]] = []
    start = 0
    for number, word in enumerate(words):
        end = start + len(word)
        if number in changed:
            first = found.pop()[0] if found and found[-1][1] == start else start
            found.append((first, end))
        start = end
    return tuple(found)


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
