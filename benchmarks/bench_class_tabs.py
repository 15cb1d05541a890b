"""A class of 25 tabs of Chromium on one server: how long a student waits, whether all count, and whose text is seen."""

import asyncio
import random
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlencode

from playwright.async_api import Browser, Page, async_playwright, expect

from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.browser import ARGUMENTS, chromium_path
from views.state.address import to_address
from views.state.selection import screen

TABS = 25
ROUNDS = 2
PACE_SECONDS = 20.0
"""Every tab does something once in so long, each at a moment of its own."""
LONGEST_MS = 120_000
_LESSON = "What a tensor program is"
_FIRST, _SECOND = "A module holds functions", "How many bindings?"
_OWN = "@R.function\ndef student_{0}(x: R.Tensor(({1},), 'float32')):\n    return R.add(x, x)\n"

Act = Callable[[Page, int], Awaitable[None]]


def run() -> Table:
    """Have all tabs go on in a lesson, answer, step through a run, and open a text of their own."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as url:
        return asyncio.run(_taught(url))


async def _taught(url: str) -> Table:
    expect.set_options(timeout=LONGEST_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        teacher = await _tab(browser)
        code = await _opened(teacher, url)
        students = [await _tab(browser) for _ in range(TABS)]
        for student in students:
            await student.goto(f"{url}/classroom?room={code}")
            await expect(student.get_by_text("What your teacher shows opens here")).to_be_visible()
        await teacher.get_by_role("button", name="Everyone at step").click()
        await _in_their_time(students, lambda page, _: _sees(page, _FIRST))
        rows, counted = await _lesson(teacher, students)
        rows.append(Row("a step of a run", await _run_steps(students, url)))
        seen = await _texts_seen(students, url)
        await browser.close()
    latest = ", ".join(f"{row.name} {quantiles(row.seconds, n=20)[-1] * 1000:.0f} ms" for row in rows)
    others = sum(names != {number} for number, names in enumerate(seen))
    note = f"95th percentile: {latest}. {counted}. Tabs that show another text than their own: {others}."
    return Table(
        f"A class of {TABS} tabs of Chromium on one machine, each doing something every {PACE_SECONDS:.0f} s",
        tuple(rows),
        note,
    )


async def _tab(browser: Browser) -> Page:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(LONGEST_MS)
    return await context.new_page()


async def _opened(teacher: Page, url: str) -> str:
    """Open a class about a lesson, and return its code."""
    await teacher.goto(f"{url}/classroom")
    await teacher.get_by_role("combobox", name="Lesson").fill(_LESSON)
    await teacher.get_by_role("option", name=_LESSON).click()
    await teacher.get_by_role("button", name="Open the class").click()
    await expect(teacher.locator(".joining")).to_contain_text("Nobody has joined yet")
    found = re.search(r"room=(\w{6})", await teacher.locator(".joining").inner_text())
    assert found is not None
    return found[1]


async def _sees(page: Page, title: str) -> None:
    await expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


async def _lesson(teacher: Page, students: list[Page]) -> tuple[list[Row], str]:
    """Go on, answer, back and on; return the times, and what the projector counts."""

    async def on(page: Page, _: int) -> None:
        await page.get_by_role("button", name=re.compile("^Next")).click()
        await _sees(page, _SECOND)

    async def back(page: Page, _: int) -> None:
        await page.get_by_role("button", name=re.compile("Back")).first.click()
        await _sees(page, _FIRST)

    async def answer(page: Page, number: int) -> None:
        field = page.get_by_label(re.compile("^Your answer"))
        await field.fill(str(4 + number % 3))
        await field.press("Enter")
        await expect(page.get_by_text(f"{4 + number % 3} is counted, without a name.")).to_be_visible()

    steps = await _in_their_time(students, on)
    answers = await _in_their_time(students, answer)
    for _ in range(ROUNDS):
        steps += await _in_their_time(students, back)
        steps += await _in_their_time(students, on)
    await teacher.locator(".st-key-classroom-next button").first.click()
    await expect(teacher.locator(".done")).to_contain_text(re.compile(r"\d+ of \d+ have answered"))
    counted = await teacher.locator(".done").inner_text()
    return [Row("a step of the lesson", tuple(steps)), Row("an answer", tuple(answers))], counted


async def _run_steps(students: list[Page], url: str) -> tuple[float, ...]:
    """Step through a run in every tab."""

    async def opened(page: Page, _: int) -> None:
        await page.goto(f"{url}/run?sample=relax/mlp.py&time=0")
        await expect(page.locator("[data-total]")).to_have_attribute("data-at", "0")

    async def step(page: Page, _: int) -> None:
        stepper = page.locator("[data-total]")
        at = await stepper.get_attribute("data-at")
        await page.keyboard.press("n")
        await expect(stepper).not_to_have_attribute("data-at", at or "")

    await _in_their_time(students, opened)
    return tuple([seconds for _ in range(ROUNDS) for seconds in await _in_their_time(students, step)])


async def _texts_seen(students: list[Page], url: str) -> list[set[int]]:
    """Open a text of its own in every tab, and return whose texts each shows."""

    async def opened(page: Page, number: int) -> None:
        text = _OWN.format(number, number + 2)
        await page.goto(f"{url}/?{urlencode(to_address(screen(text=text)))}")
        await expect(page.get_by_text(re.compile(rf"student_{number}\b")).first).to_be_visible()

    await _in_their_time(students, opened)
    shown = [await page.get_by_text(re.compile(r"student_\d+")).all_inner_texts() for page in students]
    return [set(map(int, re.findall(r"student_(\d+)", " ".join(texts)))) for texts in shown]


async def _in_their_time(students: list[Page], act: Act) -> list[float]:
    """Have each tab do something at a moment of its own, and return the seconds that each waited."""
    moments = random.Random(1)
    waits = [moments.random() * PACE_SECONDS for _ in students]

    async def later(number: int) -> float:
        await asyncio.sleep(waits[number])
        began = time.monotonic()
        await act(students[number], number)
        return time.monotonic() - began

    return list(await asyncio.gather(*(later(number) for number in range(len(students)))))
