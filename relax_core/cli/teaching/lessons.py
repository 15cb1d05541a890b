"""The command about lessons: check a lesson, print its handout or slides, read the codes that students hand in."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from relax_core.cli.terminal import DIAGNOSED, Commands, Engine, UsageError, complain, read_text, say
from relax_core.lessons import checking, handout, library, progress, slides

_WHAT: Final = (
    "check: play lessons to their end, and say what is wrong with them; handout: print a lesson as an HTML file; "
    "slides: print it as an HTML file of slides; "
    "codes: read the codes that were handed in, a file with one in each line"
)
_CODES: Final = "codes"


def add_lessons(command: Commands) -> None:
    """Add the command."""
    made = command("lesson", "Check and print lessons, and read what was handed in.", _lesson)
    made.add_argument("what", choices=(*_ACTIONS, _CODES), help=_WHAT)
    made.add_argument("given", nargs="+", metavar="PATH", help="folders of lessons, each with a `lesson.md`, or files")
    made.add_argument("--answers", action="store_true", help="handout: with the answers on a last page")


def _lesson(engine: Engine, options: argparse.Namespace) -> int:
    if options.what == _CODES:
        return max([_codes(read_text(path)) for path in options.given])
    files = [_file(folder) for folder in options.given]
    return max([_ACTIONS[options.what](engine, file, options.answers) for file in files])


def _file(folder: str) -> "library.LessonFile":
    try:
        return library.open_lesson(Path(folder).resolve())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder} has no {library.FILE} that can be read: {error}") from None


def _check(engine: Engine, file: "library.LessonFile", _has_answers: object) -> int:
    found = checking.check_lesson(file, engine.request)
    say(found.to_text())
    return DIAGNOSED if found.problems else 0


def _handout(engine: Engine, file: "library.LessonFile", has_answers: object) -> int:
    if file.lesson is None:
        complain("\n".join(item.render() for item in file.problems))
        return DIAGNOSED
    answers = checking.check_lesson(file, engine.request).answers if has_answers else ()
    say(handout.handout(file.folder, file.lesson, answers))
    return 0


def _slides(engine: Engine, file: "library.LessonFile", _has_answers: object) -> int:
    if file.lesson is None:
        complain("\n".join(item.render() for item in file.problems))
        return DIAGNOSED
    say(slides.slides(file, file.lesson, engine.request))
    return 0


def _codes(text: str) -> int:
    """Print a row for each code: the name, then the points of each lesson that was begun."""
    lessons = {item.name: item.lesson for item in library.list_lessons() if item.lesson is not None}
    status = 0
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        try:
            found = progress.read_code(line)
        except progress.CodeError as error:
            complain(f"error: code {number}: {error}")
            status = DIAGNOSED
            continue
        begun = [lessons[name] for name in lessons if name in found.progress.lessons]
        points = [f"{lesson.name} {progress.score(lesson, found.progress)}/{lesson.points}" for lesson in begun]
        total = sum(progress.score(lesson, found.progress) for lesson in begun)
        say("\t".join((found.name, str(total), *points)))
    return status


_ACTIONS: Final[Mapping[str, Callable[[Engine, "library.LessonFile", object], int]]] = MappingProxyType(
    {"check": _check, "handout": _handout, "slides": _slides}
)
