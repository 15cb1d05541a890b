"""What this session is in a class: its teacher, or one of the browsers that joined; and what it tells the class."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

import streamlit as st

from relax_core.lessons.classroom import ClassError, Classroom, Destination
from relax_core.lessons.progress import StepRecord
from views.classroom.store import store
from views.state.session import complain, select, state
from views.state.shared import LessonState

_KEY: Final = "class.membership"
_FOLLOWED: Final = "class.followed"
_NOTICE: Final = "class.notice"


@dataclass(frozen=True, slots=True)
class Membership:
    """The part that this session has in a class: `token` is the teacher's secret, or the name of a browser."""

    role: Literal["teacher", "member"]
    code: str
    token: str

    @property
    def is_teacher(self) -> bool:
        """Tell whether this session leads the class."""
        return self.role == "teacher"

    def to_text(self) -> str:
        """Write it for the storage of the tab."""
        return f"{self.role} {self.code} {self.token}"

    def is_in(self, known: Classroom) -> bool:
        """Tell whether a class knows of this part."""
        return self.token == known.secret if self.is_teacher else self.token in known.members


def membership() -> Membership | None:
    """Return the part that this session has in a class, `None` if it is in none."""
    found = st.session_state.get(_KEY)
    return found if isinstance(found, Membership) else None


def restore(text: str, code: str) -> None:
    """Take up the part that this tab had in the class of `code` before it was loaded again; a newcomer joins."""
    match text.split():
        case ["teacher", known, token] if known == code and _secret_of(code) == token:
            _enter(Membership("teacher", code, token))
        case ["member", known, token] if known == code:
            join(code, token)
        case _:
            join(code)


def _secret_of(code: str) -> str:
    found = store().find(code)
    return "" if found is None else found.secret


def open_class(lesson: str) -> None:
    """Open a class and lead it.

    Raises:
        ClassError: the server holds as many as it may.
    """
    opened = store().open(lesson)
    _enter(Membership("teacher", opened.code, opened.secret))


def join(code: str, token: str = "") -> None:
    """Join a class; that there is none, or that it is full, is said on the page."""
    token = token or secrets.token_urlsafe(8)
    try:
        store().change(code, lambda room: room.heard(token, 0, store().now()))
    except ClassError as error:
        select(room="")
        complain(str(error))
        return
    _enter(Membership("member", code, token))


def _enter(entered: Membership) -> None:
    st.session_state[_KEY] = entered
    st.session_state[_FOLLOWED] = 0
    select(room=entered.code)


def leave() -> None:
    """Leave the class; one that its teacher leaves is over."""
    own = membership()
    if own is None:
        return
    if own.is_teacher and _secret_of(own.code) == own.token:
        store().end(own.code)
    elif store().find(own.code) is not None:
        store().change(own.code, lambda room: room.left(own.token))
    _forget()


def _forget() -> None:
    st.session_state.pop(_KEY, None)
    st.session_state.pop(_FOLLOWED, None)
    select(room="")


def room() -> Classroom | None:
    """Say that this session is there, and return the class as it is; one that has ended is left, and that is said."""
    own = membership()
    if own is None:
        return None
    try:
        found = store().change(own.code, heard_from(own, *shown(), store().now()))
    except ClassError:
        _forget()
        complain("The class has ended, and its counts are gone. What you did is kept in this browser.")
        return None
    return found


def shown() -> tuple[str, int]:
    """Return the lesson that this session shows, and the step of it."""
    return state(LessonState).lesson, state(LessonState).lesson_step


def heard_from(own: Membership, lesson: str, step: int, now: float) -> Callable[[Classroom], Classroom]:
    """Return the change of a class by which it hears that a browser is there, and shows a step of a lesson."""

    def heard(known: Classroom) -> Classroom:
        if own.is_teacher:
            return replace(known, led_at=now)
        return known.heard(own.token, step if lesson == known.lesson else 0, now)

    return heard


def follow_again() -> None:
    """Go once more where the teacher has sent everybody."""
    st.session_state[_FOLLOWED] = 0


def led() -> Classroom | None:
    """Return the class that this session leads, `None` if it leads none."""
    own = membership()
    found = room() if own is not None and own.is_teacher else None
    return found if found is not None and own is not None and found.secret == own.token else None


def lead(change: Callable[[Classroom], Classroom]) -> None:
    """Change the class that this session leads."""
    known = led()
    if known is not None:
        store().change(known.code, change)


def followed() -> int:
    """Return the last call that this session has followed, 0 for none."""
    return st.session_state.get(_FOLLOWED, 0)


def call_to_follow(known: Classroom) -> Destination | None:
    """Return where the teacher has sent everybody since this session last asked, `None` if nowhere."""
    own = membership()
    if own is None or own.is_teacher or known.call <= followed():
        return None
    st.session_state[_FOLLOWED] = known.call
    return known.sent


def report(lesson: str, step: int, done: StepRecord) -> None:
    """Tell the class what was answered at a step of its lesson, without a name."""
    own = membership()
    known = None if own is None else store().find(own.code)
    given = done.answer or ("done" if done.state == "solved" else "")
    if own is None or own.is_teacher or known is None or known.lesson != lesson or not given:
        return
    now = store().now()
    if known.is_open(step, now):
        store().change(own.code, lambda room: room.answered(own.token, step, given, now))


def awaited(lesson: str, step: int) -> bool:
    """Tell whether answers to a step are collected by a class, so that none is judged before its reveal."""
    own = membership()
    known = None if own is None or own.is_teacher else store().find(own.code)
    return known is not None and known.lesson == lesson and step not in known.revealed


def takes_answers(lesson: str, step: int) -> bool:
    """Tell whether an answer to a step would be taken: no class collects them, or its time is not over."""
    own = membership()
    known = None if own is None or own.is_teacher else store().find(own.code)
    return known is None or known.lesson != lesson or known.is_open(step, store().now())


def now() -> float:
    """Return the time by the clock of the classes."""
    return store().now()
