"""Lines and nodes in the colours of what they take: chosen on one page, and kept on others."""

import re
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


def test_the_graph_of_the_run_page_is_that_of_the_function_that_runs_in_the_same_colours() -> None:
    app = opened("run", screen(sample=MLP, quantity="operations"))
    assert sent_to(app)["relaxscope_stepper"][0]["dataflow"] is None
    app = opened("run", screen(sample=MLP, quantity="operations", tab="graph"))
    shown = sent_to(app)["relaxscope_stepper"][0]
    assert shown["dataflow"]["view"]["heat"] == shown["heat"]
    drawn = {node["node"] for node in shown["dataflow"]["graph"]["nodes"]}
    assert {node for node, _ in shown["heat"]["nodes"]} <= drawn


@pytest.mark.parametrize(
    ("sample", "time", "title"),
    [
        ("relax/fib.py", 0, "@main"),
        ("relax/fib.py", 9, "@fib"),
        ("relay/conditional.relay", 9, "@main"),
        ("relax/mlp.py", 29, "@main"),
        ("gpu/race.py", 0, "@turned_sums"),
    ],
    ids=["the caller", "what it called", "what was lifted out of a function", "the end", "nothing ran"],
)
def test_the_graph_follows_the_run_from_function_to_function(sample: str, time: int, title: str) -> None:
    app = opened("run", screen(sample=sample, time=time, tab="graph"))
    assert sent_to(app)["relaxscope_stepper"][0]["dataflow"]["graph"]["title"] == title


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


@pytest.mark.browser
def test_what_returns_a_value_takes_nothing_of_what_computed_it(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/?sample=relay/conv_bn_relu.relay&quantity=operations")
    returned = page.locator(".node.return")
    expect(page.locator(".node > .figure")).to_have_count(7)
    expect(page.locator(".node", has_text="nn.relu").last.locator(".figure")).to_have_text("512 FLOP")
    expect(returned.locator(".figure")).to_have_count(0)
    expect(returned).not_to_have_attribute("aria-label", re.compile("FLOP"))
    expect(page.locator(".node.return:is(.level-1,.level-2,.level-3,.level-4,.level-5)")).to_have_count(0)


@pytest.mark.browser
def test_each_step_marks_in_the_graph_what_is_next(open_page: OpenPage, app_url: str) -> None:
    page = open_page(760)
    address = urlencode(to_address(screen(sample=MLP, quantity="operations", time=9, tab="graph")), doseq=True)
    page.goto(f"{app_url}/run?{address}")
    current = page.locator(".dataflow .node.now")
    expect(current).to_have_attribute("aria-label", "matmul, lv   (4, 16) f32, Operations: 1.02 kFLOP")
    page.keyboard.press("n")
    expect(current).to_have_attribute("aria-label", "add, lv1   (4, 16) f32, Operations: 64 FLOP")
    node = page.locator(".dataflow .node", has_text="softmax")
    node.click()
    expect(page).to_have_url(re.compile(r"[?&]node=0%2Fmain%2F25(&|$)"))
    # The key is the graph's now, which has the focus.
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile(r"[?&]node=0%2Fmain%2F16(&|$)"))
    page.keyboard.press("F10")
    expect(current).to_have_attribute("aria-label", "nn.relu, lv2   (4, 16) f32, Operations: 64 FLOP")
