"""The dialog that is open: every run of its page shows it, until its user closes or leaves it.

A message of a component may have the page run again at any time, and Streamlit closes a dialog that the latest run did
not show.
"""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from views.state.session import shown_page

CHOSEN_GUIDE: Final = "guide.chosen"
"""Under which the session keeps the document that is shown, by its path below `docs/`."""

_OPEN: Final = "dialog"
_PAGE: Final = "dialog.page"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What names mean; `about` is the sentence that uses them. A diagnostic code alone opens its paragraph."""

    names: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents, one of which is shown, with the keys."""


@dataclass(frozen=True, slots=True)
class PageDialog:
    """A dialog that only one page has, by its name, and the text that it is about."""

    name: str
    text: str = ""


Dialog = Meaning | Documents | PageDialog


def ask_for_meaning(*names: str, about: str = "") -> None:
    """Open what some names mean; `about` is the sentence that uses them."""
    ask_for(Meaning(names, about))


def ask_for_guide(path: str) -> None:
    """Open a document, by its path below `docs/`."""
    st.session_state[CHOSEN_GUIDE] = path
    ask_for(Documents())


def ask_for(dialog: Dialog) -> None:
    """Open a dialog in place of the one that is open, on the page that is shown next."""
    st.session_state[_OPEN] = dialog
    st.session_state.pop(_PAGE, None)


def open_dialog() -> Dialog | None:
    """Return the dialog that is open on this page; one of a page that was left is closed."""
    found: Dialog | None = st.session_state.get(_OPEN)
    page = shown_page()
    if found is not None and st.session_state.setdefault(_PAGE, page) != page:
        close_dialog()
        return None
    return found


def page_dialog(name: str) -> PageDialog | None:
    """Return the dialog of that name if it is open on this page."""
    found = open_dialog()
    return found if isinstance(found, PageDialog) and found.name == name else None


def close_dialog() -> None:
    """Close the dialog that is open."""
    st.session_state.pop(_OPEN, None)
    st.session_state.pop(_PAGE, None)


def leave_dialog() -> None:
    """Have the page run without the dialog: what it led to is shown there."""
    close_dialog()
    st.rerun()
