"""The command about lessons: check a lesson, print its handout, read the codes that students hand in."""

import argparse
from pathlib import Path
from types import MappingProxyType

from relax_core.cli.terminal import DIAGNOSED, Commands, Engine, UsageError, say
from relax_core.lessons import checking, library

_WHAT = "check: play lessons to their end, and say what is wrong with them"


def add_lessons(command: Commands) -> None:
    """Add the command."""
    made = command("lesson", "Check lessons.", _lesson)
    made.add_argument("what", choices=tuple(_ACTIONS), help=_WHAT)
    made.add_argument("given", nargs="+", metavar="FOLDER", help="the folder of a lesson, with its `lesson.md`")


def _lesson(engine: Engine, options: argparse.Namespace) -> int:
    return _ACTIONS[options.what](engine, options.given)


def _file(folder: str) -> "library.LessonFile":
    try:
        return library.open_lesson(Path(folder).resolve())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder} has no {library.FILE} that can be read: {error}") from None


def _check(engine: Engine, folders: list[str]) -> int:
    status = 0
    for folder in folders:
        found = checking.check_lesson(_file(folder), engine.request)
        say(found.to_text())
        status = DIAGNOSED if found.problems else status
    return status


_ACTIONS = MappingProxyType({"check": _check})
