"""A user who came first reaches what the app is for in at most three clicks from where it is wanted."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Editor, rest

MOST_CLICKS = 3
_COUNTING = "window.clicks = 0; addEventListener('pointerdown', () => { window.clicks += 1; }, true);"


@contextmanager
def few_clicks(page: Page) -> Generator[None]:
    """Check that what is done takes some clicks, but not many."""
    before: int = page.evaluate("window.clicks")
    yield
    assert 0 < page.evaluate("window.clicks") - before <= MOST_CLICKS


@pytest.mark.browser
def test_what_a_user_wants_takes_at_most_three_clicks(page: Page, app_url: str) -> None:
    page.add_init_script(_COUNTING)
    page.goto(f"{app_url}/?sample=relax/inplace_update.py")
    rest(page)
    with few_clicks(page):
        editor = Editor(page)
        editor.area.click()
        editor.caret_to("R.")
        page.keyboard.press("Control+Space")
        expect(page.locator(".cm-tooltip-autocomplete [role=option]").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Run", exact=True).click()
    rest(page)
    with few_clicks(page):
        page.get_by_label("Expression to watch").click()
        page.keyboard.type("time * 2")
        page.get_by_label("Watch the expression").click()
        expect(page.get_by_role("table", name="Watched expressions").locator("[data-watch]")).to_be_visible()
    with few_clicks(page):
        page.locator("table.registers tr[data-kind^=tensor]").first.click()
        page.get_by_role("button", name="View", exact=True).click()
        viewer = page.get_by_role("region", name="Tensor", exact=True)
        viewer.get_by_label("Axis of the rows").select_option("1")
        expect(viewer.get_by_role("table", name="Elements").locator("tr")).to_have_count(4)
    rest(page)
    with few_clicks(page):
        page.get_by_role("button", name="Share").click()
        page.get_by_role("button", name="Write report").click()
        with page.expect_download() as report:
            page.get_by_role("button", name="Download report").click()
    assert report.value.suggested_filename == "inplace_update.report.html"
    page.keyboard.press("Escape")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with few_clicks(page):
        page.get_by_role("button", name="Share").click()
        address = page.get_by_test_id("stCode").filter(has_text="watches=").first
        address.hover()
        address.get_by_role("button").click()
    link: str = page.evaluate("navigator.clipboard.readText()")
    page.goto(link)
    expect(page.get_by_role("table", name="Watched expressions").locator("[data-watch]")).to_be_visible()
