"""On the Passes page a name is looked for in all stages."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage, open_popover, rest


@pytest.mark.browser
def test_a_name_leads_to_the_stages_where_it_comes_and_goes(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/passes?sample=relax/mlp.py&stage=6")
    rest(page)
    expect(page.locator(".root[data-stage]").first).to_be_visible()
    # The list of stages puts the keyboard into the field.
    page.keyboard.press("f")
    field = page.get_by_role("textbox", name="Find in all stages")
    expect(field).to_be_focused()
    field.fill("relax.matmul")
    field.press("Enter")
    open_popover(page.get_by_role("button", name="2 stages"))
    expect(page.get_by_text("it is gone from LegalizeOps on")).to_be_visible()
    page.get_by_role("button", name="LegalizeOps: goes, 0").click()
    expect(page).to_have_url(re.compile("stage=4"))
    field.fill("nowhere")
    field.press("Enter")
    open_popover(page.get_by_role("button", name="0 stages"))
    expect(page.get_by_text("is in no form of the program")).to_be_visible()
