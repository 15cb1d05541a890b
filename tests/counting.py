"""What a task costs, counted and not timed: the same on every machine, however busy it is."""

import sys
from collections.abc import Callable
from typing import Any

Task = Callable[[], object]


def lines_of(task: Task) -> int:
    """Return how many lines a task runs, each round of a loop and of a comprehension among them."""
    return _counted("line", task, (sys.gettrace, sys.settrace))


def work_of(task: Task) -> int:
    """Return how many functions and steps of generators a task calls."""
    return _counted("call", task, (sys.getprofile, sys.setprofile))


def _counted(event: str, task: Task, hook: tuple[Callable[[], Any], Callable[[Any], None]]) -> int:
    """Run a task, and count the events that Python tells a function in `hook`, given by what gets and sets it."""
    count = 0

    def note(_frame: object, told: str, _arg: object) -> Any:
        nonlocal count
        count += told == event
        # Tracing goes on with what is returned; profiling leaves it aside.
        return note

    get, put = hook
    before = get()
    put(note)
    try:
        task()
    finally:
        put(before)
    return count
