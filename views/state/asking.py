"""What the user asked to be explained, until the page is there: a component's message is not the time for a dialog."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, TypeVar

import streamlit as st

_Asked = TypeVar("_Asked")

_ASKED: Final = "explain.asked"
_GUIDE: Final = "guide.asked"


def ask_for_meaning(*names: str, about: str = "") -> None:
    """Have what some names mean open when the page is there; `about` is the sentence that uses them.

    A diagnostic code alone opens its paragraph, with a program that has it.
    """
    st.session_state[_ASKED] = names, about


def asked_for() -> AbstractContextManager[tuple[tuple[str, ...], str]]:
    """Give the names that were asked about and the sentence that uses them, once; no names if none were."""
    return _once(_ASKED, ((), ""))


def ask_for_guide(path: str) -> None:
    """Have a document open when the page is there, by its path below `docs/`."""
    st.session_state[_GUIDE] = path


def asked_guide() -> AbstractContextManager[str]:
    """Give the document that was asked for, once; empty if none was."""
    return _once(_GUIDE, "")


@contextmanager
def _once(key: str, default: _Asked) -> Generator[_Asked]:
    """Give what was asked for, and forget it behind that: a script that another one replaces leaves it to that one."""
    found: _Asked = st.session_state.get(key, default)
    # Streamlit ends a script by an exception that is none of these.
    try:
        yield found
    except Exception:
        st.session_state.pop(key, None)
        raise
    st.session_state.pop(key, None)
