"""The Source page of a text with errors: its graph is drawn, and the faulty node says what is wrong."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import OpenPage
from tests.views.pages import assert_accessible

pytestmark = pytest.mark.browser


def test_the_faulty_node_of_an_ill_typed_module_says_what_is_wrong(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/?sample=errors/ty_matmul.py")
    faulty = page.locator("g.node.faulty")
    expect(faulty).to_have_count(1)
    expect(faulty).to_have_accessible_name(re.compile("^matmul, .*, error TY012: matmul expects"))
    faulty.hover()
    expect(page.locator(".tip .fault")).to_contain_text("✕ TY012: matmul expects equal inner sizes, got 3 and 4")
    expect(page.locator(".legend")).to_contain_text("✕ 1 faulty node")
    faulty.click()
    expect(page.get_by_text("matmul", exact=True).first).to_be_visible()
    assert_accessible(page, 1440)


def test_a_statement_that_cannot_be_read_is_a_node(open_page: OpenPage, app_url: str) -> None:
    page = open_page(760, mode="dark")
    page.goto(f"{app_url}/?sample=errors/rs_operator.py")
    expect(page.locator("g.node.faulty")).to_have_count(2)
    page.locator("g.node.faulty").first.hover()
    tip = page.locator(".tip")
    expect(tip).to_contain_text("RS002: there is no operator")
    root = page.locator(".root[data-nodes]").bounding_box()
    box = tip.bounding_box()
    assert root is not None
    assert box is not None
    assert root["x"] <= box["x"] < box["x"] + box["width"] <= root["x"] + root["width"]
    assert_accessible(page, 760, "dark")
