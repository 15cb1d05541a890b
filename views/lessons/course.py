"""The course on the Learn page: its lessons with what was done of each, codes to hand in, and who handed in what."""

from functools import partial
from itertools import groupby

import streamlit as st

from relax_core.lessons.handout import handout
from relax_core.lessons.library import LessonFile, list_lessons
from relax_core.lessons.model import Lesson
from relax_core.lessons.progress import CodeError, done_count, hand_in, read_code, score
from relax_core.lessons.slides import slides
from relax_core.present.escape import bold, literal, prose
from views.lessons.keeping import keep, progress
from views.lessons.names import offer_names
from views.lessons.steps import ask_for_step, first_open, problem
from views.shell.controls.sheet import sheet
from views.shell.navigation import ask_for_page
from views.worker.connection import client


def show_course() -> None:
    """Show the lessons by group, and what concerns all of them."""
    files = list_lessons()
    lessons = [item.lesson for item in files if item.lesson is not None]
    if not files:
        st.info("No lesson here. A lesson is a folder in `samples/lessons`.")
        return
    minutes = sum(item.minutes for item in lessons)
    points, most = sum(score(item, progress()) for item in lessons), sum(item.points for item in lessons)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="learn.course"):
        st.markdown(bold("Course"), width="content")
        words = f"{len(lessons)} lessons, {minutes} minutes, {points} of {most} points. Kept in this browser."
        st.caption(literal(words), width="content")
        st.space("stretch")
        st.button(
            "Class", key="learn.class", help="Join a class, or open one", on_click=ask_for_page, args=("classroom",)
        )
        _print(files)
        _hand_in()
        _read_codes(lessons)
    if problem():
        st.error(literal(problem()))
        offer_names(problem(), "problem")
    left = (item for item in files if item.lesson and done_count(item.lesson, progress()) < len(item.lesson.steps))
    following = next(left, None)
    for group, members in groupby(files, key=lambda item: item.lesson.group if item.lesson else "Not readable"):
        st.markdown(bold(group))
        for file in members:
            _row(file, is_next=file is following)
    keep()


def _row(file: LessonFile, *, is_next: bool) -> None:
    """Show a lesson; the first one that is not done is the one to go on with."""
    with st.container(key=f"learn.lesson.{file.name}.row", horizontal=True, vertical_alignment="center"):
        if file.lesson is None:
            st.button(literal(file.name), key=f"learn.lesson.{file.name}", disabled=True)
            first = file.problems[0]
            st.markdown(prose(f"{first.place}: {first.message}"))
            return
        lesson, done = file.lesson, done_count(file.lesson, progress())
        kind, title = "primary" if is_next else "secondary", f"{lesson.order}. {lesson.title}"
        number = 1 if done == len(lesson.steps) else first_open(file)
        key = f"learn.lesson.{file.name}"
        st.button(literal(title), key=key, type=kind, on_click=ask_for_step, args=(file, number))
        parts = [f"{lesson.minutes} minutes", f"{lesson.prediction_count} predictions"]
        if done:
            parts += [f"{done} of {len(lesson.steps)} steps", f"{score(lesson, progress())} of {lesson.points} points"]
        st.markdown(prose(f"{lesson.about} {', '.join(parts)}."))


def _print(files: tuple[LessonFile, ...]) -> None:
    """Offer a lesson as a file to be printed, and as slides, whose answers the worker computes when they are saved."""
    known = {item.lesson.title: item for item in files if item.lesson is not None}
    with st.popover("Print"):
        chosen = st.selectbox("Lesson", list(known), index=None, key="learn.print", placeholder="Choose a lesson")
        file = known.get(chosen or "")
        if file is not None and file.lesson is not None:
            page = handout(file.folder, file.lesson)
            st.download_button("Handout", page, f"{file.name}.html", key="learn.handout", on_click="ignore")
            write = partial(slides, file, file.lesson, client().request)
            name = f"{file.name}_slides.html"
            st.download_button("Slides", write, name, key="learn.slides", on_click="ignore")
            st.caption("A browser prints either to PDF.")


def _hand_in() -> None:
    with st.popover("Hand in"):
        name = st.text_input("Your name, as your teacher knows it", key="learn.name", autocomplete="off")
        st.caption("The code holds your name and what you did at each step. Nothing is sent: give it to your teacher.")
        if name.strip():
            st.code(hand_in(name, progress()), language=None, wrap_lines=True)


def _read_codes(lessons: list[Lesson]) -> None:
    with st.popover("Read codes"):
        given = st.text_area("Codes that were handed in, one in each line", key="learn.codes", height=160)
        rows: list[dict[str, str | int]] = []
        for number, line in enumerate(filter(str.strip, given.splitlines()), 1):
            try:
                found = read_code(line)
            except CodeError as error:
                st.error(prose(f"Line {number}: {error}"))
                continue
            begun = [item for item in lessons if item.name in found.progress.lessons]
            points = {item.title: score(item, found.progress) for item in begun}
            rows.append({"Name": found.name, "Points": sum(points.values()), **points})
        if rows:
            sheet(rows, key="learn.table", name="points")
