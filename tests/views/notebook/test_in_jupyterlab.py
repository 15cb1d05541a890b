"""The sample notebook, executed in JupyterLab: its widgets are used in Chromium, and then shown without a kernel."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, expect

from relax_core.engine.notebook.still import PAGE_BYTES
from tests.browser import LONGEST_WAIT_MS, wait_for
from tests.engine.programs import SAMPLES
from tests.views.notebook.lab import lab

pytestmark = pytest.mark.browser

NAME = "show.ipynb"
GRAPH, STAGES, RUN = range(3)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "notebooks").mkdir()
    shutil.copy(SAMPLES / "notebooks" / NAME, folder / "notebooks")
    return folder


@pytest.fixture(scope="module")
def page(home: Path, chromium: Browser) -> Iterator[Page]:
    """Open the notebook and run its cells; no script of ours may fail in the page."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(LONGEST_WAIT_MS)
    with lab(home) as address:
        page = context.new_page()
        failures: list[str] = []
        page.on("pageerror", lambda error: failures.append(error.stack or str(error)))
        page.goto(address.format(name=NAME))
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        command(page, "notebook:run-all-cells")
        expect(page.locator(".relaxscope")).to_have_count(3)
        yield page
        # A widget's script is loaded from a blob; JupyterLab's own, which fail at times, are files of its server.
        assert [stack for stack in failures if "blob:" in stack] == []
        context.close()


def command(page: Page, name: str, **arguments: str) -> None:
    """Begin a command of JupyterLab, as its menu does; what comes of it is seen in the page."""
    page.evaluate("([name, given]) => void jupyterapp.commands.execute(name, given)", [name, arguments])


def widget(page: Page, number: int) -> Locator:
    found = page.locator(".relaxscope").nth(number)
    found.scroll_into_view_if_needed()
    return found


def part(page: Page, number: int, name: str) -> Locator:
    return widget(page, number).locator(f"[data-part={name}] .root")


def stand(stepper: Locator, time: int) -> None:
    """Wait until the stepper stands at a time."""
    expect(stepper).to_have_attribute("data-at", str(time))


def test_the_graph_of_a_module_is_drawn_and_answered_by_the_kernel(page: Page) -> None:
    graph = part(page, GRAPH, "graph")
    expect(graph).to_have_attribute("data-nodes", "7")
    graph.get_by_text("matmul").first.click()
    wait_for(graph, "it => it.dataset.selected !== ''")
    selected = graph.get_attribute("data-selected")
    graph.get_by_role("button", name="Hide weights").click()
    expect(graph.get_by_role("button", name="hidden")).to_be_visible()
    expect(graph).to_have_attribute("data-selected", selected or "")
    assert int(graph.get_attribute("data-nodes") or 0) < 7


def test_a_node_that_is_selected_in_one_widget_is_not_in_another(page: Page) -> None:
    other = part(page, STAGES, "graph")
    before = other.get_attribute("data-selected")
    part(page, GRAPH, "graph").get_by_text("softmax").first.click()
    wait_for(part(page, GRAPH, "graph"), "it => it.dataset.selected !== ''")
    assert other.get_attribute("data-selected") == before


def test_stages_are_chosen_and_shown_as_text_graph_and_structure(page: Page) -> None:
    diff, graph = part(page, STAGES, "diff"), part(page, STAGES, "graph")
    expect(diff).to_contain_text("LegalizeOps")
    expect(diff).to_contain_text("stage 1 of 3")
    expect(graph.locator(".canvas svg").first).to_be_visible()
    diff.get_by_role("button", name="Stage 2, FuseOps").click()
    expect(diff).to_contain_text("After · FuseOps")
    expect(diff).to_contain_text("stage 2 of 3")
    diff.get_by_text("Structure", exact=True).click()
    expect(diff.get_by_role("table").first).to_be_visible()
    expect(graph).to_be_hidden()
    diff.get_by_text("Text and graph", exact=True).click()
    expect(graph).to_be_visible()


def test_a_run_is_stepped_through_forwards_and_backwards(page: Page) -> None:
    stepper = part(page, RUN, "stepper")
    stand(stepper, 0)
    stepper.get_by_role("button", name="Over").click()
    wait_for(stepper, "it => Number(it.dataset.at) > 0")
    stepper.get_by_role("button", name="Back").first.click()
    stand(stepper, 0)
    total = int(stepper.get_attribute("data-total") or 0)
    stepper.get_by_role("button", name="Continue").click()
    stand(stepper, total)
    expect(stepper.get_by_text("returned").first).to_be_visible()


def test_the_kernel_answers_what_is_watched_and_asked_about(page: Page) -> None:
    stepper = part(page, RUN, "stepper")
    stepper.get_by_placeholder("x[0, 1] + n").fill("x[0, 1] + b[0]")
    page.keyboard.press("Enter")
    expect(stepper.get_by_role("table", name="Watched expressions")).to_contain_text("x[0, 1] + b[0]")
    stepper.get_by_role("button", name="Explain").click()
    note = widget(page, RUN).locator(".note")
    expect(note).to_be_visible()
    expect(note).to_contain_text("call")


def test_keys_are_the_widget_s_while_it_has_the_focus(page: Page) -> None:
    stepper, cells = part(page, RUN, "stepper"), page.locator(".jp-Cell")
    count = cells.count()
    stepper.locator("[role=slider]").focus()
    page.keyboard.press("Home")
    stand(stepper, 0)
    page.keyboard.press("n")
    wait_for(stepper, "it => Number(it.dataset.at) > 0")
    page.keyboard.press("b")
    stand(stepper, 0)
    assert cells.count() == count
    page.locator(".jp-Cell .jp-InputPrompt").first.click()
    page.keyboard.press("b")
    expect(cells).to_have_count(count + 1)
    stand(stepper, 0)
    command(page, "notebook:undo-cell-action")
    expect(cells).to_have_count(count)


def test_components_follow_the_theme_of_the_notebook(page: Page) -> None:
    graph = part(page, GRAPH, "graph")
    for theme, background in (("JupyterLab Dark", "rgb(20, 23, 27)"), ("JupyterLab Light", "rgb(255, 255, 255)")):
        command(page, "apputils:change-theme", theme=theme)
        expect(widget(page, GRAPH)).to_have_css("color-scheme", theme.rpartition(" ")[2].lower())
        expect(graph).to_have_css("background-color", background)


def kept(path: Path) -> list[dict[str, Any]]:
    """Return what the file of a notebook has of the values of its cells, each by type."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [output["data"] for cell in cells for output in cell.get("outputs", ()) if "data" in output]


def test_what_the_notebook_keeps_is_shown_without_a_kernel(page: Page, home: Path, chromium: Browser) -> None:
    page.evaluate("() => jupyterapp.commands.execute('docmanager:save').then(() => true)")
    path = home / "notebooks" / NAME
    assert len(kept(path)) == 3
    assert all(len("".join(data["text/html"])) < 2 * PAGE_BYTES for data in kept(path))
    html, _ = HTMLExporter(template_name="basic").from_filename(str(path))
    file = home / "show.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><body>{html}</body></html>', encoding="utf-8"
    )
    with chromium.new_context(offline=True) as context:
        still = context.new_page()
        said: list[str] = []
        still.on("console", lambda message: said.append(message.text))
        still.on("pageerror", lambda error: said.append(str(error)))
        still.goto(file.as_uri())
        expect(still.locator("iframe")).to_have_count(3)
        expect(still.locator(".relaxscope")).to_have_count(0)
        for number, words in enumerate(("Graphs", "After the last pass", "Steps")):
            frame = still.locator("iframe").nth(number)
            frame.evaluate("it => it.scrollIntoView()")
            expect(frame.content_frame.get_by_text(words).first).to_be_visible()
        graph = still.locator("iframe").first.content_frame.locator(".graph").first
        graph.evaluate("it => it.scrollIntoView()")
        expect(graph.locator(".canvas")).to_be_visible()
        assert said == []
