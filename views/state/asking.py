"""What the user asked to be explained, until the page is there: a component's message is not the time for a dialog."""

from typing import Final

import streamlit as st

_ASKED: Final = "explain.asked"
_GUIDE: Final = "guide.asked"


def ask_for_meaning(*names: str, about: str = "") -> None:
    """Have what some names mean open when the page is there; `about` is the sentence that uses them.

    A diagnostic code alone opens its paragraph, with a program that has it.
    """
    st.session_state[_ASKED] = names, about


def asked_for() -> tuple[tuple[str, ...], str]:
    """Return the names that were asked about and the sentence that uses them, once; no names if none were."""
    return st.session_state.pop(_ASKED, ((), ""))


def ask_for_guide(path: str) -> None:
    """Have a document open when the page is there, by its path below `docs/`."""
    st.session_state[_GUIDE] = path


def asked_guide() -> str:
    """Return the document that was asked for, once; empty if none was."""
    return st.session_state.pop(_GUIDE, "")
