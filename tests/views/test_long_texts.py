"""Long texts in the browser: only the lines in sight are in the page, and a step changes a few elements."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_server import serve_script
from tests.browser import Editor

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
from relax_core.present.code import plain_code
from views.widgets.diff.component import diff
from views.widgets.editor.component import editor
from views.pages.run.stepper.component import stepper
st.html({str(REPOSITORY / "views" / "shell" / "shell.css")!r})
if st.query_params.get("show") == "diff":
    before = [f"v{{i}} = add(x)" for i in range(4000)]
    after = [line.replace("add", "call") for line in before]
    diff(diff_texts("a", "\\n".join(before), "b", "\\n".join(after)), key="diff", height="600px")
elif st.query_params.get("show") in ("parameters", "editor"):
    names = ", ".join(f'weight_{{i}}: R.Tensor((2, 3), dtype="float32")' for i in range(300))
    body = "\\n".join(f"        v{{i}} = R.add(x, x)" for i in range(300))
    text = f"    def main({{names}}) -> R.Tensor:\\n{{body}}\\n        return v"
    after = text.replace("weight_200: R.Tensor((2, 3)", "weight_200: R.Tensor((3, 3)").replace("return v", "return w")
    if st.query_params["show"] == "parameters":
        diff(diff_texts("a", text, "b", after), key="diff", height="600px")
    else:
        editor(plain_code(text, "many.py", "tvmscript"), key="editor", height="400px")
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


def test_a_function_with_many_parameters_takes_one_row_until_it_is_opened(page: Page, long_url: str) -> None:
    root = opened(page, f"{long_url}?show=parameters", ".sides")
    after = root.get_by_role("region", name="b", exact=True)
    tag = after.get_by_role("button", name="300 parameters")
    expect(tag).to_have_text("▸ 300 parameters · 1 changed")
    expect(after.locator(".ln").first).to_contain_text(") -> R.Tensor:")
    tag.focus()
    page.keyboard.press("Enter")
    expect(tag).to_have_text("▾ 300 parameters")
    expect(after.locator(".ln").nth(3)).to_contain_text("weight_")
    tag.click()
    expect(tag).to_have_text("▸ 300 parameters · 1 changed")


def test_a_search_looks_into_folds_opens_the_way_and_closes_what_it_opened_before(page: Page, long_url: str) -> None:
    root = opened(page, f"{long_url}?show=parameters", ".sides")
    after = root.get_by_role("region", name="b", exact=True)
    field = after.get_by_role("searchbox", name="Find in b")
    field.fill("v150")
    expect(after.get_by_role("status")).to_have_text("1 of 1 lines, 1 in folds")
    expect(after.locator(".hit")).to_have_text(["v150"])
    expect(after.locator(".hit")).to_be_in_viewport()
    field.fill("weight_250")
    expect(after.locator(".hit")).to_have_text(["weight_250"])
    expect(after.locator(".hit")).to_be_in_viewport()
    field.fill("v150")
    expect(after.get_by_role("status")).to_have_text("1 of 1 lines, 1 in folds")


def test_the_editor_shows_many_parameters_as_one_tag_and_opens_it_for_what_is_found(page: Page, long_url: str) -> None:
    root = opened(page, f"{long_url}?show=editor", ".cm-content")
    tag = root.locator(".cm-foldPlaceholder")
    expect(tag).to_contain_text("300 parameters: weight_0, weight_1")
    editor = Editor(root)
    assert "weight_299" in editor.text()
    tag.click()
    expect(tag).to_have_count(0)
    editor.area.click(position={"x": 200, "y": 8})
    page.keyboard.press("Control+Shift+BracketLeft")
    expect(tag).to_have_count(1)
    page.keyboard.press("Control+f")
    page.keyboard.type("weight_250")
    page.keyboard.press("Enter")
    expect(tag).to_have_count(0)
