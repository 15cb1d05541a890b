"""The pages of a program write a report of it, with notes and the parts that are wanted, and open on it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Mode, OpenPage, open_popover, rest
from tests.views.pages import assert_accessible

pytestmark = pytest.mark.browser

PASSES = "LegalizeOps,FuseOps"


def shared(page: Page, app_url: str, name: str) -> None:
    # The Source page is the first one, and has no path.
    path = "" if name == "source" else name
    page.goto(f"{app_url}/{path}?sample=relax/mlp.py&pipeline={PASSES}")
    rest(page)
    open_popover(page.get_by_role("button", name="Share"))


def written(page: Page, folder: Path) -> str:
    page.get_by_role("button", name="Write report").click()
    with page.expect_download() as found:
        page.get_by_role("button", name="Download report").click()
    assert found.value.suggested_filename == "mlp.report.html"
    found.value.save_as(folder / "mlp.html")
    return (folder / "mlp.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["source", "passes", "run"])
def test_a_page_saves_a_report_with_notes(name: str, page: Page, app_url: str, tmp_path: Path) -> None:
    shared(page, app_url, name)
    page.get_by_role("textbox", name="Notes").fill("Is it **fused**?")
    text = written(page, tmp_path)
    assert "Is it <strong>fused</strong>?" in text
    for words in ("After · FuseOps", "✓ returned", f"--passes {PASSES} --seed 0"):
        assert words in text, words


def test_a_report_tells_of_the_parts_that_are_wanted(page: Page, app_url: str, tmp_path: Path) -> None:
    shared(page, app_url, "run")
    for part in ("Source", "Passes"):
        page.get_by_test_id("stCheckbox").filter(has_text=part).locator("label").click()
        rest(page)
    text = written(page, tmp_path)
    assert 'id="run"' in text
    assert 'id="passes"' not in text


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_menu_is_accessible(mode: Mode, open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, mode=mode)
    shared(page, app_url, "source")
    page.get_by_role("button", name="Write report").click()
    expect(page.get_by_role("button", name="Download report")).to_be_visible()
    assert_accessible(page, 1280, mode)
