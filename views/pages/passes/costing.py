"""What one call costs behind each pass, and which operators each pass added and removed."""

from typing import Final

import streamlit as st

from relax_core.engine.protocol import CostsOf, Failure
from relax_core.engine.replies import CostRow, CostsView
from relax_core.present.escape import literal
from views.pages.passes.state import PassesState
from views.shell.failures import show_failure
from views.state.session import select, state
from views.worker.connection import ask, run_again
from views.worker.program import given_program

_HELP: Final = "Count operations, bytes, launches and memory of a call after each pass, without running it"
_WHAT: Final = (
    "Operations are those on values, bytes those that operators and kernels read and write, the peak what results and "
    "storages take at once. Where something is not counted, the figures are a lower bound."
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
    rows = [_cells(row) for row in view.rows]
    # A column that says nothing is none.
    columns = [name for name in rows[0] if any(row[name] not in ("", 0) for row in rows)]
    st.dataframe([{name: row[name] for name in columns} for row in rows], hide_index=True, key="passes.costs.table")  # pyright: ignore[reportUnknownMemberType]  # pandas has no types here
    st.caption(_WHAT)


def _cells(row: CostRow) -> dict[str, str | int | None]:
    figures = (
        ("Operators", row.operator_calls),
        ("Kernels", row.kernels),
        ("Launches", row.launches),
        ("Operations", row.operations),
        ("Bytes moved", row.moved_bytes),
        ("Peak bytes", row.peak_bytes),
    )
    return {
        "Stage": f"{row.index} {row.name}",
        # Of a figure that is nothing besides what is not counted, nothing is known.
        **{name: None if row.hindrance or (row.unknown and not figure) else figure for name, figure in figures},
        "Not counted": row.hindrance or row.unknown_words(),
        "Added and removed": row.change_words(),
    }
