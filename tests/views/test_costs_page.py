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
    expect(page.get_by_text("one call of `main`")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame").filter(visible=True)).to_be_visible()
    assert_accessible(page, width, mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
