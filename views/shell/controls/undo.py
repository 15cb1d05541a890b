"""Undo of what a page replaced or removed: the values of fields of the address as they were before."""

from typing import Final

import streamlit as st

from relax_core.present.escape import literal
from views.state.session import select, selection, state
from views.state.shared import ProgramState

_MOST: Final = 30
"""As many changes are remembered."""

Values = tuple[tuple[str, str | int], ...]


def remember(what: str, *fields: str, scope: str = "") -> None:
    """Remember the values of fields of the address, which `what` is about to change.

    They are for one `scope`, by default the sample that is open.
    """
    known = selection().values()
    values = tuple((name, known[name]) for name in fields)
    scope = scope or state(ProgramState).sample
    st.session_state[_key(what)] = (scope, (*_remembered(what, scope), values)[-_MOST:])


def offer_undo(what: str, words: str, *, scope: str = "") -> None:
    """Offer to bring back the values before the latest change, if there was one in this session; `words` says which."""
    scope = scope or state(ProgramState).sample
    # It keeps its place even when there is nothing to undo: a popover that moved would open or close.
    place = st.empty()
    if _remembered(what, scope):
        place.button("Undo", key=f"{what}.undo", help=literal(words), on_click=_undo, args=(what, scope))


def _undo(what: str, scope: str) -> None:
    *others, latest = _remembered(what, scope)
    st.session_state[_key(what)] = (scope, tuple(others))
    select(**dict(latest))


def _remembered(what: str, scope: str) -> tuple[Values, ...]:
    """Return what was remembered, the latest last; nothing of another scope."""
    of, values = st.session_state.get(_key(what), ("", ()))
    return values if of == scope else ()


def _key(what: str) -> str:
    return f"{what}.before"
