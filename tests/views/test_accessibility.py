"""Every page, light and dark: no serious rule of accessibility is broken, and it fits windows of every width."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage
from tests.views.pages import assert_accessible, assert_fits
from views import PAGES

CLOSURE = "sample=seeds/print_closure2.py"
# A full screen of each page, and what is there when it is whole.
SCREENS = {
    "source": (f"?{CLOSURE}", ".root[data-rev]"),
    "passes": (f"passes?{CLOSURE}", ".root[data-rev]"),
    "pipeline": ("pipeline?recording=recordings/head_wrong.rxt&judged=1&sample=relax/fib.py", "tr.suspect"),
    "partition": ("partition?sample=relay/library_call_two.relay&pair=0&lets=reported", ".root[data-nodes]"),
    "devices": ("devices?sample=relay/map_three_times.relay&as_in=reported&visit=3", ".root[data-visit]"),
    "run": (f"run?{CLOSURE}", ".root[data-rev]"),
    "kernels": ("kernels?sample=tir/exp.py&part=2", ".root[data-part='2']"),
    "operators": (f"operators?operator=topk&{CLOSURE}", ".root[data-rev]"),
    "classroom": (f"classroom?{CLOSURE}", ".st-key-classroom"),
    "learn": (f"learn?{CLOSURE}", ".st-key-learn"),
}
# What stands beside the registers of the Run page, and is not there on its screen above.
TABS = {
    "graph": ("run?sample=relax/mlp.py&time=10&tab=graph&quantity=values", ".dataflow .node.now"),
    "memory": ("run?sample=relax/inplace_update.py&time=9&tab=memory", ".memory-rows [role=listitem]"),
    "tensor": ("run?sample=relax/inplace_update.py&time=9&tab=tensor&tensor=0;;;0,0;-1;value;;y", "[data-numpy]"),
}


def test_every_page_has_a_screen() -> None:
    assert (*SCREENS,) == PAGES


@pytest.mark.browser
@pytest.mark.parametrize(("address", "whole"), SCREENS.values(), ids=SCREENS)
def test_a_page_is_accessible_and_fits_windows_of_every_width(
    open_page: OpenPage, app_url: str, address: str, whole: str
) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/{address}")
    expect(page.locator(whole).first).to_be_visible()
    expect(page.get_by_text(re.compile("✓ (W|Source: w)ell-formed"))).to_be_visible()
    assert_accessible(page, 1280)
    # The browser's mode is followed at once, by every part of the page.
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, 1280, "dark")
    assert_fits(page, has_panes=whole not in (".st-key-learn", ".st-key-classroom"))


@pytest.mark.browser
@pytest.mark.parametrize(("address", "whole"), TABS.values(), ids=TABS)
def test_a_tab_of_the_run_page_is_accessible(open_page: OpenPage, app_url: str, address: str, whole: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/{address}")
    expect(page.locator(whole).first).to_be_visible()
    assert_accessible(page, 1280)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, 1280, "dark")
    assert_fits(page, has_panes=True)
