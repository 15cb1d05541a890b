"""Headless Chromium for tests: how it is started, the tabs of a test, and when a page is at rest."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Final, Literal, Protocol

from playwright.sync_api import Browser, Page, Playwright, expect

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTH: Final = 1440
HEIGHT: Final = 900
LONGEST_WAIT_MS: Final = 120_000
"""A test that waits so long has found something that hangs: how fast a machine is, no test says."""

expect.set_options(timeout=LONGEST_WAIT_MS)

Mode = Literal["light", "dark"]


class OpenPage(Protocol):
    """Opens an empty tab of its own profile, which is closed behind the test."""

    def __call__(self, width: int = WIDTH, height: int = HEIGHT, mode: Mode = "light") -> Page: ...


def chromium_path() -> str | None:
    """Find the installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started(playwright: Playwright) -> Iterator[Browser]:
    """Start Chromium without a window."""
    browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def tabs(browser: Browser) -> Iterator[OpenPage]:
    """Give what opens tabs; close them."""
    with ExitStack() as opened:
        yield partial(_open, browser, opened)


def _open(browser: Browser, opened: ExitStack, width: int = WIDTH, height: int = HEIGHT, mode: Mode = "light") -> Page:
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=mode)
    opened.callback(context.close)
    context.set_default_timeout(LONGEST_WAIT_MS)
    return context.new_page()


def rest(page: Page) -> None:
    """Wait until Streamlit has run the page to its end.

    Before, what it showed stands beside what it shows, or faint, and rows that come last are not there.
    """
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
