"""A class of 1 to 25 browsers without a screen: how long steps and answers take, and what they cost the server."""

import random
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from typing import Final, NamedTuple
from urllib.parse import urlencode

from benchmarks.processor_time import Used, used
from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.class_visitors import ClassVisitor, asking, at_once, join_all, open_class, visitors
from views.state.address import to_address
from views.state.selection import screen

STUDENTS: Final = (1, 5, 10, 25)
ROUNDS: Final = 4
THINKING: Final = (2.0, 5.0)
"""A student thinks for some time between these, in seconds, before each click."""
LATEST_SECONDS: Final = 0.5
OWN: Final = "@R.function\ndef student_{0}(x: R.Tensor(({1},), 'float32')):\n    return R.add(x, x)\n"


class _Taught(NamedTuple):
    """A class that was held: the seconds of each click, and the processor time of all of them."""

    steps: tuple[float, ...]
    answers: tuple[float, ...]
    spent: Used


def run() -> Table:
    """Hold a class for each number of students; the bound of the 95th percentile is 500 ms for a step."""
    held = [_hold(count) for count in STUDENTS]
    rows: list[Row] = []
    notes: list[str] = []
    for count, taught in zip(STUDENTS, held, strict=True):
        rows.append(Row(f"a step of {count}", taught.steps))
        # Each student answers once, and a row has two times at least.
        rows += [Row(f"an answer of {count}", taught.answers)] if count > 1 else []
        notes.append(note(count, taught.steps, taught.spent, len(taught.steps) + len(taught.answers)))
    title = f"A class whose students click once in {THINKING[0]:.0f} to {THINKING[1]:.0f} s, each answer counted"
    return Table(title, tuple(rows), "\n".join((*notes, f"The bound is {LATEST_SECONDS * 1000:.0f} ms.")))


def note(count: int, steps: tuple[float, ...], spent: Used, clicks: int) -> str:
    """Say how long the slowest steps took, and what a click took of the processors."""
    latest = quantiles(steps, n=20)[-1] * 1000
    browser = f", of Chromium {spent.browser / clicks * 1000:.0f} ms" if spent.browser else ""
    cost = f"a click takes {spent.server / clicks * 1000:.0f} ms of the server's processes{browser}"
    return f"{count} students: 95th percentile of a step {latest:.0f} ms; {cost}, news of the class included."


def _hold(count: int) -> _Taught:
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as url, visitors(url, count + 1) as found:
        teacher, *students = found
        join_all(students, open_class(teacher))
        with asking(students):
            teacher.press("classroom.everyone")
            while not all(item.shows("A module holds functions") for item in students):
                time.sleep(0.05)
            before = used()
            with ThreadPoolExecutor(count) as pool:
                clicks = list(pool.map(_student, students, range(count)))
            spent = used().since(before)
        teacher.press("classroom.next")
        counted = re.search(r"<b>(\d+)</b> of", " ".join(teacher.texts))
        assert counted is not None, "the projector shows a count"
        assert int(counted[1]) == count, "each answer is counted"
        with visitors(url, count) as fresh:
            _assert_own_texts(fresh)
    return _Taught(
        tuple(seconds for steps, _ in clicks for seconds in steps), tuple(answer for _, answer in clicks), spent
    )


def _student(item: ClassVisitor, number: int) -> tuple[list[float], float]:
    """Go on, answer, go back and on; return the seconds of each step, and of the answer."""
    moments = random.Random(number)

    def click(key: str) -> float:
        time.sleep(moments.uniform(*THINKING))
        return item.press(key)

    steps = [click("lesson.next")]
    time.sleep(moments.uniform(*THINKING))
    answer = item.answer(str(number % 3 + 4))
    return steps + [click(key) for _ in range(ROUNDS) for key in ("lesson.back", "lesson.next")], answer


def _assert_own_texts(students: list[ClassVisitor]) -> None:
    """Have each open a text of its own at once, and look whose each was sent."""

    def opens(item: ClassVisitor, number: int) -> float:
        item.visit("", urlencode(to_address(screen(text=OWN.format(number, number + 2)))))
        return 0.0

    at_once(students, opens)
    for number, item in enumerate(students):
        seen = set(re.findall(rb"student_(\d+)", b" ".join(item.models)))
        assert seen == {str(number).encode()}, "each sees the text that it opened, and no other"
