"""The Devices page: colours of the graph, the chain of a value, copies, the visits as reported."""

import pytest
from playwright.sync_api import Page, expect

from tests.views.pages import Sent, opened, sent_to
from views.state.selection import Selection, screen

TWO, MAP = "relay/devices.relay", "relay/map_three_times.relay"


def sent(selection: Selection) -> Sent:
    """Return what the components of the page were sent."""
    app = opened("devices", selection)
    assert not app.error
    return sent_to(app)


def test_the_graph_has_the_colours_of_its_devices() -> None:
    view, _ = sent(screen(sample=TWO))["relaxscope_graph"]
    assert view["colour_names"] == [["cat0", "cpu(0)"], ["cat1", "cuda(0)"]]
    assert set(view["colours"].values()) == {"cat0", "cat1"}


def test_a_selected_value_has_its_chain() -> None:
    selection = screen(sample=TWO)
    rows = sent(selection)["relaxscope_devices"][1]["report"]["functions"][0]["rows"]
    result = next(row for row in rows if row["name"] == "%x")
    shown = sent(screen(sample=TWO, node=result["node"]))
    why = shown["relaxscope_devices"][0]["why"]
    assert why["device"] == "cpu(0)"
    assert "annotated with cpu(0)" in why["why"][-1]["words"]
    assert shown["relaxscope_graph"][0]["highlight"] == why["path"]


def test_the_visits_as_reported_leave_a_function_without_devices() -> None:
    model = sent(screen(sample=MAP, as_in="reported"))["relaxscope_devices"][1]
    hidden = [item for item in model["report"]["functions"] if not item["is_visited"]]
    assert [item["name"] for item in hidden] == ["tensor_expand_dims_float32_2_4"]
    assert hidden[0]["hidden_by"].startswith("never visited: memo hit at")
    assert model["report"]["visits"][hidden[0]["hidden_at"]]["kind"] == "memo hit"
    fixed = sent(screen(sample=MAP))["relaxscope_devices"][1]
    assert all(item["is_visited"] for item in fixed["report"]["functions"])


@pytest.mark.parametrize(
    "selection",
    [
        screen(sample=TWO, device="no such", as_in="x", visits="y", visit_limit=3, visit=10**6, node="0/main/999"),
        screen(sample=TWO, view="text", visit=-9),
        screen(sample=MAP, as_in="reported", visits="args_first", visit_limit=99, function="map"),
    ],
    ids=["values that are none", "the text", "the other diagnosis"],
)
def test_the_page_opens_for_any_choice(selection: Selection) -> None:
    assert "relaxscope_devices" in sent(selection)


def test_a_relax_module_is_offered_programs_in_relay() -> None:
    app = opened("devices", screen(sample="seeds/print_closure.py"))
    app.button(key=f"devices.open.{TWO}").click().run()
    assert not app.exception
    assert app.selectbox(key="bar.sample").value == TWO


@pytest.mark.browser
def test_a_value_is_explained_and_the_visits_replay(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/devices?sample={TWO}")
    graph, tables = page.locator(".root[data-nodes]").first, page.locator(".root[data-visit]").first
    expect(graph.locator("g.node.on-cat1")).to_have_count(4)
    expect(graph.locator("g.edge.to-cat1")).to_have_count(1)
    tables.locator("tr[data-copy='0']").click()
    expect(tables.locator("tr[data-link]").last).to_contain_text("cpu(0)")
    expect(graph.locator("g.node.selected")).to_have_count(1)

    page.goto(f"{app_url}/devices?sample={MAP}&as_in=reported&visit=0")
    expect(tables).to_have_attribute("data-visit", "0")
    page.keyboard.press("j")
    expect(tables).to_have_attribute("data-visit", "1")
    tables.locator("tr[data-function='tensor_expand_dims_float32_2_4']").click()
    expect(tables.locator(".steps tr.on")).to_have_attribute("data-kind", "memo hit")
    expect(graph.locator("g.node.on-catNone").first).to_be_visible()
