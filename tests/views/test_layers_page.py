"""Layers that repeat are one box of the graph, opened level by level and folded again."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser import OpenPage, rest
from tests.present.layered import layered
from tests.views.pages import assert_accessible
from views.state.address import to_address
from views.state.selection import screen


def opened(open_page: OpenPage, app_url: str, page_name: str, text: str, **changes: str | int) -> Page:
    page = open_page()
    page.goto(f"{app_url}/{page_name}?{urlencode(to_address(screen(sample='', text=text, **changes)))}")
    rest(page)
    return page


@pytest.mark.browser
def test_layers_are_opened_level_by_level_and_folded_again(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", layered(40))
    canvas = page.get_by_label(re.compile("^@main, 407 nodes"))
    way = page.get_by_role("group", name="Open groups")
    layers = canvas.get_by_role("img", name=re.compile("^layers × 40"))
    expect(layers).to_be_visible()
    expect(canvas.locator("g.node")).to_have_count(8)
    expect(way).to_have_count(0)
    layers.dblclick()
    expect(canvas.locator("g.node")).to_have_count(87)
    expect(way.get_by_role("button")).to_have_text(["layers × 40 ✕"])
    canvas.get_by_role("img", name=re.compile("^layers_3,")).dblclick()
    expect(canvas.locator("g.node")).to_have_count(95)
    expect(way.get_by_role("button")).to_have_text(["layers × 40 ✕", "layers_3 ✕"])
    assert_accessible(page, 1440)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, 1440, "dark")
    canvas.press("Backspace")
    expect(canvas.locator("g.node")).to_have_count(87)
    way.get_by_role("button", name="Fold layers × 40").click()
    expect(canvas.locator("g.node")).to_have_count(8)
    expect(way).to_have_count(0)


@pytest.mark.browser
def test_a_box_of_a_graph_that_compares_is_opened(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "passes", layered(40), stage=4, view="graph")
    layers = page.get_by_role("img", name=re.compile("^changed, layers × 40, 320 nodes, 80 weights, 320 changed"))
    layers.dblclick()
    expect(page.get_by_role("group", name="Open groups").get_by_role("button")).to_have_text(["layers × 40 ✕"])


@pytest.mark.browser
def test_weights_are_hidden_and_shown_again_on_each_page_by_itself(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", layered(40))
    canvas = page.get_by_label(re.compile("^@main, "))
    weight = canvas.get_by_role("img", name=re.compile("^embedding"))
    expect(weight).to_be_visible()
    page.get_by_role("button", name="Hide weights").click()
    expect(weight).to_have_count(0)
    expect(canvas.get_by_role("img", name=re.compile(r"^add, .*\+1 weight"))).to_be_visible()
    switch = page.get_by_role("button", name="2 hidden")
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert_accessible(page, 1440)
    switch.click()
    expect(weight).to_be_visible()
