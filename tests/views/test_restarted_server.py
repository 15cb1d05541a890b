"""A page that is open while the server is started anew shows the same afterwards."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import serve
from tests.browser import rest


@pytest.mark.browser
def test_a_page_outlives_a_restart_of_the_server(page: Page, tmp_path: Path) -> None:
    root = page.locator(".root[data-at][data-total]").first
    watched = page.get_by_role("table", name="Watched expressions").locator("[data-watch]")
    with serve(tmp_path) as url:
        page.goto(f"{url}/run?sample=relax/loop.py&time=9&breakpoints=16")
        field = page.get_by_label("Expression to watch")
        field.fill("time * 2")
        field.press("Enter")
        page.get_by_role("button", name="Over").click()
        expect(root).not_to_have_attribute("data-at", "9")
        at = root.get_attribute("data-at") or ""
        expect(watched).to_have_text(str(2 * int(at)))
        page.wait_for_url(f"**time={at}**")
        rest(page)
        address = page.url
    expect(page.get_by_test_id("stApp")).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    with serve(tmp_path, port=urlsplit(url).port or 0):
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-connection-state", "CONNECTED")
        for is_reloaded in (False, True):
            if is_reloaded:
                page.reload()
            rest(page)
            expect(root).to_have_attribute("data-at", at)
            expect(watched).to_have_text(str(2 * int(at)))
            assert page.url == address
