"""The pipeline of the Passes page as a list: it and its text stay in step, by keys, by dragging and by a form."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from relax_core.passes.library import PASSES
from relax_core.passes.pipeline import EVERYWHERE
from tests.browser import Mode, OpenPage, open_popover, rest
from tests.views.pages import assert_accessible, opened, sent_to
from views.state.address import to_address
from views.state.selection import Selection, screen

FIRST = screen(sample="relax/mlp.py", pipeline="Normalize, FuseOps(max_depth=4), LegalizeOps")


def form_of(selection: Selection) -> dict[str, Any]:
    """Return the list that the page gives the component."""
    return sent_to(opened("passes", selection))["relaxscope_steps"][1]


def test_a_list_holds_what_its_text_says_and_every_pass_with_its_sentence() -> None:
    form = form_of(FIRST)
    assert [item["name"] for item in form["steps"]] == ["Normalize", "FuseOps", "LegalizeOps"]
    assert form["steps"][1]["given"] == [{"name": "max_depth", "shown": "4", "literal": "4"}]
    expected = {name: item.summary for (dialect, name), item in PASSES.items() if dialect in ("relax", *EVERYWHERE)}
    assert {item["name"]: item["summary"] for item in form["passes"]} == expected


def test_the_options_of_every_pass_have_a_kind_and_a_default() -> None:
    relay = form_of(screen(sample="relay/map_three_times.relay"))
    kinds = {(item["name"], option["name"]): option for item in relay["passes"] for option in item["options"]}
    assert kinds["DeadCodeElimination", "inline_once"]["kind"] == "flag"
    assert kinds["FuseOps", "max_depth"]["kind"] == "number"
    assert kinds["LambdaLift", "names"]["choices"] == ["tvm", "2022"]
    assert kinds["RemoveUnusedFunctions", "entry_functions"]["default"] == "main"


@pytest.mark.parametrize("text", ["Normalize, Nothing", "Normalize,, (", "FuseOps(max_depth=)", "FuseOps(depth=1)"])
def test_a_text_that_cannot_be_read_leaves_the_list_empty_and_says_why(text: str) -> None:
    form = form_of(FIRST.changed(pipeline=text))
    assert form["steps"] == []
    assert form["problems"]


def list_of(page: Page, label: str = "Pipeline: own") -> Locator:
    """Open the pipeline and return the list in it."""
    rest(page)
    open_popover(page.get_by_role("button", name=label))
    root = page.locator(".root[data-passes]").first
    expect(root).to_be_visible()
    return root


@pytest.mark.browser
def test_a_list_is_added_to_reordered_and_given_options(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/passes?{urlencode(to_address(FIRST))}")
    root, text = list_of(page), page.get_by_role("textbox", name="Passes, in order")
    root.get_by_role("combobox", name="Add a pass").fill("dead")
    page.keyboard.press("Enter")
    expect(text).to_have_value("Normalize, FuseOps(max_depth=4), LegalizeOps, DeadCodeElimination")
    page.keyboard.press("Alt+ArrowUp")
    expect(text).to_have_value("Normalize, FuseOps(max_depth=4), DeadCodeElimination, LegalizeOps")
    expect(root.get_by_role("status")).to_have_text("DeadCodeElimination is now 3 of 4")
    root.get_by_role("button", name="Remove DeadCodeElimination").click()
    expect(text).to_have_value("Normalize, FuseOps(max_depth=4), LegalizeOps")
    root.get_by_role("button", name="2 FuseOps").click()
    root.get_by_role("spinbutton", name="max_depth").fill("7")
    page.keyboard.press("Tab")
    expect(text).to_have_value("Normalize, FuseOps(max_depth=7), LegalizeOps")
    rows = root.get_by_role("listitem")
    rows.nth(2).locator(".grip").drag_to(rows.nth(0))
    expect(text).to_have_value("LegalizeOps, Normalize, FuseOps(max_depth=7)")
    text.fill("Normalize, Nothing")
    page.get_by_role("button", name="Run passes").click()
    expect(root.get_by_role("alert")).to_contain_text("there is no pass Nothing")
    expect(root).to_have_attribute("data-passes", "0")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "mode"), [(1440, "light"), (760, "dark")])
def test_a_list_is_accessible(open_page: OpenPage, app_url: str, width: int, mode: Mode) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/passes?{urlencode(to_address(FIRST))}")
    root = list_of(page)
    root.get_by_role("button", name=re.compile("FuseOps$|2 FuseOps")).first.click()
    root.get_by_role("combobox", name="Add a pass").fill("fuse")
    schemes = [
        item.evaluate("element => getComputedStyle(element).colorScheme") for item in (root, page.locator(".stApp"))
    ]
    assert schemes == [mode, mode]
    assert_accessible(page, width, mode)
