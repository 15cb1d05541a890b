"""Changes that the user makes to a running program: taking, listing and comparing them."""

import base64
import binascii
from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.components.stepper import ChangeFault, StepperAction
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import Failure, RunOf
from relax_core.present.escape import literal
from relax_core.present.models import Problem
from views.pages.run.forms import show_comparison
from views.pages.run.program import changed_program, changes_made, digest, given_program, written
from views.pages.run.state import RunState
from views.shell.controls.undo import offer_undo, remember
from views.state.session import select, state
from views.worker.connection import ask

_ASKED: Final = "run.change"
_FAULT: Final = "run.change.fault"


def ask_for_change(action: StepperAction) -> None:
    """Keep a requested change until the page is drawn, when the engine is asked."""
    try:
        content = base64.b64decode(action.content, validate=True)
    except binascii.Error:
        content = b""
    st.session_state[_ASKED] = ChangeAt(action.at, action.text, action.depth, action.is_in_place, content)


def make_change() -> None:
    """Run on with the requested change; if it does not fit, the reason is shown where it was written.

    A change before others replaces them: from then on the run is another one.
    """
    asked: ChangeAt | None = st.session_state.pop(_ASKED, None)
    if asked is None:
        return
    own = state(RunState)
    before = () if own.unchanged else tuple(item for item in changes_made() if item.time <= asked.time)
    changes = (*before, asked)
    reply = ask(RunOf(msgspec.structs.replace(given_program(), changes=changes), asked.time))
    if isinstance(reply, Failure):
        st.session_state[_FAULT] = (
            asked.text,
            reply.problems[0] if reply.problems else Problem("error", "", reply.title),
        )
        return
    st.session_state.pop(_FAULT, None)
    _remember()
    select(changes=written(changes), unchanged=0, time=asked.time)
    # The bar, which is drawn by now, holds the address.
    st.rerun()


def fault() -> ChangeFault | None:
    """Return the change that did not fit, and why; only once."""
    text, problem = st.session_state.pop(_FAULT, ("", None))
    return ChangeFault(text, problem) if problem is not None else None


def changes_form() -> None:
    """List what was changed, if anything was, lead to the run without it, and compare the two."""
    changes = changes_made()
    # It keeps its place even when empty: the popover behind it would open in the place of the list.
    with st.empty().container():
        if changes:
            _list(changes)
        else:
            _offer_undo()


def _list(changes: tuple[ChangeAt, ...]) -> None:
    own = state(RunState)
    count = f"{len(changes)} value{'' if len(changes) == 1 else 's'}"
    with st.popover(literal(f"Changed: {count}{' (not shown)' if own.unchanged else ''}")):
        for number, change in enumerate(changes):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                where = " in place" if change.is_in_place else ""
                st.code(f"time {change.time}: {change.text}{where}", language=None)
                st.button("Take back", key=f"run.change.{number}", on_click=_keep_first, args=(number,))
        _offer_undo()
        shows = st.toggle("Show the run without them", value=bool(own.unchanged), key="run.change.off")
        if shows != bool(own.unchanged):
            select(unchanged=int(shows))
            st.rerun()
        if st.button("Compare the two runs", key="run.change.compare", type="primary"):
            show_comparison(ask(CompareValuesOf(given_program(), -1, changed_program(), -1)), "run.change.compared")


def _keep_first(count: int) -> None:
    """Take back a change and all later ones, which belong to the run that it made."""
    changes = changes_made()[:count]
    _remember()
    select(changes=written(changes), unchanged=0)


def _remember() -> None:
    remember("run.changes", "changes", "unchanged", "time", scope=digest(given_program()))


def _offer_undo() -> None:
    offer_undo("run.changes", "Bring back the values before the latest change", scope=digest(given_program()))
