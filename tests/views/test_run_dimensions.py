"""Symbolic dimensions beside the frame on the Run page: their sizes, where each was bound, what agrees."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import Mode, OpenPage
from tests.views.pages import assert_accessible


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_the_sizes_of_dimensions_open_to_where_they_come_from(
    open_page: OpenPage, app_url: str, mode: Mode, width: int
) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/run?sample=relax/symbolic_shapes.py&time=5")
    known = page.locator("details.dimensions")
    expect(known.locator("summary")).to_have_text(re.compile("^n = 2, m = 3 *$"))
    known.locator("summary").press("Enter")
    expect(known).to_contain_text("m = 3 bound by x.shape[1]; no other value has it yet")
    page.get_by_role("button", name=re.compile("^Over")).click()
    expect(known.locator("summary")).to_have_text(re.compile("^n = 2, m = 3, k = 4 *$"))
    # It stays open from step to step.
    expect(known).to_contain_text("m = 3 bound by x.shape[1]; agrees: w.shape[0]")
    expect(known).to_contain_text("k = 4 bound by w.shape[1]")
    assert_accessible(page, width)
    known.get_by_text("w.shape[0]").click()
    expect(page.locator(".ln").filter(has_text="R.match_cast").first).to_be_visible()
