"""Long texts in the browser: only the lines in sight are in the page, and a step changes a few elements."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_server import serve_script

REPOSITORY = Path(__file__).resolve().parents[2]
MOST_LINES = 300
MOST_CHANGES = 300
STEPS = 20

_COUNT_CHANGES = """async ([root, key, count]) => {
  let changes = 0;
  const seen = (records) => {
    for (const record of records) changes += record.addedNodes.length + record.removedNodes.length;
  };
  const observer = new MutationObserver(seen);
  observer.observe(root, { childList: true, subtree: true });
  const each = [];
  for (let i = 0; i < count; i += 1) {
    changes = 0;
    document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, composed: true }));
    seen(observer.takeRecords());
    each.push(changes);
  }
  observer.disconnect();
  return each;
}"""

pytestmark = pytest.mark.browser


SCRIPT = f"""
import streamlit as st
from relax_core.present.diffs.diff import diff_texts
from tests.views.harness_run import long_run
from views.widgets.diff.component import diff
from views.pages.run.stepper.component import stepper
st.html({str(REPOSITORY / "views" / "shell" / "shell.css")!r})
if st.query_params.get("show") == "diff":
    before = [f"v{{i}} = add(x)" for i in range(4000)]
    after = [line.replace("add", "call") for line in before]
    diff(diff_texts("a", "\\n".join(before), "b", "\\n".join(after)), key="diff", height="600px")
else:
    stepper(long_run(), key="run", at=2000, height="800px")
"""


@pytest.fixture(scope="module")
def long_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a stepper with a function of 4,000 bindings, and a diff of as many lines."""
    with serve_script(tmp_path_factory.mktemp("long"), SCRIPT) as url:
        yield url


def opened(page: Page, address: str, holds: str) -> Locator:
    page.goto(address)
    root = page.locator(".root[data-rev]").filter(has=page.locator(holds))
    expect(root).to_be_visible()
    return root


def line_count(root: Locator, listing: str) -> int:
    return root.locator(f"{listing} .ln").count()


def test_a_step_in_a_long_function_changes_a_few_elements(page: Page, long_url: str) -> None:
    root = opened(page, long_url, ".strip")
    expect(root).to_have_attribute("data-at", "2000")
    changes = page.evaluate(_COUNT_CHANGES, [root.element_handle(), "i", STEPS])
    expect(root).to_have_attribute("data-at", str(2000 + STEPS))
    assert len(changes) == STEPS
    assert sorted(changes)[STEPS // 2] < MOST_CHANGES
    for listing in (".source", ".instructions"):
        assert 20 < line_count(root, listing) < MOST_LINES
        expect(root.locator(f"{listing} .ln.cur")).to_be_visible()
    expect(root.locator("tr[data-register='0.2019']")).to_contain_text("new")


def test_a_listing_that_is_scrolled_shows_the_lines_and_marks_of_that_place(page: Page, long_url: str) -> None:
    root = opened(page, long_url, ".strip")
    box = root.locator(".listing.source")
    for line in (40, 3990, 1500):
        box.evaluate("(box, line) => { box.scrollTop = (line - 5) * 19 }", line)
        row = root.locator(f".source .ln[data-key='{line}']")
        expect(row).to_be_visible()
        expect(row).to_contain_text(f"v{line - 3} =")
        expect(row.locator(".ex")).to_have_count(1 if line < 2003 else 0)
        expect(row.locator(".iv")).to_have_count(1 if line < 2003 else 0)
        assert line_count(root, ".source") < MOST_LINES


def test_words_are_found_in_lines_that_are_not_in_the_page(page: Page, long_url: str) -> None:
    root = opened(page, long_url, ".strip")
    page.keyboard.press("Control+f")
    field = root.get_by_label("Find in the source")
    expect(field).to_be_focused()
    field.fill("V399")
    expect(root.get_by_role("status").filter(has_text="not found")).to_have_count(1)
    field.fill("v399")
    finder = root.locator(".finder").first
    expect(finder).to_contain_text("1 of 12 lines")
    expect(root.locator(".source .hit").first).to_have_text("v399")
    for _ in range(2):
        field.press("Enter")
    expect(finder).to_contain_text("3 of 12 lines")
    expect(root.locator(".source .ln[data-key='3993']")).to_be_visible()
    field.press("Shift+Enter")
    expect(finder).to_contain_text("2 of 12 lines")
    field.press("Escape")
    expect(root.locator(".source .hit")).to_have_count(0)


def test_both_sides_of_a_long_diff_scroll_together_with_few_lines_in_the_page(page: Page, long_url: str) -> None:
    root = opened(page, f"{long_url}/?show=diff", ".sides")
    sides = root.locator(".sides")
    assert sides.evaluate("box => box.scrollHeight") > 4000 * 19
    for share in (0, 0.5, 1):
        sides.evaluate("(box, share) => { box.scrollTop = share * box.scrollHeight }", share)
        number = {0: "1", 0.5: re.compile("^(19|20)..$"), 1: "4000"}[share]
        for half in (0, 1):
            lines = root.locator(".half").nth(half)
            gutter = lines.locator(".ln .g").get_by_text(number, exact=True)
            expect(gutter.first).to_be_attached()
            assert lines.locator(".ln").count() < MOST_LINES
