"""The difference of two texts as a patch, which `patch -p1` and `git apply` take."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from relax_core.present.diffs.align import LineRanges, differing_ranges
from relax_core.present.escape import file_name

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line of a patch ends in a newline alone, whatever else Python takes for the end of a line."""
_CONTEXT: Final = 3
_WITHOUT_END = "\\ No newline at end of file\n"


def patch_of(before: str, after: str, name: str, now: str = "") -> str:
    """Return the patch that makes `after` of `before`, a file called `name`; "" if they are equal.

    A file that is called `now` afterwards is another one of which the patch is made.
    """
    old, new = (_LINE.findall(text) for text in (before, after))
    hunks = [line for ranges in _near(differing_ranges(old, new)) for line in _hunk(old, new, ranges)]
    names = f"--- a/{_path(name)}\n", f"+++ b/{_path(now or name)}\n"
    return "".join(_ended((*names, *hunks))) if hunks else ""


def _path(name: str) -> str:
    """Return the path that a name is, below the folder where the patch is applied; of one elsewhere the last part."""
    parts = name.split("/")
    is_below = not name.startswith("/") and ".." not in parts
    return "/".join(file_name(part) for part in (parts if is_below else parts[-1:]) if part != ".")


def _near(ranges: Iterable[LineRanges]) -> Iterator[list[LineRanges]]:
    """Yield the differences in groups, those of which share lines around them."""
    group: list[LineRanges] = []
    for item in ranges:
        if group and item[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _hunk(old: Sequence[str], new: Sequence[str], ranges: Sequence[LineRanges]) -> Iterator[str]:
    """Yield a group of differences with the lines before, between and behind them."""
    before = min(_CONTEXT, ranges[0][0])
    behind = min(_CONTEXT, len(old) - ranges[-1][1])
    at = ranges[0][0] - before
    left = _lines_words(at, ranges[-1][1] + behind)
    right = _lines_words(ranges[0][2] - before, ranges[-1][3] + behind)
    yield f"@@ -{left} +{right} @@\n"
    for a, b, c, d in ranges:
        yield from (f" {line}" for line in old[at:a])
        yield from (f"-{line}" for line in old[a:b])
        yield from (f"+{line}" for line in new[c:d])
        at = b
    yield from (f" {line}" for line in old[at : at + behind])


def _lines_words(start: int, end: int) -> str:
    """Write a range of lines: a single one by its number alone, none by the number of the line before."""
    count = end - start
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"


def _ended(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if not line.endswith("\n"):
            yield f"\n{_WITHOUT_END}"
