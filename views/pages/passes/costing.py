"""What one call costs behind each pass, and which operators each pass added and removed."""

from typing import Final

import streamlit as st

from relax_core.engine.protocol import CostsOf, Failure
from views.pages.passes.state import PassesState
from views.shell.costs import WHAT_IS_COUNTED, show_costs_table
from views.shell.failures import show_failure
from views.state.session import select, state
from views.worker.connection import ask, run_again
from views.worker.program import given_program

_HELP: Final = "Count operations, bytes, launches and memory of a call after each pass, without running it"


def show_costs() -> None:
    """Offer to count what a call costs behind each pass, and show the figures."""
    with st.popover("Costs", key="passes.costs"):
        is_on = bool(state(PassesState).costs)
        if st.button("Hide costs" if is_on else "Count costs", key="passes.costs.count", help=_HELP):
            select(costs=int(not is_on))
            run_again()
            st.rerun()
        if not is_on:
            st.caption(WHAT_IS_COUNTED)
            return
        reply = ask(CostsOf(given_program()))
        if isinstance(reply, Failure):
            show_failure(reply)
        else:
            show_costs_table(reply, "passes.costs")
