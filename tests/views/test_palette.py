"""`Ctrl` and `K` list what can be done on a page and where one can go, and do what is chosen."""

import re

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from relax_core.engine.documents.guides import guides
from relax_core.engine.samples import list_samples
from relax_core.lessons.library import list_lessons
from tests.browser import Mode, OpenPage, rest
from tests.views.pages import assert_accessible
from views import PAGES

pytestmark = pytest.mark.browser


def opened(page: Page, typed: str = "") -> Locator:
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Everything that can be done or opened")
    expect(dialog).to_be_visible()
    page.keyboard.type(typed)
    return dialog


def ready(page: Page) -> None:
    """Wait for the whole page: the palette comes last."""
    rest(page)
    expect(page.locator(".st-key-palette [data-rev]")).to_be_attached()


def at(page: Page, url: str) -> None:
    page.goto(url)
    ready(page)


def test_all_that_is_in_sight_can_be_chosen_and_every_place(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/?sample=relax/mlp.py")
    expect(page.locator(".node").first).to_be_visible()
    buttons = [item for item in page.get_by_test_id("stMain").get_by_role("button").all() if item.is_enabled()]
    names = {text for item in buttons for text in item.inner_text().split("\n") if re.fullmatch(r"[\w ]{4,}", text)}
    names.discard("expand_more")
    dialog = opened(page)
    choices = set(dialog.locator(".name").all_inner_texts())
    assert len(names) > 4, names
    assert names <= choices
    places = len(PAGES) + len(guides()) + len(list_samples()) + sum(file.lesson is not None for file in list_lessons())
    count = dialog.get_by_role("status").inner_text()
    assert int(count.split()[0]) > places


def test_what_is_chosen_is_done_and_the_keys_lead_through_the_list(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/run?sample=relax/fib.py")
    dialog = opened(page, "step")
    first = dialog.get_by_role("option", selected=True).inner_text()
    page.keyboard.press("ArrowDown")
    assert dialog.get_by_role("option", selected=True).inner_text() != first
    page.keyboard.press("ArrowUp")
    expect(dialog.get_by_role("option", selected=True)).to_have_text(first.replace("\n", ""))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    opened(page, "continue")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("time="))
    expect(dialog).to_be_hidden()


def test_it_leads_to_pages_programs_lessons_and_documents(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/?sample=relax/mlp.py")
    dialog = opened(page, "kernels")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/kernels\b"))
    ready(page)
    opened(page, "a matrix product")
    program = dialog.get_by_role("option").filter(has_text="program").first
    title = program.locator(".name").inner_text()
    program.click()
    path = next(sample.path for sample in list_samples() if sample.title == title)
    expect(page).to_have_url(re.compile(path.rpartition("/")[2]))
    ready(page)
    opened(page, "what a tensor program is lesson")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-lesson")).to_be_visible()
    ready(page)
    opened(page, "find a nan")
    dialog.get_by_role("option").filter(has_text="guide").first.click()
    expect(page.get_by_role("dialog", name="Help").get_by_role("heading", name=re.compile("NaN"))).to_be_visible()


def test_what_nothing_has_in_its_name_is_said_and_the_focus_comes_back(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/?sample=relax/mlp.py")
    editor = page.get_by_role("textbox", name="Program text").first
    editor.focus()
    dialog = opened(page, "no such thing at all")
    expect(dialog.get_by_text("Nothing has these words in its name")).to_be_visible()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    page.keyboard.press("Control+k")
    expect(dialog).to_be_hidden()
    expect(editor).to_be_focused()


@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_the_palette_is_accessible(open_page: OpenPage, app_url: str, mode: Mode, width: int) -> None:
    page = open_page(width, mode=mode)
    at(page, f"{app_url}/passes?sample=relax/mlp.py")
    opened(page, "stage")
    assert_accessible(page, width, mode)


def test_light_and_dark_are_switched_in_the_bar_for_all_pages(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/passes?sample=relax/mlp.py&stage=4")
    page.get_by_role("button", name="Dark colours").click()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    ready(page)
    assert "stage=4" in page.url
    at(page, f"{app_url}/run?sample=relax/fib.py")
    scheme = page.locator(".stApp").evaluate("app => getComputedStyle(app).colorScheme")
    assert scheme == "dark"
    page.get_by_role("button", name="Light colours").click()
    expect(page.get_by_role("button", name="Dark colours")).to_be_visible()


def test_light_and_dark_ask_before_they_lose_what_the_address_does_not_hold(page: Page, app_url: str) -> None:
    at(page, f"{app_url}/?sample=relax/mlp.py&left_out=text")
    page.evaluate("history.replaceState(null, '', '?sample=relax/mlp.py&left_out=text')")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.get_by_role("button", name="Dark colours").click()
    assert len(asked) == 1
    assert "lost" in asked[0]
    expect(page.get_by_role("button", name="Dark colours")).to_be_visible()
