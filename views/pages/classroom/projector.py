"""What a teacher projects: the step in large type, its answers as they come, the timer, and the way on."""

from typing import Final

import streamlit as st

from relax_core.diagnostics import CompileError
from relax_core.lessons.classroom import Classroom, spaced
from relax_core.lessons.judging import filled, right_answer
from relax_core.lessons.library import LessonFile, lesson_named
from relax_core.lessons.model import Explain, Lesson, Predict, Step
from relax_core.lessons.projection import joining_board, live_board
from relax_core.lessons.screens import program_of
from relax_core.present.escape import authored, literal, visible
from views.classroom.membership import lead, leave, now, room
from views.lessons.panel import sign
from views.lessons.steps import ask_for_step, said
from views.shell.guide import offer_help
from views.shell.navigation import address_of_page
from views.worker.connection import ask

_STEP: Final = "classroom.step"
_SIZE: Final = "classroom.size"
_COUNTS: Final = "classroom.counts"
_SIZES: Final = (100, 120, 140)
LOOK_SECONDS: Final = 1.0
"""How often the projector looks at the counts and the timer."""
_LIVE, _LATER = "live", "after the reveal"
_MORE_SECONDS: Final = 30


def show_projector(known: Classroom) -> None:
    """Show the class as its teacher leads it."""
    file = lesson_named(known.lesson) if known.lesson else None
    lesson = None if file is None else file.lesson
    _bar(known, lesson)
    larger: int = st.session_state.get(_SIZE, 0)
    size = _SIZES[larger % len(_SIZES)]
    with st.container(key=f"projector-{size}", gap="medium"):
        if file is None or lesson is None:
            st.fragment(_gathering, run_every=LOOK_SECONDS)()
            return
        step = lesson.steps[min(known.step, len(lesson.steps)) - 1]
        left, right = st.columns([864, 560], gap="large")
        with left:
            _question(file, step, known)
        with right:
            _program(file, step, known)
    _foot(known, lesson, step)


def _bar(known: Classroom, lesson: Lesson | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="ctx"):
        title = f"Class {spaced(known.code)}" if lesson is None else f"{lesson.order}. {lesson.title}"
        st.markdown(f"**{literal(title)}**", width="content")
        if lesson is not None:
            st.caption(literal(f"step {known.step} of {len(lesson.steps)}"), width="content")
        st.space("stretch")
        if lesson is not None:
            st.segmented_control(
                "Counts", (_LIVE, _LATER), default=_LIVE, key=_COUNTS, label_visibility="collapsed", required=True
            )
        st.button("Text size +", key="classroom.larger", on_click=_larger)
        offer_help("classroom")
        with st.popover("End the class"):
            st.caption("Counts are gone then. Browsers keep what their students did.")
            if st.button("End it for everybody", type="primary", key="classroom.end"):
                leave()
                st.rerun()


def _larger() -> None:
    st.session_state[_SIZE] = (st.session_state.get(_SIZE, 0) + 1) % len(_SIZES)


def join_address(code: str) -> str:
    """Return the link by which a browser joins."""
    return f"{address_of_page('classroom')}?room={code}"


def _gathering() -> None:
    """Show how to join, to a class without a lesson."""
    known = room()
    if known is None:
        st.rerun()
    st.html(joining_board(known, join_address(known.code), now()))


def _question(file: LessonFile, step: Step, known: Classroom) -> None:
    """Show the step and, of a prediction, the answers; what it needs of the engine is asked for once."""
    program, exercise, right = program_of(file.folder, step.shown), step.exercise, ""
    asked, because = "" if exercise is None else exercise.ask, ""
    try:
        if isinstance(exercise, Predict) and known.step in known.revealed:
            right, because = right_answer(exercise, ask, program), filled(exercise.because, ask, program)
        if isinstance(exercise, Explain) and known.step in known.revealed:
            because = filled(exercise.because, ask, program)
        text, asked = filled(step.text, ask, program), filled(asked, ask, program)
    except CompileError as error:
        st.error(literal(said(error.diagnostics[0])))
        return
    kind = "Read" if exercise is None else type(exercise).__name__
    st.caption(literal(kind))
    st.markdown(authored(f"## {asked or step.title}"))
    if not asked:
        st.markdown(authored(text))
    st.fragment(_live, run_every=LOOK_SECONDS)(exercise if isinstance(exercise, Predict) else None, known.step, right)
    if because:
        st.markdown(authored(because))


def _live(exercise: Predict | None, step: int, right: str) -> None:
    """Show the timer, the counts of a prediction, and how many have answered."""
    known = room()
    if known is None:
        st.rerun()
    is_hidden = st.session_state.get(_COUNTS) == _LATER and step not in known.revealed
    link = join_address(known.code)
    st.html(live_board(known, exercise, right=right, link=link, now=now(), is_hidden=is_hidden))


def _program(file: LessonFile, step: Step, known: Classroom) -> None:
    """Show the program of the step, without its header, and the way to the page that the step is about."""
    page = step.shown.page or "source"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(literal(step.shown.program.rpartition("/")[2]), width="content")
        st.space("stretch")
        label = literal(f"Open on {page.capitalize()}")
        st.button(label, key="classroom.page", type="tertiary", on_click=ask_for_step, args=(file, known.step))
    text = program_of(file.folder, step.shown).text
    lines = [line for line in text.split("\n") if not line.startswith(("# title", "# shows", "# source"))]
    st.code("\n".join(map(visible, lines)).strip("\n"), language=None, wrap_lines=True)


def _foot(known: Classroom, lesson: Lesson, step: Step) -> None:
    labels = [literal(f"{at} {sign(item.exercise)}") for at, item in enumerate(lesson.steps, 1)]
    st.session_state[_STEP] = labels[known.step - 1]
    with st.bottom.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="classroom.foot"):
        st.segmented_control(
            "Steps",
            labels,
            key=_STEP,
            label_visibility="collapsed",
            required=True,
            on_change=lambda: _go_to(labels.index(st.session_state[_STEP]) + 1),
        )
        st.space("stretch")
        st.button(
            "‹",
            key="classroom.before",
            shortcut="PageUp",
            help="The step before",
            disabled=known.step == 1,
            on_click=_go_to,
            args=(known.step - 1,),
        )
        st.button(
            "›",
            key="classroom.next",
            shortcut="PageDown",
            help="The next step",
            disabled=known.step == len(lesson.steps),
            on_click=_go_to,
            args=(known.step + 1,),
        )
        if step.exercise is not None:
            st.button(literal(f"+{_MORE_SECONDS} s"), key="classroom.more", shortcut="t", on_click=_more_time)
        st.toggle("Follow me", value=known.is_followed, key="classroom.follow", on_change=_follow)
        st.button(
            literal(f"Everyone at step {known.step}"),
            key="classroom.everyone",
            on_click=lead,
            args=(Classroom.everyone_at_step,),
        )
        is_revealed = known.step in known.revealed or not isinstance(step.exercise, Predict | Explain)
        st.button(
            "Reveal", key="classroom.reveal", type="primary", shortcut="Enter", disabled=is_revealed, on_click=_reveal
        )


def _go_to(step: int) -> None:
    lead(lambda known: known.at(step))


def _more_time() -> None:
    lead(lambda known: known.with_time(_MORE_SECONDS, now()))


def _follow() -> None:
    is_followed = bool(st.session_state["classroom.follow"])
    lead(lambda known: known.following(is_followed=is_followed))


def _reveal() -> None:
    lead(Classroom.revealing)
