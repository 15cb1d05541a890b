"""Mends of errors on the Source page: one by one, all at once, and taken back."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Mode, OpenPage
from tests.views.pages import assert_accessible
from views.state.address import to_address
from views.state.selection import screen

WRONG = """\
@R.function
def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
    y = R.nn.softmox(x)
    w: R.Tensor((2, k), "float32") = R.match_cast(y, R.Tensor((2, k), "float32"))
    z = R.multipli(w, w)
    return z
"""
BOTH = """(mends) => {
  const trees = [...document.querySelectorAll("*")].flatMap((node) => node.shadowRoot ?? []);
  const links = () => trees.flatMap((tree) => [...tree.querySelectorAll("[data-mend]")]);
  for (const mend of mends) links().find((link) => link.dataset.mend.startsWith(mend)).click();
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_all_errors_that_know_their_mend_are_mended_at_once(
    open_page: OpenPage, app_url: str, mode: Mode, width: int
) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/?{urlencode(to_address(screen(text=WRONG)))}")
    text = page.get_by_role("textbox", name="Program text")
    every = page.get_by_role("button", name="Fix all 3")
    expect(every).to_be_visible()
    assert_accessible(page, width)
    problems = page.get_by_role("table", name="Problems")
    lines = problems.locator("[data-problem] td:last-child")
    expect(lines).to_have_text(["3:9", "4:21", "5:9"])
    for _ in range(2):
        page.get_by_role("button", name="Line", exact=True).click()
    expect(lines).to_have_text(["5:9", "4:21", "3:9"])
    with page.expect_download() as saving:
        page.get_by_role("button", name="Problems as a CSV file").click()
    head, first, *_ = saving.value.path().read_text(encoding="utf-8").splitlines()
    assert head == "Problem,Code,Line"
    assert re.search(r"R\.multipli.*,[A-Z]+\d+,5:9$", first)
    every.click()
    expect(text).to_contain_text("R.nn.softmax(x)")
    expect(text).to_contain_text("R.multiply(w, w)")
    expect(text).to_contain_text("k = T.int64()")
    expect(page.get_by_text("Well-formed")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Fix all"))).to_have_count(0)
    text.press("Control+z")
    expect(text).to_contain_text("R.nn.softmox(x)")
    expect(text).to_contain_text("R.multipli(w, w)")
    expect(every).to_be_visible()
    # Two clicks before the answer to the first: the other mend stands a line lower by then.
    page.evaluate(BOTH, ["k = T.int64()", "R.multiply"])
    expect(text).to_contain_text("R.multiply(w, w)")
    expect(text).to_contain_text("k = T.int64()")
    expect(text).to_contain_text("R.nn.softmox(x)")
    expect(page.get_by_role("button", name=re.compile("^(Declare|Replace|Fix)"))).to_have_count(1)
    page.get_by_role("button", name="Replace with R.nn.softmax").click()
    expect(page.get_by_text("Well-formed")).to_be_visible()
    expect(page.get_by_text("printed and read back: equal")).to_have_count(1)


@pytest.mark.browser
def test_a_text_is_formatted_as_it_is_printed_and_brought_back(page: Page, app_url: str) -> None:
    plain = "@R.function\ndef main(x: R.Tensor((2,3),'float32')):\n    y=R.nn.relu( x )\n    return y\n"
    page.goto(f"{app_url}/?{urlencode(to_address(screen(text=plain)))}")
    text = page.get_by_role("textbox", name="Program text")
    expect(text).to_contain_text("R.nn.relu( x )")
    page.get_by_role("button", name="Format", exact=True).click()
    expect(text).to_contain_text("R.nn.relu(x)")
    text.press("Control+z")
    expect(text).to_contain_text("R.nn.relu( x )")
