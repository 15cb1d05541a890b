"""Explain this: what is selected or named in plain words, with lessons that tell more and words of the glossary."""

import streamlit as st

from relax_core.engine.protocol import ExplanationsOf, Failure, Open, SourceView
from relax_core.lessons.explaining import explained_node, lessons_on, operator_of
from relax_core.lessons.library import LessonFile
from relax_core.present.catalog_of.catalog_models import Explanation, Explanations
from relax_core.present.escape import badge, bullets, literal, prose
from relax_core.present.models import Inspector
from views.lessons.steps import ask_for_step
from views.lessons.words import show_words
from views.shell.references import show_references
from views.state.dialogs import ask_for_meaning, close_dialog, leave_dialog
from views.worker.connection import ask
from views.worker.program import given_program


def explain_node(found: Inspector) -> None:
    """Open the paragraph of what is selected, and what its operator is."""
    operator = operator_of(found)
    ask_for_meaning(*((operator,) if operator else ()), about=explained_node(found))


def explain(names: tuple[str, ...], about: str) -> None:
    """Show what some names mean in the language of the program; `about` is the sentence that uses them."""
    source = ask(Open(given_program()))
    is_relay = isinstance(source, SourceView) and source.code.language == "relay"
    _explain(about, ask(ExplanationsOf(names, "relay" if is_relay else "relax")) if names else None)


def show_meanings(name: str) -> None:
    """Show what a name means, or which other name may be meant."""
    _show(ask(ExplanationsOf((name,))))


@st.dialog("Explain this", width="large", on_dismiss=close_dialog)
def _explain(text: str, found: Explanations | Failure | None) -> None:
    if text:
        st.markdown(prose(text))
    _show(found, text)


def _show(found: Explanations | Failure | None, text: str = "") -> None:
    """Show what was found, with the words of the glossary that it and a text before it use, and lessons."""
    if isinstance(found, Failure):
        for problem in found.problems:
            st.markdown(prose(f"{problem.message[:1].upper()}{problem.message[1:]}. {problem.hint}"))
    items = found.found if isinstance(found, Explanations) else ()
    for item in items:
        _show_one(item)
    show_words(" ".join((text, *(item.text for item in items))))
    show_lessons(tuple(place for item in items for place in lessons_on(item)))
    show_references(items)


def _show_one(item: Explanation) -> None:
    st.markdown(f"{prose(f'`{item.name}`')} {badge(item.kind, 'gray')}")
    for paragraph in item.text.split("\n\n"):
        st.markdown(prose(paragraph))
    if item.facts:
        st.markdown(bullets(f"{label}: {fact}" for label, fact in item.facts))


def show_lessons(found: tuple[tuple[LessonFile, int], ...]) -> None:
    """Offer the steps of lessons that tell more."""
    if not found:
        return
    st.caption("Lessons")
    with st.container(horizontal=True, gap="xsmall"):
        for file, step in {file.name: (file, step) for file, step in reversed(found)}.values():
            title = file.lesson.title if file.lesson else file.name
            key = f"explain.{file.name}"
            if st.button(literal(title), key=key, on_click=ask_for_step, args=(file, step)):
                # A dialog runs by itself: the lesson is opened by the page.
                leave_dialog()
