"""Every lesson is played to its end: each answer is computed by the engine, each other one is refused."""

from functools import cache

import pytest

from relax_core.engine.session import Session
from relax_core.lessons.checking import Checked, check_lesson, screen_message
from relax_core.lessons.judging import are_held, is_right, not_of_kind
from relax_core.lessons.library import LESSONS, LessonFile, list_lessons, open_lesson
from relax_core.lessons.model import Fix, Lesson, Predict, Shown
from relax_core.lessons.reading import over

NAMES = tuple(sorted(path.parent.name for path in LESSONS.glob("*/lesson.md")))
SESSION = Session()
LEAST_PREDICTIONS = 4


@cache
def played(name: str) -> tuple[LessonFile, Checked]:
    file = open_lesson(LESSONS / name)
    return file, check_lesson(file, SESSION.request)


def lesson_of(name: str) -> Lesson:
    lesson = played(name)[0].lesson
    assert lesson is not None, [item.render() for item in played(name)[1].problems]
    return lesson


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_can_be_played_to_its_end(name: str) -> None:
    lesson, checked = lesson_of(name), played(name)[1]
    assert not checked.problems, "\n".join(item.render() for item in checked.problems)
    assert len(checked.answers) == len(lesson.steps)
    assert lesson.prediction_count >= LEAST_PREDICTIONS


@pytest.mark.parametrize("name", NAMES)
def test_the_right_answers_are_taken_and_others_refused(name: str) -> None:
    lesson, checked = lesson_of(name), played(name)[1]
    for step, answered in zip(lesson.steps, checked.answers, strict=True):
        exercise = step.exercise
        if not isinstance(exercise, Predict):
            continue
        kind, right = exercise.answer_kind, answered.answer
        assert is_right(kind, right, right), step.title
        assert not_of_kind(kind, right) == not_of_kind(kind, f"{right}7") == "", step.title
        match kind:
            case "choice":
                others = [choice for choice in exercise.choices if choice != right]
            case "order":
                others = [", ".join(reversed(right.split(", ")))]
            case _:
                others = ["", f"{right}7", "0.5" if right != "0.5" else "1"]
        assert others, step.title
        assert not any(is_right(kind, other, right) for other in others), (step.title, right)


@pytest.mark.parametrize("name", NAMES)
def test_no_other_program_of_the_lesson_is_a_mended_one(name: str) -> None:
    """A condition that any program fulfils asks for nothing."""
    file, lesson = played(name)[0], lesson_of(name)
    programs = sorted({step.shown.program for step in lesson.steps})
    for step in lesson.steps:
        if not isinstance(step.exercise, Fix):
            continue
        for other in programs:
            if other != step.exercise.solution:
                message = screen_message(file.folder, over(step.shown, Shown(program=other)), SESSION.request)
                is_mended = are_held(step.exercise.holds, SESSION.request, file.folder, message, step.shown)
                assert not is_mended, (step.title, other)


def test_the_course_has_an_order_and_each_lesson_needs_only_earlier_ones() -> None:
    lessons = [lesson_of(item.name) for item in list_lessons()]
    assert [lesson.order for lesson in lessons] == sorted({lesson.order for lesson in lessons})
    order = {lesson.name: lesson.order for lesson in lessons}
    for lesson in lessons:
        assert all(order[name] < lesson.order for name in lesson.needs), lesson.name
