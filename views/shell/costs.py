"""The table of what one call costs behind each pass."""

from collections.abc import Iterator
from typing import Final

import streamlit as st

from relax_core.engine.replies import COST_FIGURES, CostRow, CostsView
from relax_core.present.escape import literal, prose
from views.shell.controls.sheet import filled, numbers, sheet

WHAT_IS_COUNTED: Final = (
    "Operations are those on values, bytes those that operators and kernels read and write, the peak what results and "
    "storages take at once if each is freed behind its last use. What is not counted is named; the "
    "figures that are lower bounds for it stand under At least."
)


def show_costs_table(view: CostsView, key: str) -> None:
    """Show the figures of all stages, and what each added, removed, or does not let be counted."""
    st.markdown(prose(f"After each pass that changed the module: {view.title}"))
    hindrances = {row.hindrance for row in view.rows}
    if "" not in hindrances:
        st.info(literal("; ".join(sorted(hindrances))))
        return
    figures = [{"Stage": _stage(row), **known_figures(row), "At least": ", ".join(bounds(row))} for row in view.rows]
    columns = numbers(*(head for head, _ in COST_FIGURES))
    sheet(filled(figures), key=f"{key}.table", name="costs", columns=columns)
    st.caption(WHAT_IS_COUNTED)
    noted = [
        {"Stage": _stage(row), "Calls that came and went": row.changes}
        | {"Not counted": "; ".join(filter(None, (row.hindrance, row.not_counted)))}
        for row in view.rows
        if any(row.notes())
    ]
    sheet(filled(noted), key=f"{key}.notes", name="changes", prose=("Calls that came and went", "Not counted"))


def _stage(row: CostRow) -> str:
    return f"{row.index} {row.name}"


def known_figures(row: CostRow) -> dict[str, int | None]:
    """Return the figures of a row by their heads."""
    return {head: row.known(name) for head, name in COST_FIGURES}


def bounds(row: CostRow) -> Iterator[str]:
    """Yield the heads of the figures that are lower bounds."""
    return (head for head, name in COST_FIGURES if name in row.lower_bounds and row.known(name) is not None)
