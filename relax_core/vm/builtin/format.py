"""Fill the format of `print` and `assert_op`: `{}` and `{0}` only, so that no format reaches into objects."""

import re
from collections.abc import Iterator
from typing import Final

from relax_core.vm.context import fail
from relax_core.vm.objects.values import Value, show

_PLACE: Final = re.compile(r"\{\{|\}\}|\{(\d*)\}")


def fill(format_text: str, values: tuple[Value, ...]) -> str:
    """Replace `{}` by the next value and `{n}` by value `n`; `{{` and `}}` are braces."""
    following = iter(range(len(values)))
    return _PLACE.sub(lambda match: _part(match, values, following), format_text)


def _part(match: re.Match[str], values: tuple[Value, ...], following: Iterator[int]) -> str:
    if match[0] in ("{{", "}}"):
        return match[0][0]
    index = int(match[1]) if match[1] else next(following, len(values))
    if index >= len(values):
        fail("VM020", f"the format has a place for value {index}, but {len(values)} values are given")
    return show(values[index])
