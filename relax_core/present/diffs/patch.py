"""The difference of two texts as a patch, which `patch -p1` and `git apply` take."""

import re
from collections.abc import Iterator
from difflib import unified_diff

from relax_core.present.escape import file_name

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line of a patch ends in a newline alone, whatever else Python takes for the end of a line."""
_WITHOUT_END = "\\ No newline at end of file\n"


def patch_of(before: str, after: str, name: str, now: str = "") -> str:
    """Return the patch that makes `after` of `before`, a file called `name`; "" if they are equal.

    A file that is called `now` afterwards is another one of which the patch is made.
    """
    old, new = (_LINE.findall(text) for text in (before, after))
    return "".join(_ended(unified_diff(old, new, f"a/{file_name(name)}", f"b/{file_name(now or name)}")))


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if not line.endswith("\n"):
            yield f"\n{_WITHOUT_END}"
