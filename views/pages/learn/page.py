"""The Learn page: the course, then each system of the app with its question and programs that show its point."""

import streamlit as st

from relax_core.engine.protocol import Open
from relax_core.present.escape import literal, prose
from views.lessons.course import show_course
from views.shell.frame import bar, page, status_line
from views.shell.tour import SYSTEMS, System, go
from views.worker.connection import ask
from views.worker.program import given_program, samples

_INTRODUCTION = (
    "RelaxScope reads what TVM prints, Relax, TIR or Relay, and needs no TVM. It shows what every pass makes of a "
    "program, and runs it step by step. Open one of these, or paste a program of your own on the Source page."
)


def _show(system: System) -> None:
    left, right = st.columns([3, 10], gap="medium")
    with left:
        st.markdown(f"**{literal(system.name)}**  \n:small[{literal(system.question)}]")
    with right, st.container(key=f"learn.{system.name}"):
        for number, stop in enumerate(system.stops):
            key = f"learn.{system.name}.{number}"
            with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.row"):
                go(system, stop, key)
                st.markdown(prose(stop.seen))


with page(takes_lesson=False):
    with bar("learn"):
        st.caption(literal(f"{len(samples()):,} programs in the box at the left"), width="content")
    with st.container(key="learn", gap="medium"):
        show_course()
        st.markdown(_INTRODUCTION)
        for system in SYSTEMS:
            _show(system)
    source = ask(Open(given_program()))
    status_line(source)
