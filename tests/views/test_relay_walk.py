"""The app on a Relay program in headless Chromium: read, broken, mended, inspected, printed, and run."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Editor

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = "relay/even_odd.relay"

pytestmark = pytest.mark.browser


def _edit(page: Page, old: str, new: str) -> int:
    """Replace `old` in the editor and check it; returns the line from 1."""
    editor = Editor(page)
    editor.expect_text(re.compile(re.escape(old)))
    text = editor.text()
    editor.fill(text.replace(old, new))
    editor.submit()
    return text[: text.index(old)].count("\n") + 1


def test_the_walk_with_a_relay_program(page: Page, app_url: str) -> None:
    page.goto(app_url)
    expect(Editor(page).area).to_be_visible()
    page.get_by_role("combobox").first.click()
    page.keyboard.type("Even and odd, over")
    page.get_by_role("option", name=re.compile("Even and odd, over natural numbers")).first.click()
    expect(page.get_by_text("Relay 0.0.5", exact=True)).to_be_visible()
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()

    line = _edit(page, "@nat_double(%three)", "@nat_double(%thre)")
    problems = page.locator(".root[data-problems]").first
    expect(problems).not_to_have_attribute("data-problems", "0")
    expect(page.get_by_text("✕", exact=False).first).to_be_visible()
    problems.locator("tr[data-problem='0']").click()
    assert Editor(page).caret_line() == line

    _edit(page, "%thre)", "%three)")
    expect(problems).to_have_attribute("data-problems", "0")
    page.get_by_role("tab", name="@is_even", exact=True).click()
    shape = page.locator(".root svg g.match").first
    expect(shape).to_be_visible()
    shape.click()
    expect(page.get_by_text("Clauses", exact=True).first).to_be_visible()


def test_relay_is_lowered_and_run(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?sample={SAMPLE}")
    expect(page.get_by_text("RelayToRelax", exact=False).first).to_be_visible()
    page.goto(f"{app_url}/run?sample={SAMPLE}")
    expect(page.get_by_text("vm.builtin.get_tag", exact=False).first).to_be_visible()
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


def test_a_module_without_arguments_is_no_mistake(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relay/context_analysis_log.relay")
    expect(page.get_by_text("no function that can be run on made-up arguments", exact=False)).to_be_visible()
    expect(page.locator("[data-testid=stAlertContentError]")).to_have_count(0)


def test_a_module_is_printed_for_a_chosen_version(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample=relax/fib.py")
    editor = Editor(page)
    editor.expect_text(re.compile("R.function"))
    page.get_by_role("button", name="Print as").click()
    page.get_by_role("combobox", name="For").click()
    page.get_by_role("option", name="TVMScript for TVM 0.25").click()
    expect(page.get_by_role("button", name="Download").last).to_be_visible()
    page.get_by_role("button", name="Use this text").click()
    editor.expect_text(re.compile("# from tvm.script import ir as I"))
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()


def test_a_dropped_relay_file_is_opened(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample=seeds/print_closure.py")
    editor = Editor(page)
    expect(editor.area).to_be_visible()
    text = (REPOSITORY / "samples" / "relay" / "references.relay").read_text(encoding="utf-8")
    dropped = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'a.relay')); return d; }", text
    )
    editor.area.dispatch_event("drop", {"dataTransfer": dropped})
    editor.expect_text(text)
    expect(page.get_by_text("Relay 0.0.5", exact=True)).to_be_visible()
    expect(page.get_by_text("✓ Well-formed")).to_be_visible()
    expect(page.get_by_text("a.relay", exact=True).first).to_be_visible()
    expect(page).to_have_url(re.compile(r"sample=a\.relay"))


def test_an_uploaded_file_goes_by_its_own_name(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample=seeds/print_closure.py")
    editor = Editor(page)
    expect(editor.area).to_be_visible()
    page.get_by_role("button", name="Upload").first.click()
    file = REPOSITORY / "samples" / "relay" / "references.relay"
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.relay", "mimeType": "text/plain", "buffer": file.read_bytes()}
    )
    editor.expect_text(file.read_text(encoding="utf-8"))
    expect(page.get_by_text("mine.relay", exact=True).first).to_be_visible()
    expect(page).to_have_url(re.compile(r"sample=mine\.relay"))
