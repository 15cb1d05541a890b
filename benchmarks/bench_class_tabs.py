"""A class of 1 to 25 tabs of Chromium on one machine: from a click to the paint, who counts, whose text is seen."""

import asyncio
import random
import re
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from playwright.async_api import Browser, Page, async_playwright, expect

from benchmarks.bench_class import OWN, ROUNDS, STUDENTS, THINKING, note
from benchmarks.processor_time import used
from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.browser import ARGUMENTS, chromium_path
from views.state.address import to_address
from views.state.selection import screen

LONGEST_MS: Final = 120_000
_LESSON: Final = "What a tensor program is"
_FIRST, _SECOND = "A module holds functions", "How many bindings?"
_BACK: Final = ".st-key-lesson-back button"
_NEXT: Final = ".st-key-lesson-next button"
_PAINTED: Final = """async ([button, words]) => {
  const began = performance.now();
  document.querySelector(button).click();
  await new Promise((seen, failed) => {
    setTimeout(() => failed(new Error(`${words} was not painted`)), 60000);
    const look = () => {
      const found = [...document.querySelectorAll(".st-key-lesson [data-testid=stMarkdownContainer]")];
      if (!found.some((item) => item.textContent.includes(words))) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(seen));
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  });
  return (performance.now() - began) / 1000;
}"""
"""Clicks, and waits within the page until words are painted: a driver that asks from outside would cost as much."""


def run() -> Table:
    """Have all tabs go on in a lesson, answer, go back and on, and open a text of their own."""
    rows: list[Row] = []
    notes: list[str] = []
    for count in STUDENTS:
        with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as url:
            row, said = asyncio.run(_taught(url, count))
        rows.append(row)
        notes.append(said)
    title = f"A class in tabs of Chromium on one machine, each clicks once in {THINKING[0]:.0f} to {THINKING[1]:.0f} s"
    return Table(title, tuple(rows), "\n".join(notes))


async def _taught(url: str, count: int) -> tuple[Row, str]:
    expect.set_options(timeout=LONGEST_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        teacher = await _tab(browser)
        code = await _opened(teacher, url)
        students = [await _tab(browser) for _ in range(count)]
        for student in students:
            await student.goto(f"{url}/classroom?room={code}")
            await expect(student.get_by_text("What your teacher shows opens here")).to_be_visible()
        await teacher.get_by_role("button", name="Everyone at step").click()
        for student in students:
            await _sees(student, _FIRST)
        before = used()
        taken = await asyncio.gather(*(_student(page, number) for number, page in enumerate(students)))
        spent = used().since(before)
        counted = await _counted(teacher)
        assert counted == f"{count} of {count} have answered", counted
        seen = await _texts_seen(students, url)
        assert seen == [{number} for number in range(count)], "each sees the text that it opened, and no other"
        await browser.close()
    steps = tuple(seconds for each in taken for seconds in each)
    return Row(f"a step of {count}", steps), note(count, steps, spent, len(steps) + count)


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


async def _student(page: Page, number: int) -> list[float]:
    """Go on, answer, go back and on; return the seconds from each click on to the paint of its step."""
    moments = random.Random(number)

    async def step(button: str, title: str) -> float:
        await asyncio.sleep(moments.uniform(*THINKING))
        return float(await page.evaluate(_PAINTED, [button, title]))

    steps = [await step(_NEXT, _SECOND)]
    await asyncio.sleep(moments.uniform(*THINKING))
    field = page.locator("[class*=st-key-lesson-answer] input")
    await field.fill(str(4 + number % 3))
    await field.press("Enter")
    await expect(page.locator(".st-key-lesson")).to_contain_text(f"{4 + number % 3} is counted, without a name.")
    for _ in range(ROUNDS):
        steps += [await step(_BACK, _FIRST), await step(_NEXT, _SECOND)]
    return steps


async def _counted(teacher: Page) -> str:
    """Go to the question on the projector, and return what it says of the answers."""
    await teacher.locator(".st-key-classroom-next button").first.click()
    done = teacher.locator(".done")
    await expect(done).to_contain_text(re.compile(r"\d+ of \d+ have answered"))
    found = re.search(r"\d+ of \d+ have answered", await done.inner_text())
    return "" if found is None else found[0]


async def _texts_seen(students: list[Page], url: str) -> list[set[int]]:
    """Open a text of its own in every tab, and return whose texts each shows."""

    async def opened(page: Page, number: int) -> None:
        text = OWN.format(number, number + 2)
        await page.goto(f"{url}/?{urlencode(to_address(screen(text=text)))}")
        await expect(page.get_by_text(re.compile(rf"student_{number}\b")).first).to_be_visible()

    await asyncio.gather(*(opened(page, number) for number, page in enumerate(students)))
    shown = [await page.get_by_text(re.compile(r"student_\d+")).all_inner_texts() for page in students]
    return [set(map(int, re.findall(r"student_(\d+)", " ".join(texts)))) for texts in shown]
