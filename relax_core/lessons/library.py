"""The lessons of the folder `samples/lessons`: found, read, and put in the order of the course."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.samples import SAMPLES, Stamps, stamps_below
from relax_core.lessons.model import Lesson
from relax_core.lessons.reading import read_lesson
from relax_core.source import Source

LESSONS: Final = SAMPLES / "lessons"
FILE: Final = "lesson.md"


@dataclass(frozen=True, slots=True, eq=False)
class LessonFile:
    """The file of a lesson: the lesson, or what is wrong with it."""

    folder: Path
    source: Source
    lesson: Lesson | None
    problems: tuple[Diagnostic, ...] = field(default=())

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name


def open_lesson(folder: Path) -> LessonFile:
    """Read the lesson of a folder.

    Raises:
        OSError: the folder has no file `lesson.md` that can be read.
    """
    source = Source(f"{folder.name}/{FILE}", (folder / FILE).read_text(encoding="utf-8", errors="replace"))
    try:
        return LessonFile(folder, source, read_lesson(folder.name, source))
    except CompileError as error:
        return LessonFile(folder, source, None, error.diagnostics)


def list_lessons() -> tuple[LessonFile, ...]:
    """Return the lessons in the order of the course, those that cannot be read last.

    A lesson that is written while the server runs is read again.
    """
    return _lessons(stamps_below(f"{LESSONS.name}/*/{FILE}"))


@lru_cache(maxsize=1)
def _lessons(stamps: Stamps) -> tuple[LessonFile, ...]:
    found = (open_lesson(stamp.path.parent) for stamp in stamps.files)
    return tuple(sorted(found, key=lambda item: (item.lesson is None, item.lesson.order if item.lesson else 0)))


def lesson_named(name: str) -> LessonFile | None:
    """Return the lesson of a name, `None` if there is none."""
    return next((item for item in list_lessons() if item.name == name), None)


def next_lesson(file: LessonFile) -> LessonFile | None:
    """Return the lesson that follows one in the course, `None` behind the last one."""
    files = [item for item in list_lessons() if item.lesson is not None]
    later = (item for item, before in zip(files[1:], files, strict=False) if before.name == file.name)
    return next(later, None)
