"""What became of the parts of a module, on the Passes page and on that of recorded pipelines."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import OpenPage, rest
from tests.views.pages import assert_accessible

ROWS = "table[aria-label=Structure] tr:not(:first-child)"


def opened(open_page: OpenPage, address: str) -> Page:
    """Open a page and wait for it."""
    page = open_page()
    page.goto(address)
    rest(page)
    return page


@pytest.mark.browser
def test_a_pass_tells_what_became_of_each_part_and_a_row_leads_to_its_line(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, f"{app_url}/passes?sample=relax/mlp.py&stage=8&view=structure")
    expect(page.locator(ROWS)).to_have_count(15)
    words = page.get_by_role("searchbox", name="Rows of Structure with")
    words.fill("changed SOFTMAX")
    expect(page.get_by_text("1 of 15")).to_be_visible()
    expect(page.locator(ROWS).filter(visible=True)).to_have_count(1)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Structure as a CSV file").click()
    head, line = Path(saving.value.path()).read_text(encoding="utf-8").splitlines()
    assert head == "Change,Part,Name,What of it,Function,Line"
    assert line.startswith("~ changed,binding,gv,")
    words.fill("")
    kinds = page.get_by_role("group", name="Kinds")
    kinds.get_by_role("button", name="~ changed 5").click()
    expect(page.locator(ROWS)).to_have_count(5)
    expect(kinds.get_by_role("button", name="~ changed 5")).to_be_focused()
    page.get_by_role("button", name="Name", exact=True).click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    names = page.locator(f"{ROWS} td:nth-child(3)").all_inner_texts()
    assert names == sorted(names)
    row = page.locator(ROWS).filter(has_text="@relu")
    expect(row).to_contain_text("value: call_tir @relu(lv1) → alloc2")
    assert_accessible(page, 1440)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, 1440, "dark")
    row.click()
    expect(page).to_have_url(re.compile("view=text"))
    expect(page.locator(".ln.sel").filter(has_text="lv2").first).to_be_visible()


@pytest.mark.browser
def test_a_pass_that_changes_nothing_says_so(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, f"{app_url}/passes?sample=relax/mlp.py&stage=1&view=structure")
    expect(page.get_by_text("No structural change", exact=True)).to_be_visible()


@pytest.mark.browser
def test_two_recorded_stages_are_compared_part_by_part(open_page: OpenPage, app_url: str) -> None:
    recorded = "recording=recordings/head.rxt&sample=relax/fib.py&recorded_stage=10&compared_as=structure"
    page = opened(open_page, f"{app_url}/pipeline?{recorded}")
    expect(page.locator(ROWS)).to_have_count(5)
    page.get_by_role("group", name="Kinds").get_by_role("button", name="+ added 2").click()
    rows = page.locator(ROWS)
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("storage")
    # The views, Life among them, have room in one row.
    tops: list[float] = []
    for name in ("Functions", "Life"):
        box = page.get_by_text(name, exact=True).first.bounding_box()
        assert box is not None
        tops.append(box["y"])
    assert abs(tops[0] - tops[1]) < 20
    rows.first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("recorded_line=b%2F84"))
    expect(page.locator(".ln.sel").filter(has_text="storage").first).to_be_visible()
