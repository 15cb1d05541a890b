"""A name, such as that of an operator, is looked for in what every pass made."""

from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.protocol import Failure, FoundInStages
from relax_core.engine.replies import Appearances
from relax_core.present.escape import literal, prose
from views.pages.passes.stages import go_to_stage
from views.pages.passes.state import PassesState
from views.pages.passes.verifying import passed_program
from views.shell.failures import show_failure
from views.state.session import select, state
from views.worker.connection import ask

# The list of stages puts the keyboard into the field of this name.
_FIELD: Final = "pipeline.sought"
_ROWS_SHOWN: Final = 12
FIND_PIXELS: Final = 44
"""The height of the row with the field."""


def find_in_stages() -> None:
    """Offer to look for a name in all stages, and lead to those from which on it occurs more or less often."""
    st.session_state[_FIELD] = state(PassesState).looked_for
    with st.container(key="passes.find", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.text_input(
            "Find in all stages",
            key=_FIELD,
            placeholder="Find in all stages",
            max_chars=200,
            on_change=_sought,
            label_visibility="collapsed",
        )
        text = state(PassesState).looked_for
        if text:
            _show_found(ask(FoundInStages(passed_program(), text)))


def _show_found(found: Appearances | Failure) -> None:
    if isinstance(found, Failure):
        show_failure(found)
        return
    with st.popover(literal(plural(len(found.rows), "stage")), key="passes.found", width="content"):
        st.markdown(prose(found.conclusion))
        for row in found.rows[:_ROWS_SHOWN]:
            words = literal(f"{row.name}: {row.change}, {row.count:,}")
            st.button(words, key=f"passes.at.{row.position}", on_click=_go, args=(row.position,))
        if len(found.rows) > _ROWS_SHOWN:
            st.caption(literal(f"{len(found.rows) - _ROWS_SHOWN} further stages change how often it is there."))


def _sought() -> None:
    select(looked_for=st.session_state[_FIELD].strip())


def _go(stage: int) -> None:
    go_to_stage(stage, view="text", node="")
