"""A report in Chromium without a network: it asks for nothing, its graphs move, and it breaks no rule of a page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, expect

from relax_core.engine.protocol import Program, ReportOf
from relax_core.engine.session import Session
from tests.browser import wait_for
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES
from tests.views.hostile import hostile_texts
from tests.views.pages import assert_readable
from tests.views.test_hostile_names import ELSEWHERE, relax_program, relay_program

pytestmark = pytest.mark.browser

NOTES = "\n\n".join(("# What I saw", "*mlp* is fine.", *hostile_texts(ELSEWHERE)))
TRANSFORM = "it => it.querySelector('g.view').getAttribute('transform')"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write reports, and give the addresses of their files."""
    folder, session = tmp_path_factory.mktemp("reports"), Session()
    mlp = (SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8")
    relay = (SAMPLES / "relay" / "devices.relay").read_text(encoding="utf-8")
    asked = {
        "mlp": ReportOf(Program(mlp, "mlp.py", pipeline="LegalizeOps, FuseOps, FuseTIR"), NOTES),
        "devices": ReportOf(Program(relay, "devices.relay")),
        "hostile": ReportOf(Program(relax_program(), "<img src=x onerror=alert(1)>.py"), NOTES),
        "hostile_relay": ReportOf(Program(relay_program(), "a.relay")),
    }
    for name, request in asked.items():
        (folder / f"{name}.html").write_text(ask(session, request).html, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in asked}


@pytest.fixture
def alone(chromium: Browser) -> Iterator[Page]:
    """Open a tab without a network, which must ask for no more than the file, say nothing, and open no dialog."""
    context = chromium.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def dismissed(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismissed)
    yield page
    assert {url.partition("#")[0] for url in asked} == {page.url.partition("#")[0]}
    assert said == []
    context.close()


def opened(page: Page, address: str, width: int = 1280) -> Page:
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme="light")
    page.goto(address)
    return page


def first_graph(page: Page) -> Locator:
    found = page.locator(".graph").first
    found.scroll_into_view_if_needed()
    expect(found.locator(".canvas")).to_be_visible()
    return found.locator(".canvas")


@pytest.mark.parametrize("name", ["mlp", "hostile", "hostile_relay"])
def test_a_report_asks_for_nothing_and_says_nothing(name: str, alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports[name])
    for graph in page.locator("details[open] > .graph").all()[:6]:
        graph.scroll_into_view_if_needed()
        expect(graph.locator(".canvas")).to_be_visible()
    expect(page.locator("main img")).to_have_count(0)


def test_a_graph_is_moved_and_enlarged_by_mouse_and_by_keys(alone: Page, reports: dict[str, str]) -> None:
    canvas = first_graph(opened(alone, reports["mlp"]))
    seen = [canvas.evaluate(TRANSFORM)]

    def has_moved() -> None:
        wait_for(canvas, f"(it, before) => ({TRANSFORM})(it) !== before", seen[-1])
        seen.append(canvas.evaluate(TRANSFORM))

    box = canvas.bounding_box()
    assert box is not None
    alone.mouse.move(box["x"] + 30, box["y"] + 30)
    alone.mouse.down()
    alone.mouse.move(box["x"] + 130, box["y"] + 60, steps=3)
    alone.mouse.up()
    has_moved()
    canvas.focus()
    alone.mouse.wheel(0, -240)
    has_moved()
    for key in ("ArrowLeft", "ArrowDown", "+", "-", " "):
        alone.keyboard.press(key)
        has_moved()
    alone.keyboard.press("n")
    expect(canvas.locator(".node.selected")).not_to_have_count(0)
    alone.keyboard.press("/")
    expect(canvas.get_by_role("searchbox").or_(canvas.get_by_role("textbox"))).to_be_focused()


def test_the_wheel_is_the_page_s_until_a_graph_has_the_focus(alone: Page, reports: dict[str, str]) -> None:
    canvas = first_graph(opened(alone, reports["mlp"]))
    before, top = canvas.evaluate(TRANSFORM), alone.evaluate("scrollY")
    canvas.hover()
    alone.mouse.wheel(0, 200)
    wait_for(alone, "top => scrollY > top", top)
    assert canvas.evaluate(TRANSFORM) == before


def test_a_graph_shows_one_side_of_a_pass(alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports["mlp"])
    part = page.locator("#stage-1 > .graph")
    part.scroll_into_view_if_needed()
    part.get_by_role("button", name="Before").or_(part.get_by_text("Before", exact=True)).first.click()
    expect(part.locator(".canvas")).to_have_class("canvas show-before")


def test_parts_open_and_close_together(alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports["mlp"])
    page.get_by_role("button", name="Close all").click()
    expect(page.locator("#passes details[open]")).to_have_count(0)
    page.get_by_role("button", name="Open all").click()
    expect(page.locator("#passes details:not([open])")).to_have_count(0)


def test_a_line_of_a_step_leads_to_the_text(alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports["mlp"])
    link = page.locator("#run td a").first
    line = link.inner_text()
    link.click()
    expect(page.locator(f"#source-{line}")).to_be_in_viewport()


def test_devices_have_their_colours(alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports["devices"])
    graph = page.locator("h3:has-text('Devices') + .graph")
    graph.scroll_into_view_if_needed()
    expect(graph.locator(".node.on-cat0").first).to_be_visible()
    expect(graph.locator(".legend")).to_contain_text("cuda")


def test_without_a_script_the_pictures_stand_still(chromium: Browser, reports: dict[str, str]) -> None:
    context = chromium.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["mlp"])
    expect(page.locator(".graph > svg").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [760, 1280, 1920])
def test_a_report_is_accessible(width: int, alone: Page, reports: dict[str, str]) -> None:
    page = opened(alone, reports["mlp"], width)
    page.get_by_role("button", name="Open all").click()
    first_graph(page)
    assert_readable(page, width)
    light = page.locator("body").evaluate("it => getComputedStyle(it).backgroundColor")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).not_to_have_css("background-color", light)
    assert_readable(page, width, "dark")
