"""The way from a page to another one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, NoReturn

import streamlit as st

from views import PAGES
from views.state.dialogs import close_dialog
from views.state.session import go_to_line

_SHOWN: Final = "page.shown"
_WAY: Final = "page.way"
_LATE_SECONDS: Final = 1.0
"""A message is so late at most; who goes back by the browser's own button within this time is sent on once more."""


@dataclass(frozen=True, slots=True)
class _Way:
    """The way from a page to another one, which a run that the browser asked for meanwhile may have interrupted.

    A message that was sent before the browser knew of the way names the page that is left, and has its `address`. It
    may come as late as `arrived`, when the other page began to run.
    """

    left: str
    wanted: str
    address: Mapping[str, str]
    arrived: float | None = None

    def is_crossed_by(self, noun: str) -> bool:
        """Tell whether a run of a page answers such a message, and is no way of the visitor's own."""
        if noun != self.left or self.arrived is None:
            return noun == self.left
        return monotonic() - self.arrived < _LATE_SECONDS and dict(st.query_params) == self.address


def page_file(noun: str) -> str:
    """Return the script of a page, relative to `app.py`."""
    return f"views/pages/{noun}/page.py"


def note_page(noun: str) -> None:
    """Take note of which page is shown; one that the visitor turned to ends the way to another."""
    st.session_state[_SHOWN] = noun
    way: _Way | None = st.session_state.get(_WAY)
    if way is None:
        return
    if noun == way.wanted:
        st.session_state[_WAY] = replace(way, arrived=way.arrived or monotonic())
    elif not way.is_crossed_by(noun):
        st.session_state.pop(_WAY)


def is_shown(noun: str) -> bool:
    """Tell whether a page is the one that is shown."""
    return st.session_state.get(_SHOWN) == noun


def open_page(noun: str) -> NoReturn:
    """Leave this page for another one."""
    _want(noun)
    st.switch_page(page_file(noun))


def _want(noun: str) -> None:
    st.session_state[_WAY] = _Way(st.session_state.get(_SHOWN, ""), noun, dict(st.query_params))


def open_line(line: int) -> NoReturn:
    """Leave this page for a line of the text."""
    go_to_line(line)
    open_page("source")


def ask_for_page(noun: str) -> None:
    """Have a page shown in place of this one, and its dialog, by the run that comes, before it shows anything.

    A button or component calls it before the script runs: what a script does for a button is lost where another run
    takes its place, and the page is not first made for nothing.
    """
    close_dialog()
    _want(noun)


def go_where_asked() -> None:
    """Go to the page that was asked for, if one was; called at the start of each run."""
    way: _Way | None = st.session_state.get(_WAY)
    if way is not None and not is_shown(way.wanted) and way.wanted in PAGES:
        open_page(way.wanted)


def ask_for_line(line: int) -> None:
    """Have a line of the text shown in place of this page."""
    go_to_line(line)
    ask_for_page("source")


def address_of_page(noun: str) -> str:
    """Return where this server has a page, as the browser reached it, without what is shown there."""
    shown = (st.context.url or "").split("?")[0].rstrip("/")
    base = shown.removesuffix(f"/{st.session_state.get(_SHOWN, '')}")
    return f"{base}/{'' if noun == PAGES[0] else noun}"
