"""Ways through the app: the programs it offers, the browser's Back, keys, and large pictures."""

import csv
import io
import re
from time import monotonic
from typing import NoReturn
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.bench_partition import network
from relax_core.engine.samples import list_samples
from relax_core.present.models import Pipeline, Stage
from tests.browser import OpenPage
from tests.views.pages import assert_accessible, opened
from views import PAGES
from views.pages.passes.exports import stages_csv
from views.shell.navigation import ask_for_page, go_where_asked, note_page, open_page, page_file
from views.shell.tour import SYSTEMS, Stop, System
from views.state.address import to_address
from views.state.selection import screen

READABLE_PERCENT = re.compile("^([6-9].|1..)%$")
STOPS = [(system, stop) for system in SYSTEMS for stop in system.stops]


def _open_stage(page: Page, number: int) -> Locator:
    row = page.locator(f"tr[data-stage='{number}']")
    row.click()
    expect(row).to_have_attribute("aria-current", "step")
    # The address is written by the server: going back before would write it over another entry of the history.
    expect(page).to_have_url(re.compile(rf"[?&]stage={number}\b"))
    return row


def test_every_program_that_is_offered_exists_and_has_a_page() -> None:
    known = {sample.path for sample in list_samples()}
    assert {stop.screen["sample"] for _, stop in STOPS} <= known
    assert {system.page for system in SYSTEMS} <= {*PAGES}
    titles = [stop.title for _, stop in STOPS]
    assert len(titles) == len(set(titles))


class _Switched(Exception):
    """Raised in place of Streamlit's own, which ends a run and begins the one of another page."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A session that has shown nothing; what it gives is the address of the browser."""

    def switch(script: str) -> NoReturn:
        raise _Switched(script)

    monkeypatch.setattr("streamlit.session_state", {})
    monkeypatch.setattr("streamlit.query_params", found := {"sample": "relax/mlp.py"})
    monkeypatch.setattr("streamlit.switch_page", switch)
    return found


def ran(noun: str) -> str:
    """Run a page as far as it may leave for another one, and return which one it leaves for."""
    note_page(noun)
    try:
        go_where_asked()
    except _Switched as switched:
        return str(switched)
    return ""


@pytest.mark.usefixtures("address")
def test_a_page_is_reached_though_a_message_of_the_one_that_is_left_ran_that_again() -> None:
    note_page("learn")
    with pytest.raises(_Switched):
        open_page("run")
    assert ran("learn") == page_file("run")
    assert ran("run") == ""
    # The message was sent before the browser knew, and comes once the page runs already.
    assert ran("learn") == page_file("run")
    assert ran("run") == ""


def test_a_visitor_who_goes_back_is_not_sent_on_again(address: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    note_page("learn")
    ask_for_page("run")
    assert ran("learn") == page_file("run")
    assert ran("run") == ""
    # The menu leads to a page without an address.
    address.clear()
    assert ran("learn") == ""
    address["sample"] = "relax/fib.py"
    ask_for_page("run")
    assert ran("run") == ""
    later = monotonic() + 2
    monkeypatch.setattr("views.shell.navigation.monotonic", lambda: later)
    assert ran("learn") == ""


@pytest.mark.usefixtures("address")
def test_a_visitor_who_turns_to_a_third_page_is_not_sent_to_the_one_that_was_asked_for() -> None:
    note_page("learn")
    ask_for_page("run")
    assert ran("passes") == ""
    assert ran("learn") == ""


@pytest.mark.parametrize(("system", "stop"), STOPS, ids=[stop.title for _, stop in STOPS])
def test_a_program_that_is_offered_opens_whole_on_its_page(system: System, stop: Stop) -> None:
    app = opened(system.page, screen(**stop.screen))
    assert not app.error
    assert len(app.get("bidi_component")) > 0


def test_a_newcomer_is_offered_each_system_until_the_row_is_hidden() -> None:
    app = opened("source", screen(sample="relax/fib.py"))
    assert not [item for item in app.button if str(item.key).startswith("tour.")]
    app.query_params.clear()
    del app.session_state["selection"]
    app.run()
    assert {f"tour.{system.name}" for system in SYSTEMS} <= {str(item.key) for item in app.button}
    app.button(key="tour.hide").click().run()
    assert not [item for item in app.button if str(item.key).startswith("tour.")]


_BUSY_TOP = """() => {
  const box = document.createElement("div");
  box.className = "st-key-busy-test";
  box.textContent = "Cancel";
  document.querySelector(".st-key-tour").closest("[data-testid=stMain]").append(box);
  const { top } = box.getBoundingClientRect();
  box.remove();
  return top;
}"""
"""Where the box is that tells what the page waits for."""


@pytest.mark.browser
@pytest.mark.parametrize("width", [760, 1280])
def test_a_newcomer_finds_the_course_and_nothing_covers_what_is_offered(
    open_page: OpenPage, app_url: str, width: int
) -> None:
    page = open_page(width, 800)
    page.goto(app_url)
    offered = page.locator(".st-key-tour")
    lesson = offered.get_by_role("button", name="Begin with lesson 1")
    boxes = [item.bounding_box() for item in (lesson, offered.get_by_role("button", name="Learn"), offered)]
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    rows = boxes[-1]
    assert rows is not None
    assert page.evaluate(_BUSY_TOP) >= rows["y"] + rows["height"]
    assert_accessible(page, width)
    lesson.click()
    expect(page.get_by_role("heading", name="A module holds functions")).to_be_visible()


@pytest.mark.browser
def test_back_leaves_the_page_and_forward_finds_the_stage_again(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample=seeds/print_closure2.py")
    expect(page.locator(".root[data-title]")).to_have_count(1)
    page.get_by_role("link", name="Passes", exact=True).click()
    _open_stage(page, 10)
    entries = page.evaluate("history.length")
    row = _open_stage(page, 11)
    assert page.evaluate("history.length") == entries
    page.go_back()
    expect(page.get_by_role("button", name="Step through")).to_be_visible()
    page.go_forward()
    expect(row).to_have_attribute("aria-current", "step")
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_role("tab", name="Keys").click()
    expect(page.get_by_role("dialog").get_by_text("step back")).to_be_visible()


@pytest.mark.browser
def test_a_link_is_followed_behind_a_step_that_the_server_was_not_told_of(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/fib.py")
    stepper = page.locator(".root[data-at]")
    for _ in range(3):
        expect(stepper).to_be_visible()
        before = stepper.get_attribute("data-at") or ""
        page.keyboard.press("i")
        expect(stepper).not_to_have_attribute("data-at", before)
        after = stepper.get_attribute("data-at")
        page.get_by_role("link", name="Source", exact=True).click()
        expect(page.locator(".root[data-title]")).to_have_count(1)
        expect(page).not_to_have_url(re.compile("/run"))
        page.get_by_role("link", name="Run", exact=True).click()
        expect(stepper).to_have_attribute("data-at", after or "")


@pytest.mark.browser
def test_a_path_in_a_large_network_is_brought_into_sight(page: Page, app_url: str) -> None:
    shown = screen(sample="network.relay", text=network(300), table="acl", pair=50)
    page.goto(f"{app_url}/partition?{urlencode(to_address(shown))}")
    expect(page.locator(".node.blocked")).to_be_in_viewport()
    expect(page.locator("tr.on[data-pair='50']")).to_be_in_viewport()
    expect(page.locator(".gtools span")).to_have_text(READABLE_PERCENT)


def test_the_list_of_passes_is_offered_as_csv() -> None:
    stages = (Stage(0, "Source", False, seconds=-1), Stage(1, "A, B", True, 3, 2, seconds=0.25, rewrite_count=4))
    rows = list(csv.DictReader(io.StringIO(stages_csv(Pipeline(stages)))))
    assert [row["pass"] for row in rows] == ["Source", "A, B"]
    assert (rows[0]["changed"], rows[0]["seconds"]) == ("no", "")
    assert (rows[1]["lines_added"], rows[1]["rewrites"], rows[1]["seconds"]) == ("3", "4", "0.250000")
