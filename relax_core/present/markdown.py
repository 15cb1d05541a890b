"""Text of programs as parts of Markdown for a page of GitHub: names as code, messages, rows of a table."""

import re
from collections.abc import Iterable
from typing import Final

from relax_core.present.escape import visible

_SPECIAL: Final = re.compile(r"([\\*_\[\]<>|#~!&@])")


def row(cells: Iterable[str]) -> str:
    """Write a row of a table."""
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """Write a name as code of Markdown, which nothing in it ends: neither the code nor the cell of a table."""
    return f"`{visible(text).replace('`', 'ˋ').replace('|', '¦')}`"


def message(text: str) -> str:
    """Write a message: what stands between backticks is code, and all else is text, on one line."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["ˋ".join(parts[-2:])]
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def _plain(text: str) -> str:
    """Write text that Markdown reads as text; the name of a function, `@f`, as code, for elsewhere it calls a user."""
    parts = re.split(r"(@[\w.]+)", visible(text))
    return "".join(code(part) if number % 2 else _SPECIAL.sub(r"\\\1", part) for number, part in enumerate(parts))
