"""Whether what every pass leaves is checked."""

from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.protocol import Program
from views.lessons.steps import held_back
from views.pages.passes.state import PassesState
from views.state.session import select, state
from views.worker.connection import run_again
from views.worker.program import given_program

_HELP: Final = "Check types and well-formedness of what every pass leaves; it takes about half as long as the passes"
_SHORT_CHARACTERS: Final = 40_000
"""Of a longer text the check takes seconds."""


def passed_program() -> Program:
    """Return the program that is open, with what its passes leave verified: as chosen, or else if its text is short.

    While a lesson's prediction waits for its answer, no pass runs behind the stage at which the lesson stands.
    """
    program, chosen, held = given_program(), state(PassesState).verify, held_back("passes")
    is_verified = chosen == "on" or (not chosen and len(program.text) <= _SHORT_CHARACTERS)
    return msgspec.structs.replace(program, verify=is_verified, pass_count=None if held is None else held.stage)


def choose_verification() -> None:
    """Offer to check what every pass leaves."""
    st.session_state["passes.verify"] = passed_program().verify
    st.toggle("Verify after every pass", key="passes.verify", help=_HELP, on_change=_changed)


def _changed() -> None:
    select(verify="on" if st.session_state["passes.verify"] else "off")
    run_again()


def verification() -> str:
    """Say that what the passes left is well-formed, if that was checked: they ran, and none of them failed."""
    return ", ✓ well-formed" if passed_program().verify else ""
