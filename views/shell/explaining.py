"""Explain this: what is selected in plain words, with the lessons that tell more and the words of the glossary."""

import streamlit as st

from relax_core.lessons.explaining import explained_node, lessons_about, operator_of
from relax_core.lessons.library import LessonFile
from relax_core.present.escape import literal, prose
from relax_core.present.models import Inspector
from views.lessons.steps import open_step
from views.lessons.words import show_words


@st.dialog("Explain this", width="large")
def explain(found: Inspector) -> None:
    """Open the paragraph of what is selected."""
    text = explained_node(found)
    st.markdown(prose(text))
    show_words(text)
    show_lessons(lessons_about(operator_of(found)))


def show_lessons(found: tuple[tuple[LessonFile, int], ...]) -> None:
    """Offer the steps of lessons that tell more."""
    if not found:
        return
    st.caption("Lessons")
    with st.container(horizontal=True, gap="xsmall"):
        for file, step in found:
            title = file.lesson.title if file.lesson else file.name
            if st.button(literal(title), key=f"explain.{file.name}"):
                open_step(file, step)
