"""The Passes page tries every pass on the module of a stage."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage, open_popover, rest
from tests.views.pages import assert_accessible
from views.state.address import to_address
from views.state.selection import screen

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "mode"), [(1440, "light"), (760, "dark")])
def test_every_pass_is_tried(open_page: OpenPage, app_url: str, width: int, mode: str) -> None:
    page = open_page(width, mode=mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
    shown = screen(sample="relax/mlp.py", pipeline="LegalizeOps").changed(stage=1)
    page.goto(f"{app_url}/passes?{urlencode(to_address(shown), doseq=True)}")
    open_popover(page.get_by_role("button", name="Pipeline: own"))
    page.get_by_role("button", name="Try every pass").click()
    expect(page.get_by_text("would change the module after LegalizeOps")).to_be_visible()
    rest(page)
    page.get_by_text(re.compile("Why not [0-9]+ others")).click()
    expect(page.get_by_test_id("stExpanderDetails").get_by_role("button", name="CSV", exact=True)).to_be_visible()
    expect(page.get_by_text("Both orders of two passes")).to_be_visible()
    assert_accessible(page, width, mode)  # pyright: ignore[reportArgumentType]  # one of the two modes
