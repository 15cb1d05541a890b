"""The Passes page says whether what every pass left was checked, and the user chooses."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage, open_popover, rest
from views.state.address import to_address
from views.state.selection import screen


@pytest.mark.browser
def test_what_passes_leave_is_verified_until_the_user_says_otherwise(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/passes?{urlencode(to_address(screen(sample='relax/mlp.py')))}")
    rest(page)
    mark = page.get_by_text("passes changed it, ✓ well-formed")
    expect(mark).to_be_visible()
    open_popover(page.get_by_role("button", name="Pipeline: default"))
    page.get_by_text("Verify after every pass").click()
    rest(page)
    expect(mark).to_have_count(0)
    assert "verify=off" in page.url
    page.get_by_text("Verify after every pass").click()
    rest(page)
    expect(mark).to_be_visible()
