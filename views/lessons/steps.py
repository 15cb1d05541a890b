"""The steps of the open lesson: which one is shown, how one is opened on its page, and what is asked of the screen."""

from typing import Final, NoReturn, get_args

import msgspec
import streamlit as st

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.protocol import PropertiesOf
from relax_core.lessons.library import LessonFile, lesson_named
from relax_core.lessons.model import Look, PageName, Shown, Step
from relax_core.lessons.progress import StepRecord, is_done
from relax_core.lessons.reading import over
from relax_core.lessons.screens import Held, resolved_address
from relax_core.lessons.withholding import Question, held_for, open_questions, questions_elsewhere
from views.lessons.keeping import progress, record
from views.pages.run.state import RunState
from views.shell.navigation import is_shown, open_page
from views.state.selection import screen
from views.state.session import show, state
from views.state.shared import FocusState, LessonState, ProgramState
from views.worker.connection import ask
from views.worker.program import given_program
from views.worker.tables import table_text

_PROBLEM: Final = "lesson.problem"
_ASKED: Final = "lesson.asked"


def open_lesson_file() -> LessonFile | None:
    """Return the lesson that stands beside the page, `None` if none does."""
    name = state(LessonState).lesson
    return lesson_named(name) if name else None


def shown_step(file: LessonFile) -> tuple[int, Step] | None:
    """Return the step that is shown, with its number; `None` if the lesson cannot be read."""
    if file.lesson is None:
        return None
    number = min(max(state(LessonState).lesson_step, 1), len(file.lesson.steps))
    return number, file.lesson.steps[number - 1]


def first_open(file: LessonFile) -> int:
    """Return the number of the first step that is not done, the last one if all are."""
    steps = () if file.lesson is None else file.lesson.steps
    known = progress()
    waiting = (at for at, step in enumerate(steps, 1) if not is_done(step, known.of(file.name, at)))
    return next(waiting, len(steps))


def open_step(file: LessonFile, number: int, solution: Shown | None = None, *, done: StepRecord | None = None) -> None:
    """Open the page and the screen that a step shows, or the screen that solves its exercise.

    `done` is recorded with it: what the engine is asked for takes a while, in which a rerun may end this one.
    """
    page = _select_step(file, number, solution, done)
    if page:
        _go(page)


def ask_for_step(file: LessonFile, number: int, *, leaves: int = 0) -> None:
    """Have a step of a lesson open when a page runs, before it shows anything; `leaves` is the step that is left.

    A button calls it before the script runs: what a script does for a button is lost where another run takes its
    place, and the page is not first made for the step before.
    """
    st.session_state[_ASKED] = file.name, number, leaves


def is_step_asked() -> bool:
    """Tell whether a step was asked for that no run of the page has opened yet."""
    return _ASKED in st.session_state


def open_asked_step() -> None:
    """Open the step that was asked for, if one was: here, if this is its page; called at the start of a page."""
    name, number, leaves = st.session_state.get(_ASKED, ("", 0, 0))
    file = lesson_named(name) if name else None
    if file is None:
        st.session_state.pop(_ASKED, None)
        return
    leave_step(file, leaves)
    page = _select_step(file, number)
    if page and not is_shown(page):
        _go(page)


def _select_step(file: LessonFile, number: int, solution: Shown | None = None, done: StepRecord | None = None) -> str:
    """Select the screen of a step, and return its page; "" if it cannot be opened, of which `problem` tells.

    What the engine is asked for takes a while, in which another run may end this one: only what was opened is no
    longer asked for.
    """
    if file.lesson is None:
        st.session_state.pop(_ASKED, None)
        return ""
    step = file.lesson.steps[number - 1]
    shown = step.shown if solution is None else over(step.shown, solution)
    look = step.exercise.at if isinstance(step.exercise, Look) else ""
    try:
        address = resolved_address(ask, file.folder, shown, look)
    except CompileError as error:
        st.session_state[_PROBLEM] = said(error.diagnostics[0])
        st.session_state.pop(_ASKED, None)
        if done is not None:
            record(file.name, number, done)
        return ""
    st.session_state.pop(_PROBLEM, None)
    if done is not None:
        record(file.name, number, done)
    st.session_state.pop(_ASKED, None)
    show(screen(lesson=file.name, lesson_step=number, **address))
    return shown.page or "source"


def _go(page: str) -> NoReturn:
    open_page(page)


def leave_step(file: LessonFile, number: int) -> None:
    """Count a step that is only read as done."""
    steps = () if file.lesson is None else file.lesson.steps
    if 0 < number <= len(steps) and not steps[number - 1].points:
        record(file.name, number, StepRecord("solved"))


def problem() -> str:
    """Return why a step could not be opened, empty if it could."""
    return st.session_state.get(_PROBLEM, "")


def said(found: Diagnostic) -> str:
    """Write a diagnostic as one sentence."""
    return f"{found.code}: {found.message}. {found.hint}".strip()


def waiting_questions(page: PageName) -> tuple[Question, ...]:
    """Return the questions of the lesson beside `page` that wait for an answer which that page could tell."""
    file = open_lesson_file()
    found = None if file is None else shown_step(file)
    if file is None or file.lesson is None or found is None:
        return ()
    number, step = found
    if (step.shown.page or "source") != page:
        return questions_elsewhere(file.lesson, number, page, progress())
    return open_questions(file.lesson, number, progress())


def waits_elsewhere(noun: str) -> int:
    """Return the step whose answer a page could tell that the lesson does not show; 0 if there is none."""
    file = open_lesson_file()
    found = None if file is None else shown_step(file)
    pages: dict[str, PageName] = {page: page for page in get_args(PageName)}
    if found is None or noun not in pages or noun in (found[1].shown.page or "source", "source"):
        return 0
    questions = waiting_questions(pages[noun])
    return questions[0].number if questions else 0


def waiting(page: PageName) -> str:
    """Say which answer a page waits for that tells less; empty if it waits for none."""
    file, questions = open_lesson_file(), waiting_questions(page)
    found = None if file is None else shown_step(file)
    if found is None or not questions:
        return ""
    first = questions[0].number
    return "Waiting for your answer" if first == found[0] else f"Waiting for step {first}"


def held_back(page: PageName) -> Held | None:
    """Return where `page` stops for questions of the lesson beside it that wait for an answer, `None` if none do."""
    file, questions = open_lesson_file(), waiting_questions(page)
    found = None if file is None else shown_step(file)
    if file is None or found is None:
        return None
    if questions and (found[1].shown.page or "source") != page:
        return Held(stage=0, time=0, clock=0)
    try:
        return held_for(ask, file.folder, found[1], found[0], questions)
    except CompileError:
        return None


def screen_question(shown: Shown) -> PropertiesOf:
    """Return the question about what is on the screen, without properties, with the table that the step works with."""
    focus, program = state(FocusState), given_program()
    if shown.table and not program.tables:
        program = msgspec.structs.replace(program, tables=table_text(state(ProgramState), program.text))
    run = state(RunState)
    clock = run.clock if run.inside >= 0 else -1
    return PropertiesOf(program, (), stage=focus.stage, time=run.time, node=focus.node, clock=clock)
