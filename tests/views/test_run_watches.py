"""Expressions that the Run page evaluates over a run: those that it watches, and those in messages of logpoints."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Mode, OpenPage, rest
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
    # Two have a head, by which they are sorted.
    expect(table.locator("tr")).to_have_count(3)
    page.get_by_role("button", name="Expression", exact=True).click()
    expect(table.locator("td").first).to_have_text("nowhere")
    page.get_by_role("button", name="Watch nowhere no longer").click()
    expect(table.locator("tr")).to_have_count(1)


@pytest.mark.browser
def test_a_logpoint_lists_its_messages_which_lead_to_their_times(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/loop.py&time=6&breakpoints=16")
    page.get_by_role("button", name="Log at line 16").click()
    field = page.get_by_label("Message of line 16")
    field.fill("{i} of {n}, {nothing}")
    field.press("Enter")
    log = page.get_by_role("group", name="Log")
    expect(log).to_contain_text("2 of 8, <there is no `nothing` in the function that runs>")
    log.get_by_role("button").nth(2).click()
    expect(log.locator("[aria-current]")).to_contain_text("2 of 8")
    assert_accessible(page, 1440)
    page.get_by_role("button", name=re.compile("^Continue")).click()
    expect(page.locator(".root[data-at][data-total]").first).to_have_attribute("data-at", "212")
    with page.expect_download() as got:
        page.get_by_role("button", name="Download", exact=True).click()
    assert len(got.value.path().read_text(encoding="utf-8").splitlines()) == 8


@pytest.mark.browser
def test_a_watch_has_its_history_and_a_name_in_the_source_its_value_at_this_time(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/loop.py&time=40&watches=i")
    history = page.get_by_role("img", name=re.compile(r"^i over the run: \d+ values$"))
    expect(history).to_be_visible()
    stepper = page.locator(".root[data-at][data-total]").first
    total = int(stepper.get_attribute("data-total") or "0")
    history.click(position={"x": 0.75 * history.evaluate("picture => picture.getBoundingClientRect().width"), "y": 5})
    expect(stepper).not_to_have_attribute("data-at", "40")
    at = int(stepper.get_attribute("data-at") or "0")
    assert total / 2 < at <= 0.75 * total + 1
    value = page.locator("[data-watch=i]").inner_text()
    line = page.locator(".listing.source .ln", has_text="goes_on = ").locator(".t")
    rest(page)
    page.mouse.move(*line.evaluate(PLACE_OF, "i, n"))
    tip = page.get_by_role("tooltip").filter(has_text="in @")
    expect(tip).to_contain_text(value)


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_registers_and_breakpoints_are_filtered_sorted_and_saved(
    open_page: OpenPage, app_url: str, mode: Mode, width: int
) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/run?sample=relax/loop.py&time=20&breakpoints=16?i > 3,12")
    table = page.get_by_role("table", name=re.compile("^Registers"))
    rows = table.locator("tr[data-register]").filter(visible=True)
    expect(rows.first).to_be_visible()
    count = rows.count()
    words = page.get_by_label("Registers with")
    words.press_sequentially("tensor")
    expect(words).to_be_focused()
    expect(words).to_have_value("tensor")
    kinds = set(rows.evaluate_all("rows => rows.map((row) => row.dataset.kind)"))
    assert kinds == {"tensor", "tensor0"}
    assert 0 < rows.count() < count
    with page.expect_download() as saving:
        page.get_by_role("button", name="Registers as a CSV file").click()
    head, *lines = Path(saving.value.path()).read_text(encoding="utf-8").splitlines()
    assert head == 'Frame,Kind,Reg,Name,"Type, device",Value'
    assert len(lines) == rows.count()
    assert all(line.split(",")[1] in ("tensor", "rank-0 tensor") for line in lines)
    words.fill("")
    expect(rows).to_have_count(count)
    page.get_by_role("button", name="Name", exact=True).click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    named = rows.evaluate_all("rows => rows.map((row) => [row.dataset.register.split('.')[0], row.cells[2].innerText])")
    for frame in {frame for frame, _ in named}:
        names = [name for other, name in named if other == frame]
        assert len(names) > 1
        assert names == sorted(names)
    page.get_by_role("button", name="Where", exact=True).click()
    points = page.get_by_role("table", name="Breakpoints")
    expect(points.locator("[data-point]").first).to_have_attribute("data-point", "line 12")
    assert_accessible(page, width, mode)
