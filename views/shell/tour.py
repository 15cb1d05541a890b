"""Where a newcomer can begin: each system of the app, and programs that show its point at a telling moment."""

from dataclasses import dataclass

import streamlit as st

from relax_core.lessons.library import list_lessons
from relax_core.present.escape import literal, prose
from views.lessons.steps import ask_for_step
from views.manifest import Stop
from views.manifests import MANIFESTS
from views.shell.navigation import ask_for_page
from views.state.selection import screen
from views.state.session import is_first_visit, show, state
from views.state.shared import LessonState

_IS_HIDDEN = "tour.hidden"


@dataclass(frozen=True, slots=True)
class System:
    """A page, the question that it answers, and its stops; the first one is offered at once."""

    page: str
    question: str
    stops: tuple[Stop, ...]

    @property
    def name(self) -> str:
        """The title of the page."""
        return self.page.capitalize()


SYSTEMS = tuple(System(noun, item.question, item.stops) for noun, item in MANIFESTS.items() if item.stops)


def offer() -> bool:
    """Show a newcomer the course and one stop of each system, in rows that can be hidden; return whether they are."""
    if not is_first_visit() or state(LessonState).lesson or st.session_state.get(_IS_HIDDEN):
        return False
    with st.container(gap="xsmall", key="tour"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tour.course"):
            st.caption("See what compiler passes make of a Relax, TIR or Relay program, and run it step by step.")
            _first_lesson()
            label = "Learn: all lessons and programs"
            st.button(label, key="tour.more", type="tertiary", on_click=ask_for_page, args=("learn",))
            st.button("✕", key="tour.hide", type="tertiary", help="Hide these rows", on_click=_hide)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tour.stops"):
            for system in SYSTEMS:
                go(system, system.stops[0], f"tour.{system.name}")
    return True


def _first_lesson() -> None:
    """Offer to begin the course."""
    file = next((item for item in list_lessons() if item.lesson is not None), None)
    if file is None or file.lesson is None:
        return
    words = prose(f"{file.lesson.title}: {file.lesson.minutes} minutes, with questions that the engine checks")
    label = literal(f"Begin with lesson {file.lesson.order}")
    st.button(label, key="tour.lesson", help=words, on_click=ask_for_step, args=(file, 1))


def go(system: System, stop: Stop, key: str) -> None:
    """Offer a stop as a button that opens it on its page."""
    words = prose(f"{system.name}: {stop.seen}")
    st.button(literal(stop.title), key=key, help=words, on_click=_open, args=(system, stop))


def _open(system: System, stop: Stop) -> None:
    show(screen(**stop.screen))
    ask_for_page(system.page)


def _hide() -> None:
    st.session_state[_IS_HIDDEN] = True
