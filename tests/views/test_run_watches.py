"""Expressions that the Run page watches: added, stepped, followed over the run, taken away, kept in the address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import Mode, OpenPage
from tests.views.pages import assert_accessible

PLACE_OF = """(line, words) => {
  const node = [...line.childNodes].find((item) => item.textContent.includes(words)) ?? line;
  const text = node.firstChild ?? node;
  const range = document.createRange();
  range.setStart(text, text.textContent.indexOf(words));
  range.setEnd(text, text.textContent.indexOf(words) + 1);
  const { left, top, width, height } = range.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_an_expression_is_watched_while_the_run_is_stepped(
    open_page: OpenPage, app_url: str, mode: Mode, width: int
) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/run?sample=relax/inplace_update.py&time=6")
    field = page.get_by_label("Expression to watch")
    field.fill("time * 2")
    field.press("Enter")
    table = page.get_by_role("table", name="Watched expressions")
    expect(table.locator("[data-watch]")).to_have_text("12")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Over")).click()
    expect(page.locator(".root[data-at]").first).not_to_have_attribute("data-at", "6")
    at = int(page.locator(".root[data-at]").first.get_attribute("data-at") or "0")
    expect(table.locator("[data-watch]")).to_have_text(str(2 * at))
    field.fill("nowhere")
    field.press("Enter")
    expect(table.locator("[data-watch=nowhere]")).to_contain_text("nowhere")
    expect(page).to_have_url(re.compile("watches="))
    assert_accessible(page, width)
    page.reload()
    expect(table.locator("tr")).to_have_count(2)
    page.get_by_role("button", name="Watch nowhere no longer").click()
    expect(table.locator("tr")).to_have_count(1)
