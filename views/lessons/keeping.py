"""The progress of lessons in this session, and in the browser's storage once it said what it has."""

from typing import Final

import streamlit as st

from relax_core.lessons.progress import Progress, StepRecord, from_text, to_text
from views.classroom.membership import report
from views.lessons.keeper.component import KeeperAction, Kept, keeper

_PROGRESS: Final = "lesson.progress"
_HEARD: Final = "lesson.heard"


def progress() -> Progress:
    """Return what the student has done."""
    return from_text(st.session_state.get(_PROGRESS, "{}"))


def record(lesson: str, step: int, done: StepRecord) -> None:
    """Keep what was done at a step, and tell it to the class whose lesson it is, without a name."""
    report(lesson, step, done)
    st.session_state[_PROGRESS] = to_text(progress().with_record(lesson, step, done))


def _on_kept(action: KeeperAction) -> None:
    st.session_state[_HEARD] = 1
    st.session_state[_PROGRESS] = to_text(progress().over(from_text(action.text)))


def keep() -> None:
    """Have the browser keep the progress; what it had kept before is merged with what the session has."""
    known = st.session_state.get(_PROGRESS, "{}") if st.session_state.get(_HEARD) else ""
    keeper(Kept(known), key="lesson.keeper", on_action=_on_kept)
