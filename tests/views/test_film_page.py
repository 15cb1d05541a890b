"""The film on the Passes page: it plays through all stages, and what no pass changes stays where it is."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import OpenPage, rest
from tests.engine.programs import SMALL
from tests.views.pages import assert_accessible, assert_fits
from views.state.address import to_address
from views.state.selection import screen

FILM = ".root[data-playing]"
SEEN = ".canvas .node:not(.away)"
PARAMS = ("x", "w1", "b1", "w2")
PLACES = """(nodes) => Object.fromEntries(nodes.map((node) => {
  const { x, y, width, height } = node.querySelector("rect,polygon,path,ellipse").getBoundingClientRect();
  return [node.getAttribute("aria-label"), [x, y, width, height].map(Math.round)];
}))"""


def opened(open_page: OpenPage, app_url: str, stage: int, more: str = "", sample: str = "relax/mlp.py") -> Page:
    """Open the film of a sample at a stage."""
    page = open_page()
    page.goto(f"{app_url}/passes?sample={sample}&stage={stage}&view=film{more}")
    rest(page)
    expect(film(page, stage)).to_be_visible()
    return page


def film(page: Page, stage: int) -> Locator:
    """Return the film, once it is at a stage."""
    return page.locator(f"{FILM}[data-stage='{stage}']")


@pytest.mark.browser
def test_a_node_that_no_pass_changes_has_the_same_place_in_every_stage(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, 0)
    seen: list[dict[str, list[int]]] = []
    for stage in range(13):
        expect(film(page, stage)).to_be_visible()
        seen.append(page.locator(SEEN).evaluate_all(PLACES))
        page.keyboard.press("ArrowRight")
    for name in PARAMS:
        (label,) = [label for label in seen[0] if label.startswith(f"{name},")]
        assert {tuple(places[label]) for places in seen} == {tuple(seen[0][label])}
    # What was an operator at first has another look behind, in the same place.
    (before,) = [place for label, place in seen[0].items() if label.startswith("nn.relu,")]
    (after,) = [place for label, place in seen[4].items() if label.startswith("changed, relu,")]
    assert before == after
    assert len(seen[8]) == len(seen[7]) + 10


@pytest.mark.browser
def test_the_film_plays_to_its_end_and_the_page_follows(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, 10)
    page.get_by_role("combobox", name="Speed").select_option("4")
    page.locator(".canvas").focus()
    page.keyboard.press("Space")
    expect(film(page, 12)).to_have_attribute("data-playing", "false")
    expect(page).to_have_url(re.compile("stage=12"))
    expect(page.get_by_role("button", name="Stage after")).to_be_disabled()
    # At the end it plays from the start again, until it is stopped.
    page.get_by_role("button", name="Play").click()
    expect(page.locator(FILM)).to_have_attribute("data-playing", "true")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(FILM)).to_have_attribute("data-playing", "false")
    slider = page.get_by_role("slider", name="Stage", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    expect(film(page, 0)).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", "0 Source")
    # A stage that is chosen in the list is gone to.
    page.get_by_text("VMShapeLower").first.click()
    expect(film(page, 11)).to_be_visible()
    expect(page.locator(".told")).to_contain_text("9 added")


@pytest.mark.browser
def test_what_moves_is_marked_and_a_selected_node_stays_so_through_its_looks(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, 2, sample="seeds/print_closure2.py")
    expect(page.locator(f"{SEEN}.is-moved")).to_have_count(2)
    expect(page.locator(f"{SEEN}.gone .sign")).to_have_text("→")
    expect(page.locator(f"{SEEN}.is-added .sign")).to_have_text(["+", "+"])
    page.locator(f"{SEEN}[aria-label*=make_closure]").click()
    expect(page).to_have_url(re.compile("node=2"))
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(film(page, 10)).to_be_visible()
    expect(page.locator(f"{SEEN}.selected")).to_have_attribute("aria-label", re.compile("^changed, .*make_closure"))
    expect(page).to_have_url(re.compile("node=10%2F"))


@pytest.mark.browser
def test_less_motion_fades_nothing_and_a_film_that_is_too_large_leads_to_the_graph(
    open_page: OpenPage, app_url: str
) -> None:
    page = opened(open_page, app_url, 4)
    node = page.locator(".canvas .node").first
    expect(node).to_have_css("transition-duration", "0.3s, 0.3s")
    page.emulate_media(reduced_motion="reduce")
    expect(node).to_have_css("transition-duration", "0s")
    lines = [
        "        y0 = R.add(x, x)",
        *(f"        y{n} = R.add(y{n - 1}, x)" for n in range(1, 401)),
        "        return y400",
    ]
    text = SMALL.partition("        y =")[0] + "\n".join(lines) + "\n"
    shown = screen(text=text).changed(view="film", stage=1, pipeline="Normalize")
    page.goto(f"{app_url}/passes?{urlencode(to_address(shown), doseq=True)}")
    expect(page.get_by_text("The stages together have 403 nodes, and a film shows at most 400.")).to_be_visible()
    page.get_by_role("button", name="Graph of this pass").click()
    expect(page).to_have_url(re.compile("view=graph"))


@pytest.mark.browser
def test_the_film_is_accessible_and_fits_windows_of_every_width(open_page: OpenPage, app_url: str) -> None:
    page = opened(open_page, app_url, 2, sample="seeds/print_closure2.py")
    assert_accessible(page, 1440)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, 1440, "dark")
    assert_fits(page, has_panes=True)
