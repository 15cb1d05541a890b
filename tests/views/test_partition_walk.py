"""The Partition page in headless Chromium: scrub, switch lets, show why, try a pattern, export."""

import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import OpenPage, open_popover, rest
from views.state.address import to_address
from views.state.selection import screen

SEED = "relay/library_call_two.relay"

pytestmark = pytest.mark.browser


def graph_of(page: Page) -> Locator:
    # While a page runs again, what it showed before may stand beside what it shows.
    root = page.locator(".root[data-nodes]").first
    expect(root).to_be_visible()
    return root


def tables_of(page: Page) -> Locator:
    root = page.locator(".root[data-regions]").first
    expect(root).to_be_visible()
    return root


def test_the_walk_through_the_program_of_the_report(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample={SEED}&step=1")
    graph, tables = graph_of(page), tables_of(page)
    steps = graph.get_by_role("radiogroup", name="Steps")
    expect(graph.locator("g.port")).to_have_count(0)
    expect(graph.locator("g.composite")).to_have_count(2)
    page.keyboard.press("j")
    expect(steps.get_by_role("radio", name="AnnotateTarget")).to_have_attribute("aria-checked", "true")
    expect(graph.locator("g.port.begin")).to_have_count(7)
    # While Streamlit runs the page, what it showed before stands there too.
    expect(graph).to_have_count(1)
    steps.get_by_role("radio", name="AnnotateTarget").press("ArrowRight")
    expect(steps.get_by_role("radio", name="MergeCompilerRegions")).to_have_attribute("aria-checked", "true")
    expect(graph.locator("g.cluster.region")).to_have_count(2)
    expect(graph).to_have_count(1)
    steps.get_by_role("radio", name="PartitionGraph").click()
    expect(graph.get_by_text("match_key_main_4", exact=True)).to_be_visible()

    tables.locator("tr[data-pair='0']").click()
    expect(tables).to_have_attribute("data-shown", "0")
    expect(graph.locator("g.edge.blocking")).to_have_count(4)
    expect(graph.locator("g.node.blocked").filter(has_text="let %x")).to_have_count(1)
    expect(page).to_have_url(re.compile("pair=0"))

    tables.locator("tr[data-lets='reported']").press("Enter")
    expect(page.get_by_text("▲ 3 open begins")).to_be_visible()
    expect(graph.locator("g.port.open")).to_have_count(3)
    expect(tables.locator("tr[data-lets='reported']")).to_contain_text("match_key_4_i0, match_key_8_i0")
    tables.locator("tr[data-lets='values']").click()
    expect(graph.locator("g.port.open")).to_have_count(0)


def test_a_pattern_is_broken_tried_and_taken_back(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample={SEED}")
    tables = tables_of(page)
    area = tables.get_by_role("textbox", name="Pattern match_key")
    whole = area.input_value()
    area.fill("wildcard()(wildcard(), wildcard()).has_attr({'match_key': 'my_library'}")
    area.press("Control+Enter")
    expect(tables.get_by_role("alert")).to_contain_text("line 1")
    expect(tables).to_have_attribute("data-regions", "2")
    area.fill("wildcard()(wildcard(), wildcard()).has_attr({'match_key': 'my_library'})")
    tables.get_by_role("button", name="Try", exact=True).click()
    expect(tables).to_have_attribute("data-regions", "1")
    expect(tables.get_by_text("✓ 1 match", exact=True)).to_be_visible()
    tables.get_by_role("button", name="Back to the sample's table").click()
    expect(tables).to_have_attribute("data-regions", "2")
    expect(tables.get_by_role("textbox", name="Pattern match_key")).to_have_value(whole)


def test_a_pattern_of_several_bindings_is_tried_and_says_why_it_does_not_fit(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample=relax/partition_paths.py")
    tables = tables_of(page)
    tables.get_by_role("button", name="New pattern").click()
    area = tables.get_by_role("textbox", name="Pattern cutlass.pattern")
    call = "(wildcard(), wildcard(), add_constraint=False)"
    area.fill(f'm = is_op("relax.matmul"){call}\nm >> is_op("relax.add"){call}')
    area.press("Control+Enter")
    expect(tables.get_by_text("✓ 1 match", exact=True)).to_be_visible()
    row = tables.locator("tr[data-match='0']")
    expect(row).to_contain_text("m = ")
    row.click()
    expect(row).to_have_class("on")
    area.fill(f'm = is_op("relax.matmul"){call}\nm >> is_op("relax.exp"){call}')
    area.press("Control+Enter")
    expect(tables.get_by_text("no match", exact=True)).to_be_visible()
    expect(tables.locator("tr[data-match='0']")).to_contain_text("which is not exp; found before: m = ")
    area.fill("m = wildcard()\nm.same_shape_as(m)")
    area.press("Control+Enter")
    expect(tables.get_by_role("alert")).to_contain_text("no edge joins the patterns")


def test_a_network_is_offloaded_step_by_step_with_a_table_of_ones_own(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample=relay/partition_branches.relay&table=acl")
    tables = tables_of(page)
    expect(tables).to_have_attribute("data-regions", "3")
    tables.get_by_role("button", name="Add tanh to acl").click()
    expect(tables).to_have_attribute("data-regions", "2")
    tables.locator("tr[data-pair='0']").click()
    tables.get_by_role("button", name="Try with exp in acl").click()
    expect(tables).to_have_attribute("data-regions", "1")
    tables.locator("tr[data-region='0']").click()
    expect(tables.locator("tr[data-inside] dd").first).to_contain_text("tanh")
    tables.get_by_role("button", name="Take exp from acl").click()
    expect(tables).to_have_attribute("data-regions", "2")
    tables.get_by_role("button", name="New pattern").click()
    name = tables.get_by_role("textbox", name="Name of the pattern")
    expect(name).to_have_value("acl.pattern")
    tables.get_by_role("textbox", name="Pattern acl.pattern").fill('is_op("expp")(wildcard())')
    name.fill("acl.exp")
    name.press("Enter")
    expect(tables.get_by_role("textbox", name="Pattern acl.exp")).to_be_visible()
    expect(tables.get_by_role("status")).to_contain_text("expp, which is no operator; exp is one")


TWO_BETWEEN = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 4), float32]) {
  nn.relu(exp(tanh(exp(nn.relu(%x)))))
}
"""


def test_a_path_of_several_operators_is_shown_whole_and_tried_without(page: Page, app_url: str) -> None:
    given = json.dumps({"patterns": [], "supported": {"acl": ["nn.relu"]}})
    page.goto(f"{app_url}/partition?{urlencode(to_address(screen(text=TWO_BETWEEN, table_text=given, pair=0)))}")
    graph, tables = graph_of(page), tables_of(page)
    row = tables.locator("tr[data-pair='0']")
    expect(row).to_contain_text("blocking path")
    expect(row.locator(".path .chip")).to_have_text(["acl 0", "exp", "tanh", "exp", "acl 1"])
    expect(graph.locator("g.node.blocked")).to_have_count(3)
    tables.get_by_role("button", name="Try with exp, tanh in acl", exact=True).click()
    expect(tables.locator("tr[data-region]")).to_have_count(1)
    expect(tables.locator("tr[data-pair]")).to_have_count(0)


def test_a_text_that_is_no_table_is_said_first_and_taken_back(page: Page, app_url: str) -> None:
    address = to_address(screen(sample=SEED, table_text='{"patterns": ['))
    page.goto(f"{app_url}/partition?{urlencode(address)}")
    tables = tables_of(page)
    alert = tables.get_by_role("alert")
    expect(alert).to_contain_text("The edited table is not used.")
    expect(alert).to_contain_text("it is no JSON")
    alert.get_by_role("button", name="Back to the sample's table").click()
    expect(alert).to_have_count(0)


def test_a_free_variable_leads_to_the_begin_that_it_stands_for(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample={SEED}&lets=reported&step=4")
    tables, graph = tables_of(page), graph_of(page)
    rows = tables.get_by_role("table", name="Problems").get_by_role("row")
    expect(rows).to_have_count(7)
    expect(rows.last).to_contain_text("it stands for the begin of region match_key 8, which never ends")
    rows.last.get_by_role("button", name="Show the begin").click()
    steps = graph.get_by_role("radiogroup", name="Steps")
    expect(steps.get_by_role("radio", name="MergeCompilerRegions")).to_have_attribute("aria-checked", "true")
    expect(graph.locator("g.port.open.selected")).to_have_count(1)


def test_a_region_is_selected_and_the_report_is_saved(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample=relay/partition_branches.relay&table=dnnl")
    graph, tables = graph_of(page), tables_of(page)
    tables.locator("tr[data-region='1']").click()
    expect(graph.locator("g.node.selected")).to_have_count(1)
    expect(page.get_by_text("Life of this node")).to_be_visible()
    open_popover(page.get_by_role("button", name="Share", exact=True))
    expect(page.get_by_role("button", name="JSON")).to_be_visible()
    with page.expect_download() as found:
        page.get_by_role("button", name="JSON").click()
    report = json.loads(found.value.path().read_text(encoding="utf-8"))
    assert [row["target"] for row in report["regions"]] == ["dnnl"] * 3
    assert found.value.suggested_filename == "partition_branches.regions.json"


def test_the_picture_that_is_saved_has_the_path_in_red(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample=relay/partition_branches.relay&pair=0")
    graph = graph_of(page)
    shown = graph.locator("g.edge.blocking")
    expect(shown.first).to_be_attached()
    graph.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as found:
        graph.get_by_role("button", name="SVG file").click()
    text = found.value.path().read_text(encoding="utf-8")
    assert text.count('stroke-width="2.6"') == shown.count()
    assert "var(" not in text


@pytest.mark.parametrize("address", [f"partition?sample={SEED}&lets=reported", "devices?sample=relay/devices.relay"])
def test_tables_do_not_scroll_sideways_in_a_narrow_window(open_page: OpenPage, app_url: str, address: str) -> None:
    page = open_page(1000, 800)
    page.goto(f"{app_url}/{address}")
    graph_of(page)
    tables = page.locator(".scroll:has(table)")
    expect(tables).to_be_visible()
    rest(page)
    width, shown = tables.evaluate("item => [item.scrollWidth, item.clientWidth]")
    assert width <= shown
    # The pane ends above the status line, under a bar of one row or of two.
    bottom = page.locator(".root[data-nodes]").evaluate("item => item.getBoundingClientRect().bottom")
    assert bottom <= page.get_by_test_id("stBottom").evaluate("item => item.getBoundingClientRect().top") + 1


def test_a_relax_module_is_walked_through(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/partition?sample=relax/partition_paths.py")
    graph, tables = graph_of(page), tables_of(page)
    steps = graph.get_by_role("radiogroup", name="Steps")
    expect(steps.get_by_role("radio", name="MergeCompositeFunctions")).to_have_attribute("aria-checked", "true")
    expect(tables).to_have_attribute("data-regions", "4")
    tables.locator("tr[data-pair='0']").click()
    # To `sin` and on, and past it.
    expect(graph.locator("g.edge.blocking")).to_have_count(3)
    tables.get_by_role("button", name="Try with sin in cutlass").click()
    expect(tables).to_have_attribute("data-regions", "3")
    steps.get_by_role("radio", name="RunCodegen").click()
    expect(steps.get_by_role("radio", name="RunCodegen")).to_have_attribute("aria-checked", "true")


def clicked(page: Page, app_url: str) -> tuple[Locator, Locator]:
    """Go from the Source page of a Relax module to its Partition page by one click; return its graph and tables."""
    page.goto(f"{app_url}/?sample=relax/partition_paths.py")
    rest(page)
    page.get_by_role("link", name="Partition").first.click()
    return graph_of(page), tables_of(page)


def test_a_relax_module_is_run_by_the_reference_backend_and_compared(page: Page, app_url: str) -> None:
    clicked(page, app_url)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("✓ same result")).to_be_visible()
    # The third click: what each region was handed.
    open_popover(page.get_by_role("button", name="Handed over"))
    said = page.get_by_test_id("stPopoverBody")
    expect(said).to_contain_text("1 result compared. Same values: 5 variables; others: 0.")
    expect(said).to_contain_text("fused_relax_sigmoid_relax_multiply1_gates runs in the reference backend for gates")
    expect(said).to_contain_text("takes cutlass 1 (4, 16) f32; holds literal () f32; gives (4, 16) f32")


def test_a_region_and_a_miss_are_explained_and_a_pattern_is_edited_in_three_clicks(page: Page, app_url: str) -> None:
    graph, tables = clicked(page, app_url)
    tables.locator("tr[data-pair='0']").click()
    expect(graph.locator("g.edge.blocking")).to_have_count(3)
    clicked(page, app_url)
    area = tables_of(page).get_by_role("textbox", name="Pattern cutlass.")
    area.click()
    area.fill('is_op("relax.nn.relu")(is_op("relax.exp")(wildcard()))')
    tables_of(page).get_by_role("button", name="Try").first.click()
    # No `relu` of an `exp` is there: the place that came closest says why not.
    expect(tables_of(page)).to_contain_text("is_op('exp') did not match relax.add: is not exp")
    expect(tables_of(page).get_by_text("no match").first).to_be_visible()
    # What matches no more is no problem of the module.
    expect(tables_of(page).get_by_role("table", name="Problems")).to_have_count(0)
