"""Lessons are played to their end in the browser: four by default, all with `--every-lesson` (`make lessons`)."""

import pytest
from playwright.sync_api import expect

from relax_core.engine.session import Session
from relax_core.lessons.checking import check_lesson
from relax_core.lessons.library import LESSONS, open_lesson
from tests.browser import OpenPage
from tests.lesson_robot import play

# Between them every kind of step, and the pages that show text, a run, the inside of a kernel, passes and a recording.
ALWAYS = ("symbolic_shapes", "nan_hunting", "tvm_pipeline", "stepping_a_reduction")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lesson" in metafunc.fixturenames:
        every = tuple(sorted(path.parent.name for path in LESSONS.glob("*/lesson.md")))
        metafunc.parametrize("lesson", every if metafunc.config.getoption("--every-lesson") else ALWAYS)


@pytest.mark.browser
def test_a_robot_plays_a_lesson_to_its_end(open_page: OpenPage, app_url: str, lesson: str) -> None:
    file = open_lesson(LESSONS / lesson)
    assert file.lesson is not None
    page = open_page(1280, 800)
    points = play(page, app_url, file.lesson, check_lesson(file, Session().request).answers)
    count = len(file.lesson.steps)
    row = page.locator(f".st-key-learn-lesson-{lesson}-row")
    expect(row.get_by_text(f"{count} of {count} steps, {points} of {file.lesson.points} points")).to_be_visible()
