"""A running server reads lessons and programs again that are written meanwhile."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relax_core.engine import samples
from relax_core.lessons.library import lesson_named, list_lessons

LESSON = """+++
title = "{title}"
about = "It is written in class."
minutes = 5
order = 99
program = "double.py"
+++

## The only step

Read.
"""
PROGRAM = "# title: {title}\nx = 1\n"


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what has a second pass."""
    seconds = [time.monotonic()]
    monkeypatch.setattr(samples.time, "monotonic", lambda: seconds[0])

    def wait() -> None:
        seconds[0] += 1

    return wait


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of samples with a lesson."""
    monkeypatch.setattr(samples, "SAMPLES", tmp_path)
    place = tmp_path / "lessons" / "mine"
    place.mkdir(parents=True)
    (place / "lesson.md").write_text(LESSON.format(title="First"), encoding="utf-8")
    (place / "double.py").write_text(PROGRAM.format(title="One"), encoding="utf-8")
    return place


def titles() -> list[str]:
    return [item.lesson.title if item.lesson else "" for item in list_lessons()]


def test_a_lesson_and_its_program_are_read_again_when_they_were_written(
    folder: Path, later: Callable[[], None]
) -> None:
    assert titles() == ["First"]
    assert [item.title for item in samples.list_samples()] == ["One"]
    (folder / "lesson.md").write_text(LESSON.format(title="Second"), encoding="utf-8")
    (folder / "double.py").write_text(PROGRAM.format(title="Two"), encoding="utf-8")
    later()
    assert titles() == ["Second"]
    assert [item.title for item in samples.list_samples()] == ["Two"]


def test_a_lesson_may_be_a_link_and_links_in_circles_end(
    folder: Path, later: Callable[[], None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "lesson.md").write_text(LESSON.format(title="Linked"), encoding="utf-8")
    (elsewhere / "again").symlink_to(folder.parent, target_is_directory=True)
    (folder.parent / "linked").symlink_to(elsewhere, target_is_directory=True)
    (folder / "circle").symlink_to(folder.parent, target_is_directory=True)
    later()
    assert {"First", "Linked"} <= {*titles()}
    assert {item.title for item in samples.list_samples()} == {"One"}


def test_what_was_not_written_is_not_read_again(folder: Path, later: Callable[[], None]) -> None:
    first, (program,) = lesson_named(folder.name), samples.list_samples()
    later()
    assert lesson_named(folder.name) is first
    assert samples.list_samples()[0] is program


def test_a_lesson_that_is_taken_away_is_gone_and_one_that_is_broken_says_so(
    folder: Path, later: Callable[[], None]
) -> None:
    (folder / "lesson.md").write_bytes(b"\xff no front matter")
    later()
    broken = lesson_named(folder.name)
    assert broken is not None
    assert [item.code for item in broken.problems] == ["EN032"]
    (folder / "lesson.md").unlink()
    later()
    assert lesson_named(folder.name) is None
