"""What one call costs in each form of the recorded program."""

import streamlit as st

from relax_core.engine.debug.requests import Parcel, RecordedCostsOf
from relax_core.engine.protocol import Failure, Program
from views.pages.pipeline.failures import say
from views.shell.costs import show_costs_table
from views.worker.connection import ask


def show_recorded_costs(parcel: Parcel, options: Program) -> None:
    """Show the figures of all forms, with the entry and the sizes that are chosen for runs."""
    found = ask(RecordedCostsOf(parcel, options))
    if isinstance(found, Failure):
        say(found, "costs")
        return
    with st.container(key="pipeline.costs", gap="xsmall"):
        show_costs_table(found, "pipeline.costs")
        st.caption(
            "A stage of prim funcs alone is counted with the calls of the last whole stage whose sizes are known: "
            "behind VMShapeLower they are values of a run."
        )
