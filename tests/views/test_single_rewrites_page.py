"""Single rewrites on the Passes page: stepped through, left out, and told where they cannot be."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage
from tests.views.pages import assert_accessible
from views.state.address import to_address
from views.state.selection import screen

pytestmark = pytest.mark.browser

SHOWN = screen(sample="relax/mlp.py", pipeline="Normalize, LegalizeOps, FuseOps").changed(stage=2, view="rewrites")


def test_a_rewrite_is_stepped_through_and_left_out(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/passes?{urlencode(to_address(SHOWN), doseq=True)}")
    page.get_by_role("button", name="Show the module before and after this rewrite: rewrite 2").click()
    head = page.get_by_role("group", name="Single rewrite")
    expect(head).to_contain_text("Rewrite 2")
    sides = page.locator(".sides")
    expect(sides).to_contain_text("Before rewrite 2")
    expect(sides).to_contain_text("After rewrite 2")
    expect(sides.get_by_role("img", name="removed").first).to_be_visible()
    assert_accessible(page, 1440)
    head.get_by_role("button", name="Rewrite after").click()
    expect(sides).to_contain_text("After rewrite 3")
    head.get_by_role("button", name="Skip").click()
    expect(sides).to_contain_text("With all rewrites")
    expect(sides).to_contain_text("Without rewrite 3")
    head.get_by_role("button", name="All rewrites").click()
    expect(page.get_by_role("button", name="Show what the others make without this one: rewrite 3")).to_be_visible()
    assert_accessible(page, 1440)


def test_an_address_leads_to_a_rewrite_and_to_an_explanation(open_page: OpenPage, app_url: str) -> None:
    page = open_page(760, mode="dark")
    page.goto(f"{app_url}/passes?{urlencode(to_address(SHOWN.changed(rewrite=1, skip=1)), doseq=True)}")
    expect(page.locator(".sides")).to_contain_text("Without rewrite 1")
    assert_accessible(page, 760, "dark")
    page.goto(f"{app_url}/passes?{urlencode(to_address(SHOWN.changed(rewrite=99)), doseq=True)}")
    expect(page.get_by_text("LegalizeOps has no rewrite 99")).to_be_visible()
    page.get_by_role("button", name="All rewrites").click()
    expect(page.get_by_role("button", name="Show the module before and after this rewrite: rewrite 1")).to_be_visible()
