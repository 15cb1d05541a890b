"""The panel of a lesson at the left of a page: its steps, the text of one, the exercise, and the way on."""

from functools import partial
from typing import Final

import streamlit as st

from relax_core.diagnostics import CompileError
from relax_core.lessons.judging import filled
from relax_core.lessons.library import LessonFile, next_lesson
from relax_core.lessons.model import POINTS, Do, Exercise, Explain, Fix, Lesson, Look, Predict, Step
from relax_core.lessons.progress import done_count, is_done, score
from relax_core.lessons.screens import program_of
from relax_core.lessons.withholding import held_back_words
from relax_core.present.escape import authored, literal, prose
from views.classroom.strip import show_strip
from views.lessons.exercises import show_exercise
from views.lessons.keeping import keep, progress
from views.lessons.names import offer_names
from views.lessons.steps import (
    ask_for_step,
    first_open,
    leave_step,
    problem,
    said,
    shown_step,
    waiting_questions,
)
from views.lessons.words import show_words
from views.shell.navigation import ask_for_page
from views.state.session import select
from views.worker.connection import ask

_DONE: Final = "✓"
_RULES: Final = (
    f"A question or a task gives {POINTS} points, one less for each hint and each wrong answer, and one at least. "
    "Show me tells the answer and gives none."
)
_STRIP: Final = "lesson.strip"
_TOO_EARLY: Final = "lesson.too_early"
"""The step that comes before the one that was chosen."""


def show_panel(file: LessonFile) -> None:
    """Show the step of a lesson that is open."""
    with st.container(key="lesson", gap="small"):
        show_strip("")
        found = shown_step(file)
        if file.lesson is None or found is None:
            _show_broken(file)
            return
        number, step = found
        _head(file, file.lesson, number)
        st.markdown(authored(f"### {step.title}"))
        if number == 1:
            st.markdown(authored(file.lesson.introduction))
            st.caption(literal(_RULES))
        try:
            st.markdown(authored(filled(step.text, ask, program_of(file.folder, step.shown))))
        except CompileError as error:
            st.error(literal(said(error.diagnostics[0])))
            offer_names(error.diagnostics[0].code, "fault")
        if problem():
            st.error(literal(problem()))
            offer_names(problem(), "problem")
        show_words(f"{file.lesson.introduction if number == 1 else ''} {step.text}")
        offer_names(f"{step.text} {step.exercise.ask if step.exercise else ''}", "text")
        show_exercise(file, number, step)
        page = step.shown.page or "source"
        if words := held_back_words(page, waiting_questions(page)):
            st.caption(literal(words))
        _show_end(file, file.lesson, number, step)
        _foot(file, file.lesson, number, step)
        keep()


def _show_broken(file: LessonFile) -> None:
    """Say why a lesson cannot be read, and where."""
    st.error(literal(f"The lesson {file.name} cannot be read."))
    for item in file.problems[:5]:
        st.markdown(literal(f"{item.place} {item.message}"))
    st.button("Close", key="lesson.close", on_click=_close)


def _close() -> None:
    select(lesson="", lesson_step=0)
    ask_for_page("learn")


def sign(exercise: Exercise | None) -> str:
    """Return the sign of a kind of step."""
    return _sign_and_word(exercise)[0]


def _sign_and_word(exercise: Exercise | None) -> tuple[str, str]:
    match exercise:
        case Predict():
            return "?", "predict"
        case Do():
            return "▷", "do"
        case Look():
            return "◎", "look"
        case Fix():
            return "✎", "fix"
        case Explain() | None:
            return "≡", "read"


def _legend(lesson: Lesson) -> str:
    """Say what the signs of the steps mean."""
    pairs = dict.fromkeys((*(_sign_and_word(step.exercise) for step in lesson.steps), (_DONE, "done")))
    return " \u2003".join(f"{mark} {word}" for mark, word in pairs)


def _head(file: LessonFile, lesson: Lesson, number: int) -> None:
    """Show the title of the lesson, its points so far, and its steps; a step opens once those before it are done."""
    known = progress()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="lesson.head"):
        st.markdown(literal(f"{lesson.order}. {lesson.title}"), width="content")
        st.space("stretch")
        st.caption(literal(f"{score(lesson, known)} of {lesson.points} points"), width="content")
        st.button("✕", key="lesson.close", help="Close the lesson", type="tertiary", on_click=_close)
    signs = (
        _DONE if is_done(step, known.of(file.name, at)) else sign(step.exercise)
        for at, step in enumerate(lesson.steps, 1)
    )
    labels = [literal(f"{at} {mark}") for at, mark in enumerate(signs, 1)]
    st.session_state[_STRIP] = labels[number - 1]
    st.segmented_control(
        "Steps",
        labels,
        key=_STRIP,
        label_visibility="collapsed",
        required=True,
        on_change=_choose,
        args=(file, number, labels),
        wrap=True,
    )
    st.caption(literal(_legend(lesson)))
    first = st.session_state.pop(_TOO_EARLY, 0)
    if first:
        st.warning(literal(f"Step {first} comes first."))


def _choose(file: LessonFile, shown: int, labels: list[str]) -> None:
    """Have the step open that was chosen, unless an earlier one is not done."""
    number, first = labels.index(st.session_state[_STRIP]) + 1, first_open(file)
    if number > first:
        st.session_state[_TOO_EARLY] = first
    elif number != shown:
        ask_for_step(file, number)


def _may_go(file: LessonFile, number: int, step: Step) -> bool:
    """Tell whether a step may be left for the next one: it was answered or shown, or is only read."""
    return not step.points or is_done(step, progress().of(file.name, number))


def _show_end(file: LessonFile, lesson: Lesson, number: int, step: Step) -> None:
    """Say at the end of a lesson what it came to, and lead to the next one of the course."""
    if number < len(lesson.steps) or not _may_go(file, number, step):
        return
    with st.container(key="lesson.end", gap="xsmall"):
        # What is only read is done when it is left.
        is_done_but_for_this = done_count(lesson, progress()) >= len(lesson.steps) - (not step.points)
        words = "The lesson is done" if is_done_but_for_this else "This is the last step"
        st.markdown(literal(f"{words}: {score(lesson, progress())} of {lesson.points} points."))
        following = next_lesson(file)
        if following is None or following.lesson is None:
            st.caption("It was the last one of the course.")
            return
        name = f"Next lesson: {following.lesson.order}. {following.lesson.title}"
        words = prose(following.lesson.about)
        st.button(literal(name), key="lesson.following", help=words, on_click=_go_on, args=(file, number, following))


def _go_on(file: LessonFile, number: int, following: LessonFile) -> None:
    """Have the next lesson open, the last step of this one done."""
    leave_step(file, number)
    ask_for_step(following, first_open(following))


def _foot(file: LessonFile, lesson: Lesson, number: int, step: Step) -> None:
    """Offer the step before, the place of this one, and the next one once this one is done."""
    may_go = _may_go(file, number, step)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="lesson.foot"):
        if number > 1:
            st.button("‹ Back", key="lesson.back", shortcut="Alt+B", on_click=ask_for_step, args=(file, number - 1))
        words = "Open again what this step shows"
        st.button("To its place", key="lesson.place", help=words, on_click=ask_for_step, args=(file, number))
        st.space("stretch")
        if number < len(lesson.steps):
            label, key, to, then = "Next ›", "lesson.next", None, partial(ask_for_step, file, number + 1, leaves=number)
        else:
            label, key, to, then = "Done", "lesson.done", "Back to the course", partial(_finish, file, number)
        st.button(
            literal(label),
            key=key,
            type="primary" if may_go else "secondary",
            disabled=not may_go,
            help=to if may_go else "Once this step is answered or shown",
            shortcut="Alt+N",
            on_click=then,
        )


def _finish(file: LessonFile, number: int) -> None:
    leave_step(file, number)
    _close()
