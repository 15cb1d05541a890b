"""Bars in windows of every width, and the lines of a diff that are longer than its pane."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import serve_script
from tests.browser import OpenPage, wait_for
from tests.views.pages import ROW, assert_accessible

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = f"""
import streamlit as st
from relax_core.present.diffs.diff import diff_texts
from views.widgets.diff.component import diff
st.html({str(REPOSITORY / "views" / "shell" / "shell.css")!r})
arguments = ", ".join(f"argument_{{i}}" for i in range(60))
before = f"first = call({{arguments}}, old)\\nplain = call(x)\\nlast = call({{arguments}})"
after = f"first = call({{arguments}}, fresh)\\nplain = call(x)\\nlast = call({{arguments}})"
diff(diff_texts("a", before, "b", after), key="diff", height="600px")
"""

pytestmark = pytest.mark.browser


def test_what_a_menu_of_a_bar_holds_is_reached_with_keys(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/devices?sample=relay/map_three_times.relay&as_in=reported")
    menu = page.get_by_role("button", name="Options")
    expect(menu).to_be_visible()
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Order of visits")).to_be_visible()
    assert_accessible(page, 1440)
    page.keyboard.press("Escape")
    share = page.get_by_role("button", name="Share", exact=True)
    share.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="JSON")).to_be_visible()
    assert_accessible(page, 1440)


@pytest.mark.parametrize(
    "address",
    [
        "sample=relax/mlp.py&mode=fast&unwritten=1&poisoned=1&as_in=reported&seed=1234567&signed=1",
        "sample=errors/vm_assertion.py&time=0&mode=fast&unwritten=1&seed=1234567&signed=1",
    ],
    ids=["options", "an error beside them"],
)
def test_the_bar_of_the_run_page_is_one_row_whatever_is_chosen(open_page: OpenPage, app_url: str, address: str) -> None:
    page = open_page(768, 800)
    page.goto(f"{app_url}/run?{address}")
    expect(page.locator(".root[data-rev]").first).to_be_visible()
    options = page.get_by_role("button", name=re.compile("^Options: fast, finds unwritten"))
    expect(options).to_be_visible()
    assert_accessible(page, 768)
    wait_for(page, "most => document.querySelector('.st-key-ctx').offsetHeight <= most", arg=ROW)


@pytest.fixture(scope="module")
def diff_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a diff of lines with sixty arguments, of which one differs at its end."""
    with serve_script(tmp_path_factory.mktemp("wide"), SCRIPT) as url:
        yield url


def test_the_keys_of_the_editor_are_told_whole_beside_many_problems(open_page: OpenPage, app_url: str) -> None:
    for width in (760, 1440):
        page = open_page(width)
        page.goto(f"{app_url}/?sample=errors/by_without_begin.relay")
        keys = page.get_by_text("leaves the editor")
        expect(keys).to_contain_text("runs")
        assert keys.evaluate(
            "keys => keys.getBoundingClientRect().right <= keys.closest('.ph').getBoundingClientRect().right"
        )


def test_a_long_line_is_wrapped_and_its_change_is_in_sight(page: Page, diff_url: str) -> None:
    page.goto(diff_url)
    root = page.locator(".root[data-rev]")
    expect(root).to_be_visible()
    after = root.locator(".half").nth(1)
    expect(after.locator("u")).to_have_text("fresh")
    expect(after.locator("u")).to_be_in_viewport()
    wait_for(after, "half => half.scrollWidth === half.clientWidth")
    folds = after.locator(".fold")
    expect(folds).to_have_count(2)
    folds.last.click()
    expect(folds).to_have_count(1)
    shown = after.locator(".ln").all_inner_texts()
    assert "argument_40" in "".join(shown)
    assert_accessible(page, 1440)


def test_without_wrapping_the_numbers_and_signs_stay_in_sight(page: Page, diff_url: str) -> None:
    page.goto(diff_url)
    root = page.locator(".root[data-rev]")
    expect(root).to_be_visible()
    after = root.locator(".half").nth(1)
    page.keyboard.press("w")
    expect(after.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "false")
    expect(after.locator(".fold")).to_have_count(0)
    wait_for(after, "half => half.scrollLeft > 0")
    expect(after.locator("u")).to_be_in_viewport()
    left = after.evaluate("half => half.getBoundingClientRect().left")
    for name, width in ((".g", 44), (".s", 16)):
        box = after.locator(f".ln.changed {name}").bounding_box()
        assert box is not None
        assert left <= box["x"] <= left + 44
        assert box["width"] == width
