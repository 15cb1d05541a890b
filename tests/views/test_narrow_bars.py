"""Bars in windows of every width, and the lines of a diff that are longer than its pane."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_server import serve_script
from tests.browser import OpenPage, wait_for
from tests.views.pages import assert_accessible
from tests.views.test_accessibility import SCREENS

REPOSITORY = Path(__file__).resolve().parents[2]
ROW = 45
"""Pixels of a bar of one row."""
NEXT_ROW = 42
"""Pixels of each further row."""
WIDTHS = (390, 768, 1024)
MOST_ROWS = {390: 3, 768: 1, 1024: 1}
SCRIPT = f"""
import streamlit as st
from relax_core.present.diff import diff_texts
from views.widgets.diff.component import diff
st.html({str(REPOSITORY / "views" / "shell" / "shell.css")!r})
arguments = ", ".join(f"argument_{{i}}" for i in range(60))
before = f"first = call({{arguments}}, old)\\nplain = call(x)\\nlast = call({{arguments}})"
after = f"first = call({{arguments}}, fresh)\\nplain = call(x)\\nlast = call({{arguments}})"
diff(diff_texts("a", before, "b", after), key="diff", height="600px")
"""

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("address", "whole"), SCREENS.values(), ids=SCREENS)
def test_a_bar_takes_few_rows_and_the_panes_end_above_the_status_line(
    open_page: OpenPage, app_url: str, address: str, whole: str
) -> None:
    page = open_page(1024, 800)
    page.goto(f"{app_url}/{address}")
    expect(page.locator(whole).first).to_be_visible()
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        # A component measures the bar when it is laid out anew.
        wait_for(
            page,
            "most => document.querySelector('.st-key-ctx').offsetHeight <= most",
            arg=ROW + NEXT_ROW * (MOST_ROWS[width] - 1),
        )
        wait_for(
            page,
            """() => [...document.querySelectorAll(".st-key-ctx :is(button, input)")]
                 .map((item) => item.getBoundingClientRect())
                 .every((box) => !box.width || (box.left >= 0 && box.right <= innerWidth))""",
        )
        if width > 640 and whole != ".st-key-learn":
            bar = "document.querySelector('.st-key-ctx').offsetHeight + 'px'"
            wait_for(page, f"document.documentElement.style.getPropertyValue('--bar') === {bar}")
            main = "document.querySelector('[data-testid=stMain]')"
            wait_for(page, f"(it => it.scrollHeight - it.clientHeight <= 1)({main})")
        wait_for(page, "width => document.documentElement.scrollWidth <= width", arg=width)


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


@pytest.fixture(scope="module")
def diff_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a diff of lines with sixty arguments, of which one differs at its end."""
    with serve_script(tmp_path_factory.mktemp("wide"), SCRIPT) as url:
        yield url


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
