"""Lines and nodes in the colours of what they take: chosen on one page, and kept on others."""

from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage, open_popover
from tests.views.pages import assert_accessible, opened, sent_to
from views.state.address import to_address
from views.state.selection import screen

MLP = "relax/mlp.py"


def marks_of(heat: dict[str, Any]) -> dict[int, int]:
    return {line: level for line, (level, _, _) in heat["lines"]}


def test_text_and_graph_of_the_source_page_have_the_same_heat() -> None:
    app = opened("source", screen(sample=MLP))
    assert sent_to(app)["relaxscope_editor"][0]["heat"] is None
    app.radio(key="heat.quantity").set_value("bytes").run()
    assert app.query_params["quantity"] == "bytes"
    shown = sent_to(app)
    heat = shown["relaxscope_editor"][0]["heat"]
    assert marks_of(heat)[18] == 5
    assert shown["relaxscope_graph"][0]["heat"] == heat
    drawn = {node["node"] for node in shown["relaxscope_graph"][1]["nodes"]}
    assert {node for node, _ in heat["nodes"]} <= drawn


def test_the_run_page_shows_the_quantity_that_was_chosen_elsewhere() -> None:
    app = opened("run", screen(sample=MLP, quantity="values"))
    assert app.radio(key="heat.quantity").value == "values"
    heat = sent_to(app)["relaxscope_stepper"][0]["heat"]
    assert heat["title"] == "Largest |value|"
    assert set(marks_of(heat)) == {18, 19, 20, 21, 22}


def test_what_cannot_be_measured_is_said_in_place_of_colours() -> None:
    app = opened("source", screen(text="def f(:", quantity="bytes"))
    assert sent_to(app)["relaxscope_editor"][0]["heat"] is None
    assert app.info


@pytest.mark.parametrize(("page", "component"), [("run", "stepper"), ("source", "editor")])
def test_no_colour_gives_away_what_a_lesson_asks(page: str, component: str) -> None:
    app = opened(page, screen(sample=MLP, lesson="nan_hunting", lesson_step=1, quantity="values"))
    assert sent_to(app)[f"relaxscope_{component}"][0]["heat"] is None


@pytest.mark.browser
@pytest.mark.parametrize(("width", "mode"), [(1440, "light"), (760, "dark")])
def test_stripes_tell_their_figures(open_page: OpenPage, app_url: str, width: int, mode: Any) -> None:
    page = open_page(width, mode=mode)
    page.goto(f"{app_url}/?{urlencode(to_address(screen(sample=MLP)), doseq=True)}")
    open_popover(page.get_by_role("button", name="Heat"))
    page.get_by_text("FLOP", exact=True).click()
    page.keyboard.press("Escape")
    expect(page.locator(".cm-heat .stripe")).to_have_count(5)
    expect(page.locator(".cm-heat .stripe").first).to_have_attribute("title", "Operations: 1.02 kFLOP")
    expect(page.locator(".heat-legend")).to_contain_text("linear, 0 to 1.02 kFLOP")
    expect(page.locator(".node.level-5")).to_have_count(1)
    expect(page.locator(".node.level-5 .figure")).to_have_text("1.02 kFLOP")
    assert_accessible(page, width, mode)
