"""From a line of the source to its pass, its kernel and its instruction, and back, by the links of the inspector."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

RELU_LINE = 20

pytestmark = pytest.mark.browser


def life(page: Page) -> Locator:
    """The life of the node that is selected."""
    found = page.locator(".life").first
    expect(found).to_be_visible()
    return found


def test_a_line_leads_to_its_kernel_and_back(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/?sample=relax/mlp.py&node=0/main/16")
    life(page).get_by_role("button", name="Kernel").click()
    kernel = page.locator(".root[data-kernel='relu']")
    expect(kernel).to_have_attribute("data-part", "1")
    page.wait_for_url("**kernel=relu&part=1**")
    kernel.get_by_role("button", name=re.compile(f"^Line {RELU_LINE} ")).first.click()
    expect(page.locator(".root[data-title='lv2']").first).to_be_visible()
    page.wait_for_url("**node=0%2Fmain%2F16**")


def test_a_line_leads_to_its_pass_and_to_its_instruction(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app_url}/?sample=relax/mlp.py&node=0/main/16")
    life(page).get_by_role("button", name="LegalizeOps").click()
    page.wait_for_url("**/passes?**stage=4&node=4**")
    life(page).get_by_role("button", name="Bytecode").click()
    page.wait_for_url(re.compile(r"/run\?(?=.*time=)(?=.*view=instruction)"))
    expect(page.locator(".root[data-at]").first).not_to_have_attribute("data-at", "0")
