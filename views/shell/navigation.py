"""The way from a page to another one."""

from typing import Final, NoReturn

import streamlit as st

from views import PAGES
from views.state.dialogs import close_dialog
from views.state.session import go_to_line

_SHOWN: Final = "page.shown"
_ASKED: Final = "page.asked"
"""The page that is left and the one that is wanted, until the browser is there."""


def page_file(noun: str) -> str:
    """Return the script of a page, relative to `app.py`."""
    return f"views/pages/{noun}/page.py"


def note_page(noun: str) -> None:
    """Take note of which page is shown; another one than the one that is left ends what was asked for."""
    st.session_state[_SHOWN] = noun
    left, _ = st.session_state.get(_ASKED, (noun, noun))
    if left != noun:
        st.session_state.pop(_ASKED)


def is_shown(noun: str) -> bool:
    """Tell whether a page is the one that is shown."""
    return st.session_state.get(_SHOWN) == noun


def open_page(noun: str) -> NoReturn:
    """Leave this page for another one.

    A message of the browser that comes meanwhile names the page that is left, and its run takes the place of the one
    that would show the other page: that run goes there too.
    """
    _want(noun)
    st.switch_page(page_file(noun))


def _want(noun: str) -> None:
    st.session_state[_ASKED] = st.session_state.get(_SHOWN, ""), noun


def open_line(line: int) -> NoReturn:
    """Leave this page for a line of the text."""
    go_to_line(line)
    open_page("source")


def ask_for_page(noun: str) -> None:
    """Have a page shown in place of this one, and its dialog, when this one runs, before it shows anything.

    A button or component calls it before the script runs: what a script does for a button is lost where another run
    takes its place, and the page is not first made for nothing.
    """
    close_dialog()
    _want(noun)


def go_where_asked() -> None:
    """Go to the page that was asked for, if one was; called at the start of a page."""
    _, noun = st.session_state.get(_ASKED, ("", ""))
    if is_shown(noun):
        st.session_state.pop(_ASKED)
    elif noun in PAGES:
        open_page(noun)


def ask_for_line(line: int) -> None:
    """Have a line of the text shown in place of this page."""
    go_to_line(line)
    ask_for_page("source")


def address_of_page(noun: str) -> str:
    """Return where this server has a page, as the browser reached it, without what is shown there."""
    shown = (st.context.url or "").split("?")[0].rstrip("/")
    base = shown.removesuffix(f"/{st.session_state.get(_SHOWN, '')}")
    return f"{base}/{'' if noun == PAGES[0] else noun}"
