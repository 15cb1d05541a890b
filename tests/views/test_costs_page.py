"""The Passes page counts what a call costs behind each pass."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage, open_popover
from tests.views.pages import assert_accessible
from views.state.address import to_address
from views.state.selection import screen

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "mode"), [(1440, "light"), (760, "dark")])
def test_costs_are_counted(open_page: OpenPage, app_url: str, width: int, mode: str) -> None:
    page = open_page(width, mode=mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
    shown = screen(sample="relax/mlp.py", pipeline="LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR")
    page.goto(f"{app_url}/passes?{urlencode(to_address(shown), doseq=True)}")
    open_popover(page.get_by_role("button", name="Costs"))
    page.get_by_role("button", name="Count costs").click()
    expect(page.get_by_text("one call of main")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").filter(visible=True)).to_have_count(2)
    assert_accessible(page, width, mode)  # pyright: ignore[reportArgumentType]  # one of the two modes


@pytest.mark.parametrize(("width", "mode"), [(1440, "light"), (760, "dark")])
def test_a_changed_pipeline_is_set_beside_the_one_before(
    open_page: OpenPage, app_url: str, width: int, mode: str
) -> None:
    page = open_page(width, mode=mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
    shown = screen(sample="relax/mlp.py", pipeline="LegalizeOps")
    page.goto(f"{app_url}/passes?{urlencode(to_address(shown), doseq=True)}")
    expect(page.get_by_role("button", name="What if")).to_have_count(0)
    open_popover(page.get_by_role("button", name="Pipeline: own"))
    page.get_by_role("textbox", name="Passes, in order").fill("LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR")
    page.get_by_role("button", name="Run passes").click()
    expect(page.get_by_role("button", name="4 FuseTIR", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    open_popover(page.get_by_role("button", name="What if"))
    page.get_by_role("button", name="Compare both").click()
    expect(page.get_by_text("result: same")).to_be_visible()
    assert_accessible(page, width, mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
    page.get_by_role("button", name="Back to it").click()
    # Now the longer one is the pipeline before the change.
    open_popover(page.get_by_role("button", name="What if"))
    expect(page.get_by_text("LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR")).to_be_visible()
