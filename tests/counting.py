"""What a task costs, counted and not timed: the same on every machine, however busy it is."""

import sys
from collections.abc import Callable
from typing import Any


def lines_of(task: Callable[[], object]) -> int:
    """Return how many lines a task runs, each round of a loop and of a comprehension among them."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        task()
    finally:
        sys.settrace(before)
    return count


def work_of(task: Callable[[], object]) -> int:
    """Return how many functions and steps of generators a task calls."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(before)
    return count
