"""What the page beside a step holds back: what questions ask for that are not answered, of this step and of later ones.

A later question counts if it stands beside the same page, about the same program: an answer brings back what it was
about, and not what is asked next.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from relax_core.lessons.model import Do, Fix, Lesson, PageName, Predict, Shown, Step
from relax_core.lessons.progress import Progress, StepRecord
from relax_core.lessons.reading import over
from relax_core.lessons.screens import Ask, Held, held_at

_RUN: Final = (
    "program", "pipeline", "entry", "dims", "table", "mode", "as_in", "unwritten", "poisoned", "seed", "signed",
    "rules",
)  # fmt: skip
"""What decides how a program is compiled and runs."""
_COMPUTING: Final = ("passes", "run", "partition", "devices", "kernels")
"""Pages that tell what becomes of a program."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction that waits for its answer, and the step that asks it, counted from 1."""

    number: int
    step: Step
    exercise: Predict


def is_waiting(record: StepRecord) -> bool:
    """Tell whether the answer of a prediction is still to come; what a class has not revealed is."""
    return record.state not in ("solved", "shown")


def open_questions(lesson: Lesson, number: int, progress: Progress) -> tuple[Question, ...]:
    """Return the predictions that wait for an answer and that the page beside a step could tell, in order.

    A program that is to be mended is the student's own, of which everything is shown.
    """
    own = lesson.steps[number - 1]
    if isinstance(own.exercise, Fix):
        return ()
    return tuple(_waiting(lesson, number, own.shown, progress))


def questions_elsewhere(lesson: Lesson, number: int, page: PageName, progress: Progress) -> tuple[Question, ...]:
    """Return the predictions that wait for an answer and that another page than the step's could tell, in order.

    The student comes there by the menu, with the program of the step: what it computes is told by each page of
    programs. A recording is told by its own page alone, and the Source page tells types and problems.
    """
    own = lesson.steps[number - 1]
    if isinstance(own.exercise, Fix):
        return ()
    beside = msgspec.structs.replace(own.shown, page=page)
    return tuple(
        question
        for question in _waiting(lesson, number, beside, progress)
        if page == "source" or (page in _COMPUTING and question.step.shown.page != "pipeline")
    )


def _waiting(lesson: Lesson, number: int, beside: Shown, progress: Progress) -> Iterator[Question]:
    for at, step in enumerate(lesson.steps[number - 1 :], number):
        if not isinstance(step.exercise, Predict) or not is_waiting(progress.of(lesson.name, at)):
            continue
        if at == number or _tells(beside, step.shown):
            yield Question(at, step, step.exercise)


def _tells(beside: Shown, asked: Shown) -> bool:
    """Tell whether a screen is of the page and the program that another screen asks about."""
    match beside.page:
        case "source":
            deciding = ("program",)
        case "pipeline":
            deciding = ("recording",)
        case _:
            deciding = _RUN
    return beside.page == asked.page and all(getattr(beside, name) == getattr(asked, name) for name in deciding)


def held_back_words(page: PageName, questions: tuple[Question, ...]) -> str:
    """Say what a page holds back for questions, and for which; empty if it says so itself, or holds nothing back."""
    if page == "run":
        return f"The run goes on once {_steps(questions)} answered." if questions else ""
    if page != "source":
        return ""
    types = tuple(question for question in questions if question.exercise.is_of_types)
    problems = tuple(question for question in questions if question.exercise.is_of_problems)
    parts = (("The types of values come", types), ("What the checker finds comes", problems))
    return " ".join(f"{what} back once {_steps(of)} answered." for what, of in parts if of)


def _steps(questions: tuple[Question, ...]) -> str:
    """Name the steps of questions, with the verb: `steps 3 and 4 are`."""
    *others, last = (str(question.number) for question in questions)
    return f"steps {', '.join(others)} and {last} are" if others else f"step {last} is"


def held_for(ask: Ask, folder: Path, step: Step, number: int, questions: tuple[Question, ...]) -> Held | None:
    """Return how far the page beside a step may be followed, `None` if it may be to its end.

    That is up to the screen of a step that asks. Beside a step that was answered, or that asks nothing, it is up to
    the first screen at which a later one asks, and at least to what this one reveals or has as its solution.

    Raises:
        CompileError: a screen names a program, variable or pass that does not exist.
    """
    if not questions:
        return None
    own = held_at(ask, folder, _furthest(step, is_asking=questions[0].number == number))
    if questions[0].number == number:
        return own
    later = [held_at(ask, folder, question.step.shown) for question in questions]
    stage = max(own.stage, min(item.stage for item in later))
    time, clock = max((own.time, own.clock), min((item.time, item.clock) for item in later))
    return Held(stage, time, clock, own.tab)


def _furthest(step: Step, *, is_asking: bool) -> Shown:
    """Return the furthest screen that a step leads to."""
    match step.exercise:
        case Predict() as exercise if not is_asking:
            revealed = exercise.revealed(step.shown.page)
            return step.shown if revealed is None else over(step.shown, revealed)
        case Do(solution=solution):
            return over(step.shown, solution)
        case _:
            return step.shown
