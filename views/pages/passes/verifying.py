"""Whether what every pass leaves is checked."""

from typing import Final

import streamlit as st

from views.shell.frame import chip
from views.state.session import select, state
from views.state.shared import ProgramState
from views.worker.connection import run_again
from views.worker.program import is_verified, text_of

_HELP: Final = "Check types and well-formedness of what every pass leaves; it takes about half as long as the passes"


def choose_verification() -> None:
    """Offer to check what every pass leaves."""
    chosen = state(ProgramState)
    st.session_state["passes.verify"] = is_verified(chosen, text_of(chosen))
    st.toggle("Verify after every pass", key="passes.verify", help=_HELP, on_change=_changed)


def _changed() -> None:
    select(verify="on" if st.session_state["passes.verify"] else "off")
    run_again()


def show_verification() -> None:
    """Say in the bar that what the passes left is well-formed: they ran, and none of them failed."""
    chosen = state(ProgramState)
    if is_verified(chosen, text_of(chosen)):
        chip("✓ well-formed", "green")
