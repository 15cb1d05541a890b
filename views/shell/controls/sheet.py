"""Tables of rows: sorted by a click on a head, filtered by words, and saved as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from relax_core.present.escape import literal

Rows = Sequence[Mapping[Any, object]]

_FEW: Final = 8
"""As many rows are seen at once, and need no filter."""
_TALL: Final = 66
"""Pixels of a row whose texts wrap; in Streamlit's tables they do above 64."""
_PROSE_WIDTH: Final = 400
"""Pixels of all columns whose texts wrap."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a text begins with that a spreadsheet would compute."""


def sheet(
    rows: Rows, *, key: str, name: str, columns: Mapping[str, Any] | None = None, prose: Sequence[str] = ()
) -> None:
    """Show rows as the table `key`, with a column for each key of any of them; they are saved as `name`.csv.

    `columns` says how columns are written, as Streamlit's `column_config`; the texts of
    the columns `prose` are long, and wrap.
    """
    shown = rows
    if rows:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if len(rows) > _FEW:
                shown = _filtered(rows, key, name)
            content = csv_of(shown, _heads(rows))
            st.download_button("CSV", content, f"{name}.csv", "text/csv", key=f"{key}.csv", on_click="ignore")
    if prose:
        width = _PROSE_WIDTH // len(prose)
        columns = {**(columns or {}), **{head: st.column_config.TextColumn(width=width) for head in prose}}
    st.dataframe(  # pyright: ignore[reportUnknownMemberType]  # pandas has no types here
        shown, hide_index=True, column_config=columns, placeholder="", row_height=_TALL if prose else None, key=key
    )


def numbers(*heads: str) -> dict[str, Any]:
    """Return how columns of counts, bytes and the like are written: 1,234,567."""
    return {head: st.column_config.NumberColumn(format="localized") for head in heads}


def decimals(*heads: str) -> dict[str, Any]:
    """Return how columns of times and ratios are written: 1234.57."""
    return {head: st.column_config.NumberColumn(format="%.2f") for head in heads}


def microseconds(seconds: float) -> float | None:
    """Return a time to the nanosecond; None for one that was not measured, which is 0."""
    return round(seconds * 1e6, 3) or None


def filled(rows: Rows) -> Rows:
    """Leave out the columns that say nothing in any row."""
    heads = [head for head in _heads(rows) if any(row.get(head) not in (None, "") for row in rows)]
    return [{head: row.get(head) for head in heads} for row in rows]


def _heads(rows: Rows) -> tuple[str, ...]:
    return tuple(dict.fromkeys(head for row in rows for head in row))


def _filtered(rows: Rows, key: str, name: str) -> Rows:
    label = literal(f"Rows of {name} with")
    words = st.text_input(label, key=f"{key}.filter", placeholder="Rows with…", label_visibility="collapsed", width=200)
    shown = rows_with(rows, words)
    if words.strip():
        st.caption(literal(f"{len(shown):,} of {len(rows):,} rows"), width="content")
    return shown


def rows_with(rows: Rows, words: str) -> Rows:
    """Return the rows in which each of the words stands somewhere, in large letters or small ones."""
    wanted = words.casefold().split()
    texts = ("\n".join(map(_said, row.values())).casefold() for row in rows)
    return [row for row, text in zip(rows, texts, strict=True) if all(word in text for word in wanted)]


def _said(value: object) -> str:
    """Write a value as it may be looked for: a large number with commas and without."""
    return f"{value} {value:,}" if isinstance(value, int) else str(value)


def csv_of(rows: Rows, heads: Sequence[str]) -> str:
    """Write rows as CSV below their heads; a text that a spreadsheet would take for a formula begins with a quote."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_cell, heads))
    writer.writerows([_cell(row.get(head, "")) for head in heads] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "", 1).removeprefix("-").removeprefix("+").isdecimal()
