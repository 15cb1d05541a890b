"""Where a newcomer can begin: each system of the app, and programs that show its point at a telling moment."""

from dataclasses import dataclass

import streamlit as st

from relax_core.present.escape import literal, prose
from views.manifest import Stop
from views.manifests import MANIFESTS
from views.shell.navigation import open_page
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
    """Show a newcomer one stop of each system, in a row that can be hidden; return whether it is shown."""
    if not is_first_visit() or state(LessonState).lesson or st.session_state.get(_IS_HIDDEN):
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="tour"):
        st.caption("See what compiler passes make of a Relax, TIR or Relay program, and run it step by step.")
        for system in SYSTEMS:
            go(system, system.stops[0], f"tour.{system.name}")
        if st.button("More", key="tour.more", type="tertiary", help="Every system with its programs"):
            open_page("learn")
        st.button("✕", key="tour.hide", type="tertiary", help="Hide this row", on_click=_hide)
    return True


def go(system: System, stop: Stop, key: str) -> None:
    """Offer a stop as a button that opens it on its page."""
    if st.button(literal(stop.title), key=key, help=prose(f"{system.name}: {stop.seen}")):
        show(screen(**stop.screen))
        open_page(system.page)


def _hide() -> None:
    st.session_state[_IS_HIDDEN] = True
