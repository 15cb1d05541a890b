"""The page of a class: where one is opened or joined, and the projector of its teacher."""

from pathlib import Path

import streamlit as st

from relax_core.engine.protocol import Open
from relax_core.lessons.classroom import IDLE_SECONDS, MOST_MEMBERS, ClassError, code_of, spaced
from relax_core.lessons.library import list_lessons
from relax_core.present.escape import bold, literal
from views.classroom.membership import join, led, membership, now, open_class, room
from views.pages.classroom.projector import show_projector
from views.shell.frame import bar, page, status_line
from views.worker.connection import ask
from views.worker.program import given_program

_STYLE = Path(__file__).parent / "classroom.css"
_CHOSEN = "classroom.lesson"


def _lobby() -> None:
    """Offer to join a class or to open one."""
    with st.container(key="classroom", gap="medium"):
        left, right = st.columns(2, gap="large")
        with left, st.form("classroom.join", border=False):
            st.markdown(bold("Join a class"))
            given = st.text_input("Code", key="classroom.code", autocomplete="off", max_chars=12)
            st.caption("It stands on your teacher's screen. You have no name there: answers are counted, not kept.")
            if st.form_submit_button("Join", type="primary", key="classroom.enter") and given.strip():
                join(code_of(given))
                st.rerun()
        with right:
            st.markdown(bold("Open a class"))
            titles = {item.lesson.title: item.name for item in list_lessons() if item.lesson is not None}
            chosen = st.selectbox(
                "Lesson", list(titles), index=None, key=_CHOSEN, placeholder="None: send screens of the app"
            )
            hours = IDLE_SECONDS // 3600
            words = f"Up to {MOST_MEMBERS} browsers, until you end it or leave it for {hours} hours. Nothing is kept."
            st.caption(literal(words))
            if st.button("Open the class", key="classroom.open"):
                try:
                    open_class(titles.get(chosen or "", ""))
                except ClassError as error:
                    st.error(literal(str(error)))
                else:
                    st.rerun()


def _waiting() -> None:
    """Tell a browser that joined that nothing is shown yet."""
    known = room()
    if known is None:
        return
    with st.container(key="classroom", gap="medium"):
        st.markdown(f"### {literal(f'You are in class {spaced(known.code)}')}")
        words = "What your teacher shows opens here by itself." if not known.sent.is_set else "To the class goes back."
        st.markdown(literal(words))
        count = len(known.present(now()))
        st.caption(literal(f"{count} here. Nobody sees your text, and answers have no name."))


with page(takes_lesson=False):
    st.html(_STYLE)
    own = membership()
    led_class = led()
    if led_class is not None:
        show_projector(led_class)
    else:
        with bar("classroom"):
            pass
        if own is None:
            _lobby()
        else:
            _waiting()
        status_line(ask(Open(given_program())))
