"""A page that the step of a lesson does not show, while it could tell the answer that the step asks for."""

import streamlit as st

from relax_core.engine.protocol import Open
from relax_core.present.escape import literal
from views.lessons.alone import show_alone
from views.lessons.steps import ask_for_step, open_lesson_file, waits_elsewhere
from views.shell.frame import bar, chip, page, status_line
from views.worker.connection import ask
from views.worker.program import given_program


def show_elsewhere(noun: str) -> None:
    """Show the program alone in place of a page, and the way back to the step."""
    with page():
        file, number = open_lesson_file(), waits_elsewhere(noun)
        if file is None or not number:
            # A step was opened, or the browser said what is answered.
            st.rerun()
        with bar(noun):
            chip(f"Waiting for step {number}", "blue")
            words = "This page could tell what the step asks. It comes back with the answer."
            label = literal(f"Back to step {number}")
            st.button(label, key="lesson.return", help=words, on_click=ask_for_step, args=(file, number))
        show_alone(noun, ask(Open(given_program())))
        status_line(None)
