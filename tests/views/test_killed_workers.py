"""The worker is killed at random points of a session in the browser: nothing is lost but time, no process is left.

`KILLS=200 pytest tests/views/test_killed_workers.py` kills more often than the suite has time for.
"""

import os
import random
import re
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests import browser
from tests.app_server import serve
from tests.browser import Editor, rest
from tests.processes import family_of, is_alive, server_of, wait_until, workers_of
from views.pages.run.state import RunState
from views.state.address import from_address
from views.state.selection import Selection, screen

KILLS = int(os.environ.get("KILLS", "6"))
SAMPLE = "relay/partition_branches.relay"
LONGEST_DELAY_SECONDS = 0.4
KEPT = ("sample", "text", "pipeline", "breakpoints", "changes", "stage", "step")

pytestmark = pytest.mark.browser


class Killer:
    """Kills the worker of a server once, at a random moment of what is done meanwhile."""

    def __init__(self, server: int, letters: random.Random) -> None:
        self.killed: set[int] = set()
        self._server = server
        self._delay = letters.random() * LONGEST_DELAY_SECONDS
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._kill)

    def _kill(self) -> None:
        self._is_done.wait(self._delay)
        while not self.killed:
            for worker in workers_of(self._server):
                os.kill(worker, signal.SIGKILL)
                self.killed.add(worker)
            if self._is_done.wait(0.01):
                return

    def __enter__(self) -> "Killer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_done.set()
        self._thread.join()


@dataclass
class Walk:
    """A visitor who works on one program, and what the screen must be."""

    page: Page
    letters: random.Random
    expected: Selection

    def go(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).click()

    def shown(self) -> Selection:
        return _selection(self.page.url)

    def changed(self, **fields: str | int) -> None:
        self.expected = self.expected.changed(**fields)
        self.page.wait_for_url(lambda url: self._is_kept(_selection(url)))

    def _is_kept(self, found: Selection) -> bool:
        return all(found.values()[name] == self.expected.values()[name] for name in KEPT)

    def edit(self) -> None:
        self.go("Source")
        editor = Editor(self.page)
        editor.expect_text(re.compile("def @main"))
        text = f"{editor.text().rstrip()}\n// {self.letters.random()}\n"
        editor.fill(text)
        editor.submit()
        # Changes belong to a program: another text has none of them.
        self.changed(text=text, breakpoints="", changes="", stage=-1, step=-1)

    def choose_a_pass(self) -> None:
        self.go("Passes")
        rows = self.page.locator("tr[data-stage]")
        expect(rows.nth(1)).to_be_visible()
        # A click on the pass that is shown says nothing.
        others = [place for place in range(rows.count()) if rows.nth(place).get_attribute("aria-current") != "step"]
        row = rows.nth(self.letters.choice(others))
        stage = int(row.get_attribute("data-stage") or 0)
        row.click()
        self.changed(stage=stage)

    def partition(self) -> None:
        self.go("Partition")
        steps = self.page.get_by_role("radiogroup", name="Steps").get_by_role("radio")
        expect(steps.first).to_be_visible()
        others = [place for place in range(steps.count()) if steps.nth(place).get_attribute("aria-checked") != "true"]
        step = self.letters.choice(others)
        steps.nth(step).click()
        self.changed(step=step)

    def step(self) -> None:
        stepper = self._stepper()
        at = stepper.get_attribute("data-at")
        self.page.keyboard.press("n" if at == "0" or self.letters.random() < 0.7 else "b")
        expect(stepper).not_to_have_attribute("data-at", at or "")

    def set_breakpoint(self) -> None:
        stepper = self._stepper()
        lines = stepper.locator(".listing.source .ln[data-key] .g")
        lines.nth(self.letters.randrange(3, 8)).click()
        before = self.expected.of(RunState).breakpoints
        self.page.wait_for_url(lambda url: _selection(url).of(RunState).breakpoints != before)
        self.expected = self.expected.changed(breakpoints=self.shown().of(RunState).breakpoints)

    def fork(self) -> None:
        stepper = self._stepper()
        self.page.keyboard.press("n")
        before = self.expected.of(RunState).changes
        self.page.get_by_role("button", name="Change", exact=True).first.click()
        form = self.page.get_by_role("group", name="Change a value")
        form.get_by_role("button", name="zeros()").click()
        form.get_by_role("button", name="Run on with this value").click()
        self.page.wait_for_url(lambda url: _selection(url).of(RunState).changes != before)
        expect(stepper).to_be_visible()
        self.expected = self.expected.changed(changes=self.shown().of(RunState).changes)

    def run_again(self) -> None:
        self._stepper()
        self.page.get_by_role("button", name="Run again", exact=True).first.click()

    def _stepper(self) -> Locator:
        self.go("Run")
        stepper = self.page.locator(".root[data-at]").first
        expect(stepper).to_be_visible()
        return stepper

    def assert_answered(self) -> None:
        """Check that the page is whole and everything is as it was."""
        rest(self.page)
        expect(self.page.locator(".root[data-rev]").first).to_be_visible()
        expect(self.page.locator(".st-key-failure")).to_have_count(0)
        expect(self.page.get_by_test_id("stException")).to_have_count(0)
        self.changed()


def _selection(url: str) -> Selection:
    return from_address(dict(parse_qsl(urlsplit(url).query)))


def _work(walk: Walk, server: int) -> set[int]:
    """Do what a visitor does until the worker was killed so often; return the processes that there were."""
    actions: tuple[Callable[[Walk], None], ...] = (
        Walk.edit,
        Walk.choose_a_pass,
        Walk.partition,
        Walk.step,
        Walk.set_breakpoint,
        Walk.fork,
        Walk.run_again,
    )
    # In each round everything once, in another order.
    seen: set[int] = set()
    count = 0
    walk.assert_answered()
    while count < KILLS:
        for action in walk.letters.sample(actions, len(actions)):
            with Killer(server, walk.letters) as killer:
                action(walk)
                walk.assert_answered()
                seen |= family_of(server)
            walk.assert_answered()
            seen |= killer.killed
            count += len(killer.killed)
    return seen


def test_nothing_is_lost_but_time_when_the_worker_is_killed(profile: BrowserContext, tmp_path: Path) -> None:
    with serve(tmp_path) as url:
        server = server_of(url)
        with browser.tabs(profile) as open_page:
            page = open_page()
            page.goto(f"{url}/?sample={SAMPLE}")
            seen = _work(Walk(page, random.Random(15), screen(sample=SAMPLE)), server)
        # The tab is closed: the worker ends while the server runs on.
        assert wait_until(lambda: not workers_of(server))
    assert len(seen) >= KILLS
    assert wait_until(lambda: not any(map(is_alive, seen))), [pid for pid in seen if is_alive(pid)]
