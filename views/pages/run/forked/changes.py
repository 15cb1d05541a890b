"""Changes that the user makes to a running program: each makes a fork of the run that is shown."""

import base64
import binascii
from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.components.stepper import ChangeFault, StepperAction
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import Failure, RunOf
from views.pages.run.forked.forks import forks, with_changes, written_forks
from views.pages.run.program import changes_made, digest, given_program, written
from views.shell.controls.undo import offer_undo, remember
from views.state.session import select
from views.worker.connection import ask

_ASKED: Final = "run.change"
_FAULT: Final = "run.change.fault"
_UNDO: Final = "run.changes"


def ask_for_change(action: StepperAction) -> None:
    """Keep a requested change until the page is drawn, when the engine is asked."""
    try:
        content = base64.b64decode(action.content, validate=True)
    except binascii.Error:
        content = b""
    keep_asked(ChangeAt(action.at, action.text, action.depth, action.is_in_place, content))


def keep_asked(change: ChangeAt) -> None:
    """Keep a requested change until the page is drawn."""
    st.session_state[_ASKED] = change


def make_change() -> None:
    """Run on with the requested change; if it does not fit, the reason is shown where it was written.

    A change before others makes a fork without these, beside the one that has them.
    """
    asked: ChangeAt | None = st.session_state.pop(_ASKED, None)
    if asked is None:
        return
    failure = refused(asked)
    if failure is not None:
        st.session_state[_FAULT] = (asked.text, failure.problem)
        return
    st.session_state.pop(_FAULT, None)
    remember_forks()
    changes = _with(asked)
    tree = with_changes(forks(), changes)
    select(changes=written(changes), forks=written_forks(tree), unchanged=0, time=asked.time)
    # The bar, which is drawn by now, holds the address.
    st.rerun()


def refused(asked: ChangeAt) -> Failure | None:
    """Return why the run does not go on with a change; `None` if it does."""
    reply = ask(RunOf(msgspec.structs.replace(given_program(), changes=_with(asked)), asked.time))
    return reply if isinstance(reply, Failure) else None


def _with(asked: ChangeAt) -> tuple[ChangeAt, ...]:
    """Return the changes of the run that goes on with one more: later ones belong to another run."""
    return (*(item for item in changes_made() if item.time <= asked.time), asked)


def fault() -> ChangeFault | None:
    """Return the change that did not fit, and why; only once."""
    text, problem = st.session_state.pop(_FAULT, ("", None))
    return ChangeFault(text, problem) if problem is not None else None


def remember_forks() -> None:
    """Remember the forks and which one is shown, which are about to change."""
    remember(_UNDO, "changes", "unchanged", "forks", "time", scope=digest(given_program()))


def offer_forks_back() -> None:
    """Offer to bring back the forks as they were."""
    offer_undo(_UNDO, "Bring back the forks before the latest change", scope=digest(given_program()))
