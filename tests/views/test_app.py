"""The app in headless Chromium: the walk that a visitor takes, narrow windows."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_server import serve
from tests.browser import Editor, OpenPage, rest, wait_for
from tests.views.pages import assert_accessible

REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.browser


def pane(page: Page, holds: str) -> Locator:
    """The root of the component that holds `holds`."""
    root = page.locator(".root[data-rev]").filter(has=page.locator(holds))
    expect(root.first).to_be_visible()
    return root.first


def becomes(shown: Locator, condition: str) -> None:
    """Wait until a condition on its box, such as `box => box.width > 380`, holds: layout follows a change later."""
    wait_for(shown, f"item => ({condition})(item.getBoundingClientRect())")


def replace_text(page: Page, old: str, new: str) -> None:
    editor = Editor(page)
    text = editor.text()
    assert old in text
    editor.fill(text.replace(old, new))
    editor.submit()


def test_the_walk_of_a_visitor(page: Page, app_url: str) -> None:
    page.goto(app_url)
    Editor(page).expect_text(re.compile("ir_module"))
    page.get_by_role("combobox").first.fill("Two local")
    page.get_by_role("option", name=re.compile("Two local functions")).first.click()
    Editor(page).expect_text(re.compile("even"))

    replace_text(page, "R.function", "R.functoin")
    expect(page.get_by_text("✕", exact=False).first).to_be_visible()
    expect(page.locator(".root[data-problems]").first).not_to_have_attribute("data-problems", "0")
    replace_text(page, "R.functoin", "R.function")
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()

    page.get_by_role("button", name="Run passes").first.click()
    stages = page.locator(".root[data-stage]").first
    expect(stages).to_be_visible()
    stages.get_by_text("CallTIRRewrite").click()
    expect(page.get_by_text("Before", exact=False).first).to_be_visible()

    page.get_by_role("link", name="Run", exact=True).click()
    stepper = pane(page, ".strip")
    expect(stepper).to_have_attribute("data-at", "0")
    rest(page)
    # The third step stands before the call of a kernel, into which another `i` would go.
    for key in "iiinn":
        page.keyboard.press(key)
    expect(stepper).to_have_attribute("data-at", "12")
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(stepper).to_have_attribute("data-at", "5")
    page.keyboard.press("F9")
    expect(stepper.locator("tr[data-point]").first).to_be_visible()
    page.keyboard.press("F8")
    expect(stepper).not_to_have_attribute("data-at", "5")


def test_the_address_reproduces_the_screen(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=seeds/print_closure2.py&time=2")
    expect(pane(page, ".strip")).to_have_attribute("data-at", "2")
    page.goto(f"{app_url}/passes?sample=seeds/print_closure2.py&stage=2&view=text")
    expect(page.locator(".root[data-stage]").first).to_have_attribute("data-stage", "2")


def test_a_fresh_clone_shows_every_component_from_any_folder(page: Page, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    left_out = shutil.ignore_patterns(".venv", ".git", "tests", "benchmarks", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(REPOSITORY, clone, ignore=left_out)
    home = tmp_path / "elsewhere"
    home.mkdir()
    with serve(home, clone / "app.py") as url:
        page.goto(url)
        expect(page.locator(".root[data-rev]")).to_have_count(4)
        page.goto(f"{url}/passes?sample=seeds/print_closure2.py")
        expect(page.locator(".root[data-rev]")).to_have_count(5)
        page.goto(f"{url}/run?sample=seeds/print_closure2.py")
        expect(page.locator(".root[data-at]")).to_have_count(1)


def test_the_app_survives_programs_that_do_not_end(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=errors/jt_out_of_range.py")
    stepper = pane(page, ".strip")
    stepper.get_by_role("button", name="End").click()
    expect(stepper.locator(".now.error")).to_contain_text("Out of range")
    page.goto(f"{app_url}/run?sample=errors/vm_unbounded_recursion.py")
    expect(page.get_by_text(re.compile("depth|nested|recursion", re.IGNORECASE)).first).to_be_visible()
    page.goto(f"{app_url}/?sample=seeds/print_closure.py")
    expect(Editor(page).area).to_be_visible()


def test_a_dropped_file_is_opened(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample=seeds/print_closure.py")
    editor = Editor(page)
    text = (REPOSITORY / "samples" / "relax" / "fib.py").read_text(encoding="utf-8")
    dropped = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'fib.py')); return d; }", text
    )
    editor.area.dispatch_event("drop", {"dataTransfer": dropped})
    editor.expect_text(text)
    expect(page.get_by_role("tab", name="fib.py")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]sample=fib\.py(&|$)"))


def test_the_inspector_is_a_drawer_in_a_narrow_window(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(app_url)
    handle = page.get_by_role("button", name=re.compile("^Inspector: gv0"))
    expect(handle).to_be_visible()
    content = page.locator(".root[data-title] .content")
    expect(content).to_be_hidden()
    page.keyboard.press("p")
    expect(content).to_be_visible()
    expect(content).to_contain_text("Defined")
    assert_accessible(page, 1280)
    page.keyboard.press("Escape")
    expect(content).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(content).to_be_visible()
    expect(handle).to_be_hidden()


def test_the_run_page_is_whole_on_a_telephone(open_page: OpenPage, app_url: str) -> None:
    page = open_page(390, 844)
    page.goto(f"{app_url}/run?sample=seeds/print_closure2.py")
    stepper = pane(page, ".strip")
    rest(page)
    for name in ("Back", "Over", "In", "Out", "Continue", "End"):
        button = stepper.get_by_role("button", name=name).first
        becomes(button, "box => box.left >= 0 && box.right <= 390")
    for part in (".listing.source", ".strip", ".upper"):
        becomes(stepper.locator(part), "box => box.width > 380")


def test_a_problem_leads_from_another_page_to_its_line(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=errors/ty_matmul.py")
    expect(page.get_by_text("1 problem in ty_matmul.py")).to_be_visible()
    expect(page.get_by_text("^^^", exact=False)).to_be_visible()
    page.get_by_role("button", name="Go to line 12").click()
    Editor(page).expect_text(re.compile("matmul"))
    expect(page.get_by_role("table", name="Problems").locator("[data-problem]").first).to_contain_text("TY012")


def test_an_error_of_a_run_is_announced_and_reached(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=errors/jt_out_of_range.py")
    expect(page.get_by_role("button", name="JT010")).to_be_visible()
    page.get_by_role("button", name="To the error").click()
    stepper = pane(page, ".strip")
    expect(stepper.locator(".now.error")).to_contain_text("Out of range")
    expect(stepper.locator(".instructions .ln.cur")).to_contain_text("out_of_range")
