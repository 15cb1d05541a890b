"""What one call costs behind each pass, and which operators each pass added and removed."""

from typing import Final

import streamlit as st

from relax_core.engine.protocol import CostsOf, Failure
from relax_core.engine.replies import COST_FIGURES, CostsView
from relax_core.present.escape import literal, table
from views.pages.passes.state import PassesState
from views.shell.failures import show_failure
from views.state.session import select, state
from views.worker.connection import ask, run_again
from views.worker.program import given_program

_HELP: Final = "Count operations, bytes, launches and memory of a call after each pass, without running it"
_WHAT: Final = (
    "Operations are those on values, bytes those that operators and kernels read and write, the peak what results and "
    "storages take at once if each is freed behind its last use. What is not counted is named, and makes a figure a "
    "lower bound (≥)."
)


def show_costs() -> None:
    """Offer to count what a call costs behind each pass, and show the figures."""
    with st.popover("Costs", key="passes.costs"):
        is_on = bool(state(PassesState).costs)
        if st.button("Hide costs" if is_on else "Count costs", key="passes.costs.count", help=_HELP):
            select(costs=int(not is_on))
            run_again()
            st.rerun()
        if not is_on:
            st.caption(_WHAT)
            return
        reply = ask(CostsOf(given_program()))
        if isinstance(reply, Failure):
            show_failure(reply)
        else:
            _show(reply)


def _show(view: CostsView) -> None:
    st.markdown(literal(f"After each pass that changed the module: {view.title}"))
    hindrances = {row.hindrance for row in view.rows}
    if "" not in hindrances:
        st.info(literal("; ".join(sorted(hindrances))))
        return
    heads = ("Stage", *(head for head, _ in COST_FIGURES))
    figures = [dict(zip(heads, row.cells(), strict=True)) for row in view.rows]
    right = {head: st.column_config.TextColumn(alignment="right") for head in heads[1:]}
    st.dataframe(figures, hide_index=True, key="passes.costs.table", column_config=right)  # pyright: ignore[reportUnknownMemberType]  # pandas has no types here
    st.caption(_WHAT)
    noted = [(f"{row.index} {row.name}", "; ".join(row.notes())) for row in view.rows if any(row.notes())]
    if noted:
        st.markdown(table(("Stage", "Calls that came and went, and what is not counted"), noted))
