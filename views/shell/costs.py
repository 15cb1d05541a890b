"""The table of what one call costs behind each pass."""

from typing import Final

import streamlit as st

from relax_core.engine.replies import COST_FIGURES, CostsView
from relax_core.present.escape import literal, prose, table
from views.shell.controls.sheet import sheet

WHAT_IS_COUNTED: Final = (
    "Operations are those on values, bytes those that operators and kernels read and write, the peak what results and "
    "storages take at once if each is freed behind its last use. What is not counted is named, and makes a figure a "
    "lower bound (≥)."
)


def show_costs_table(view: CostsView, key: str) -> None:
    """Show the figures of all stages, and what each added, removed, or does not let be counted."""
    st.markdown(prose(f"After each pass that changed the module: {view.title}"))
    hindrances = {row.hindrance for row in view.rows}
    if "" not in hindrances:
        st.info(literal("; ".join(sorted(hindrances))))
        return
    heads = ("Stage", *(head for head, _ in COST_FIGURES))
    figures = [dict(zip(heads, row.cells(), strict=True)) for row in view.rows]
    right = {head: st.column_config.TextColumn(alignment="right") for head in heads[1:]}
    sheet(figures, key=f"{key}.table", name="costs", columns=right)
    st.caption(WHAT_IS_COUNTED)
    noted = [(f"{row.index} {row.name}", "; ".join(row.notes())) for row in view.rows if any(row.notes())]
    if noted:
        st.markdown(table(("Stage", "Calls that came and went, and what is not counted"), noted))
