"""Layers that repeat are one box of the graph, opened level by level and folded again."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import OpenPage, rest
from tests.present.layered import attending, layered
from tests.processes import wait_until
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


@pytest.mark.browser
def test_a_search_looks_into_folds_and_opens_the_way(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", layered(40))
    canvas = page.get_by_label(re.compile("^@main, 407 nodes"))
    way = page.get_by_role("group", name="Open groups")
    canvas.press("/")
    field = page.get_by_label("Search the graph")
    words = page.get_by_role("search").get_by_role("status")
    field.fill("op = nothing")
    expect(words).to_have_text("No hit. 407 nodes searched, folds included.")
    field.fill("op =")
    expect(words).to_have_text("Column 5: what `op` is compared with is missing")
    field.fill("op = R.permute_dims and name ~ ^lv")
    expect(words).to_have_text("40 found")
    expect(canvas.get_by_role("img", name=re.compile("^layers × 40.*40 hits inside"))).to_be_visible()
    field.press("Enter")
    expect(way.get_by_role("button")).to_have_text(["layers × 40 ✕", "layers_0 ✕"])
    expect(canvas.locator("g.node.selected")).to_have_attribute("aria-label", re.compile("^permute_dims"))
    expect(words).to_have_text("1 of 40")
    assert_accessible(page, 1440)
    field.press("Enter")
    expect(way.get_by_role("button")).to_have_text(["layers × 40 ✕", "layers_1 ✕"])
    page.get_by_role("button", name="Previous hit").click()
    expect(way.get_by_role("button")).to_have_text(["layers × 40 ✕", "layers_0 ✕"])
    way.get_by_role("button", name="Fold layers × 40").click()
    expect(way).to_have_count(0)
    expect(canvas.locator("g.node.selected")).to_have_attribute("aria-label", re.compile("^layers × 40"))
    field.press("Escape")
    expect(canvas).to_be_focused()


@pytest.mark.browser
def test_a_search_finds_a_weight_that_is_hidden_and_shows_it(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", layered(40))
    canvas = page.get_by_label(re.compile("^@main, "))
    page.get_by_role("button", name="Hide weights").click()
    weight = canvas.get_by_role("img", name=re.compile("^embedding"))
    expect(weight).to_have_count(0)
    canvas.press("/")
    page.get_by_label("Search the graph").fill("embedding")
    page.get_by_label("Search the graph").press("Enter")
    expect(weight).to_be_visible()
    expect(weight).to_have_class(re.compile("selected"))


@pytest.mark.browser
def test_a_search_opens_the_way_in_a_graph_that_compares(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "passes", layered(40), stage=4, view="graph")
    page.get_by_label(re.compile("^Compare, ")).press("/")
    page.get_by_label("Search the graph").fill("layers_7_proj")
    page.get_by_label("Search the graph").press("Enter")
    chips = page.get_by_role("group", name="Open groups").get_by_role("button")
    expect(chips).to_have_text(["layers × 40 ✕", "layers_7 ✕"])


@pytest.mark.browser
def test_a_graph_that_does_not_fit_has_a_map_whose_frame_is_dragged(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", layered(40))
    canvas = page.get_by_label(re.compile("^@main, 407 nodes"))
    on_map = page.get_by_label(re.compile("^Map of the graph"))
    layers = canvas.get_by_role("img", name=re.compile("^layers × 40"))
    expect(layers).to_be_visible()
    expect(on_map).to_be_hidden()
    layers.dblclick()
    expect(on_map).to_be_visible()
    first = canvas.get_by_role("img", name=re.compile("^layers_0,"))
    last = canvas.get_by_role("img", name=re.compile("^layers_39,"))
    assert_in_sight(canvas, first, last)
    assert_accessible(page, 1440)
    frame, whole = on_map.locator(".frame").bounding_box(), on_map.bounding_box()
    assert frame is not None
    assert whole is not None
    page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    page.mouse.down()
    page.mouse.move(whole["x"] + whole["width"] / 2, whole["y"] + whole["height"] - 4, steps=4)
    page.mouse.up()
    assert_in_sight(canvas, last, first)
    on_map.press("Home")
    assert_in_sight(canvas, first, last)
    on_map.press("End")
    assert_in_sight(canvas, last, first)
    page.get_by_role("button", name="Fold layers × 40").click()
    expect(on_map).to_be_hidden()


def assert_in_sight(canvas: Locator, shown: Locator, other: Locator) -> None:
    """Wait until of two nodes of a graph one is in sight."""
    height = canvas.evaluate("(it) => it.getBoundingClientRect().bottom")

    def is_above(node: Locator) -> bool:
        box = node.bounding_box()
        return box is not None and canvas.evaluate("(it) => it.getBoundingClientRect().top") < box["y"] < height

    assert wait_until(lambda: is_above(shown) and not is_above(other))


@pytest.mark.browser
def test_modules_of_a_layer_are_boxes_within_each_other(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, "", attending(20))
    canvas = page.get_by_label(re.compile("^@main, "))
    way = page.get_by_role("group", name="Open groups").get_by_role("button")
    canvas.press("/")
    page.get_by_label("Search the graph").fill("name = layers_3_attn_q_bias")
    page.get_by_label("Search the graph").press("Enter")
    expect(way).to_have_text(["layers × 20 ✕", "layers_3 ✕", "attn ✕", "q ✕"])
    expect(canvas.locator("g.cluster.group")).to_have_count(4)
    expect(canvas.get_by_role("img", name=re.compile("^mlp,"))).to_be_visible()
    assert_accessible(page, 1440)
    page.get_by_role("button", name="Fold attn").click()
    expect(way).to_have_text(["layers × 20 ✕", "layers_3 ✕"])
    expect(canvas.get_by_role("img", name=re.compile("^attn,"))).to_be_visible()


RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { add(nn.relu(%x), 1f) }
"""


@pytest.mark.browser
@pytest.mark.parametrize(("page_name", "text"), [("partition", layered(40)), ("devices", RELAY)])
def test_a_graph_with_steps_is_searched_and_the_address_keeps_on_which_page_weights_are_hidden(
    open_page: OpenPage, app_url: str, page_name: str, text: str
) -> None:
    page = opened(open_page, app_url, page_name, text)
    page.get_by_title("Search the graph (/)").click()
    expect(page.get_by_label("Search the graph")).to_be_focused()
    page.get_by_role("button", name="Hide weights").click()
    hidden = page.get_by_role("button", name=re.compile("^[0-9]+ hidden"))
    expect(hidden).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(f"bare={page_name}"))
    again = open_page()
    again.goto(page.url)
    expect(again.get_by_role("button", name=re.compile("^[0-9]+ hidden"))).to_have_attribute("aria-pressed", "true")
