"""A class of 25 browsers: how long a step, an answer, and news of the class take, all of them asking meanwhile."""

import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.class_visitors import ClassVisitor, asking, at_once, join_all, open_class, visitors

BROWSERS = 25
ROUNDS = 4
PACE_SECONDS = 8.0
"""Every browser does something once in so long, each at a moment of its own."""
LATEST_SECONDS = 0.5


def run() -> Table:
    """Step, answer and step again in a lesson: the bound of the 95th percentile is 500 ms for a step."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as url, visitors(url, BROWSERS + 1) as found:
        teacher, *students = found
        join_all(students, open_class(teacher))
        with asking(students) as asked:
            teacher.press("classroom.everyone")
            while not all(item.shows("A module holds functions") for item in students):
                time.sleep(0.05)
            asked.clear()
            steps = _in_their_time(students, lambda item, _: item.press("lesson.next"))
            answers = _in_their_time(students, lambda item, number: item.answer(str(number % 3 + 4)))
            for _ in range(ROUNDS):
                steps += _in_their_time(students, lambda item, _: item.press("lesson.back"))
                steps += _in_their_time(students, lambda item, _: item.press("lesson.next"))
            news = tuple(asked)
        teacher.press("classroom.next")
        counted = re.search(r"<b>(\d+)</b> of", " ".join(teacher.texts))
    latest = quantiles(steps, n=20)[-1]
    rows = (Row("a step", tuple(steps)), Row("an answer", tuple(answers)), Row("news of the class", news))
    note = (
        f"95th percentile: a step {latest * 1000:.0f} ms, an answer {quantiles(answers, n=20)[-1] * 1000:.0f} ms; "
        f"the bound is {LATEST_SECONDS * 1000:.0f} ms. Answers counted: {counted[1] if counted else 'none'}."
    )
    return Table(f"A class of {BROWSERS}, each doing something every {PACE_SECONDS:.0f} s", rows, note)


def _in_their_time(students: list[ClassVisitor], act: Callable[[ClassVisitor, int], float]) -> list[float]:
    moments = random.Random(1)
    waits = [moments.random() * PACE_SECONDS for _ in students]

    def later(item: ClassVisitor, number: int) -> float:
        time.sleep(waits[number])
        return act(item, number)

    return at_once(students, later)
