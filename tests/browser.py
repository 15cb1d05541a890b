"""Headless Chromium for tests: how it is started, the tabs of a test, and when a page is at rest."""

import re
import shutil
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from typing import Final, Literal, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, TimeoutError, expect

from tests.processes import wait_until

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
    # Tabs of one site share a process, and so what it has compiled: see `profile`.
    "--process-per-site",
)
WIDTH: Final = 1440
HEIGHT: Final = 900
LONGEST_WAIT_MS: Final = 120_000
"""A test that waits so long has found something that hangs: how fast a machine is, no test says."""

_OPENING_MS: Final = 5_000
_SOME_FRAMES: Final = """async () => {
  for (let frame = 0; frame < 5; frame++) await new Promise((next) => requestAnimationFrame(next));
}"""
_STORED: Final = "cookies,local_storage,indexeddb,cache_storage,service_workers"

expect.set_options(timeout=LONGEST_WAIT_MS)

Mode = Literal["light", "dark"]


class OpenPage(Protocol):
    """Opens an empty tab that nothing was stored for, which is closed behind the test."""

    def __call__(self, width: int = WIDTH, height: int = HEIGHT, mode: Mode = "light") -> Page: ...


def chromium_path() -> str | None:
    """Find the installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started(playwright: Playwright) -> Generator[Browser]:
    """Start Chromium without a window."""
    browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def profile(browser: Browser, keeper: str) -> Generator[BrowserContext]:
    """Give a profile with a tab open at `keeper`, a small page of the host that tests look at.

    While that tab is there, the process that shows pages of the host stays, with the app's scripts compiled: opening a
    page takes Chromium half as long as it takes in a profile of its own.
    """
    with closing(browser.new_context()) as context:
        context.set_default_timeout(LONGEST_WAIT_MS)
        context.new_page().goto(keeper)
        yield context


@contextmanager
def tabs(context: BrowserContext) -> Generator[OpenPage]:
    """Give what opens tabs; close them, and forget all that was stored and permitted."""
    with ExitStack() as opened:
        opened.callback(context.clear_permissions)
        yield partial(_open, context, opened)


def _open(
    context: BrowserContext, opened: ExitStack, width: int = WIDTH, height: int = HEIGHT, mode: Mode = "light"
) -> Page:
    page = context.new_page()
    opened.callback(_close, page)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=mode)
    return page


def _close(page: Page) -> None:
    origin = urlsplit(page.url)
    stored = {"origin": f"{origin.scheme}://{origin.netloc}", "storageTypes": _STORED}
    page.context.new_cdp_session(page).send(  # pyright: ignore[reportUnknownMemberType]  # its dicts have no types
        "Storage.clearDataForOrigin", stored
    )
    page.close()


def rest(page: Page) -> None:
    """Wait until Streamlit has run the page to its end.

    Before, what it showed stands beside what it shows, or faint, and rows that come last are not there.
    """
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def wait_for(scope: Page | Locator, condition: str, arg: object = None) -> None:
    """Wait until a condition in JavaScript holds, of a page or of an element: layout follows a change later.

    Playwright's own `wait_for_function` evaluates text within the page, which its Content-Security-Policy forbids.
    """
    assert wait_until(lambda: bool(scope.evaluate(condition, arg))), condition


def open_popover(button: Locator) -> None:
    """Open a popover as a patient user does: on a busy machine Streamlit may close one right after it has opened."""
    body = button.page.get_by_test_id("stPopoverBody")

    def is_open() -> bool:
        if not body.is_visible():
            button.click()
        with suppress(TimeoutError):
            body.wait_for(timeout=_OPENING_MS)
        button.page.evaluate(_SOME_FRAMES)
        return body.is_visible()

    assert wait_until(is_open)


class Editor:
    """The text of the code editor: of a long one only the lines in sight are in the page, so it is asked for."""

    def __init__(self, scope: Page | Locator) -> None:
        self.area = scope.get_by_role("textbox", name="Program text").first

    def text(self) -> str:
        """Return the whole text."""
        return self.area.evaluate("area => area.cmTile.view.state.doc.toString()")

    def caret_line(self) -> int:
        """Return the line of the caret, from 1."""
        return self.text()[: self.caret()].count("\n") + 1

    def caret(self) -> int:
        """Return the offset of the caret, in UTF-16 units."""
        return self.area.evaluate("area => area.cmTile.view.state.selection.main.head")

    def caret_to(self, behind: str) -> None:
        """Put the caret behind the first place of a text."""
        self.area.evaluate(
            """(area, behind) => {
                const view = area.cmTile.view;
                const place = view.state.doc.toString().indexOf(behind) + behind.length;
                view.focus();
                view.dispatch({ selection: { anchor: place }, scrollIntoView: true });
            }""",
            behind,
        )

    def fill(self, text: str) -> None:
        """Put a text in the place of all, as a user who pastes it."""
        self.area.evaluate(
            """(area, insert) => {
                const view = area.cmTile.view;
                view.focus();
                view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert }, userEvent: "input.paste" });
            }""",
            text,
        )

    def submit(self) -> None:
        """Press what runs the text."""
        self.area.press("Control+Enter")

    def expect_text(self, wanted: str | re.Pattern[str]) -> None:
        """Wait until the text is `wanted`, or until the lines in sight have it."""
        if isinstance(wanted, str):
            units = len(wanted.encode("utf-16-le")) // 2
            expect(self.area).to_have_js_property("cmTile.view.state.doc.length", units)
            assert self.text() == wanted
        else:
            expect(self.area).to_contain_text(wanted)
