"""What the user asked to be explained, until the page is there: a component's message is not the time for a dialog."""

from typing import Final

import streamlit as st

_ASKED: Final = "explain.asked"


def ask_for_meaning(*names: str, about: str = "") -> None:
    """Have what some names mean open when the page is there; `about` is the sentence that uses them.

    A diagnostic code alone opens its paragraph, with a program that has it.
    """
    st.session_state[_ASKED] = names, about


def asked_for() -> tuple[tuple[str, ...], str]:
    """Return the names that were asked about and the sentence that uses them, once; no names if none were."""
    return st.session_state.pop(_ASKED, ((), ""))
