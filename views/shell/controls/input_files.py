"""Files for the parameters of a function: where they are given, and what was read of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from relax_core.engine.debug.replies import GivenInput
from relax_core.engine.debug.requests import InputFile
from views.state.rules import whole

_TYPES: Final = ("npz", "npy", "safetensors", "png", "jpg", "jpeg", "txt")
_WHAT: Final = (
    "An .npz or .safetensors for all parameters; for one a .npy, a picture, or a text for integers. A file that has "
    "the name of a parameter, such as `x.png`, is for that one; what has no file is made up."
)
_TOLD: Final = 8
"""Parameters whose values are told one by one."""


def upload_files(key: str, megabytes: int, on_change: Callable[[], None]) -> None:
    """Take files of `megabytes` at most for parameters."""
    st.file_uploader(
        "Files", list(_TYPES), accept_multiple_files=True, key=key, help=_WHAT, max_upload_size=megabytes,
        on_change=on_change,
    )  # fmt: skip


def uploaded_files(key: str) -> tuple[InputFile, ...]:
    """Return the files that were given under the key of `upload_files`."""
    return tuple(InputFile(whole(item.name), item.getvalue()) for item in st.session_state[key] or ())


def told(rows: Sequence[GivenInput]) -> list[str]:
    """Say where the values of the first parameters are from, those of files before others, and count the rest."""
    ordered = sorted(rows, key=lambda row: not row.file)
    lines = [": ".join(filter(None, (row.param, row.file, row.words, row.value))) for row in ordered[:_TOLD]]
    rest = Counter("from files" if row.file else "made up" for row in ordered[_TOLD:])
    if rest:
        lines.append(f"{rest.total():,} more: {', '.join(f'{count:,} {where}' for where, count in rest.items())}")
    return lines
