"""Programs with errors on the pages: their graphs are drawn, and a faulty node says what is wrong."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from relax_core.engine.programs.pass_files import PASSES_VARIABLE
from tests.app_server import serve
from tests.browser import OpenPage
from tests.views.pages import assert_accessible
from tests.views.test_rules_page import PROGRAM
from views.state.address import to_address
from views.state.selection import screen

pytestmark = pytest.mark.browser

OWN = '''
from dataclasses import replace

import numpy as np

import relax_core as rc
from relax_core.ir.expr import Call, Constant, op_name


@rc.register_pass
def Widen(module, ctx):
    """Give each product an operand of a size that does not fit."""

    def wide(node):
        if isinstance(node, Call) and op_name(node) == "relax.multiply":
            return replace(node, args=(node.args[0], Constant(np.ones((7, 7), np.float32))))

    return ctx.rewrite(module, wide)
'''


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


def test_the_ill_formed_module_that_a_pass_left_is_set_beside_the_one_before(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    monkeypatch.setenv(PASSES_VARIABLE, str(own))
    shown = screen(text=PROGRAM).changed(pipeline="Normalize, Widen, LegalizeOps")
    with serve(tmp_path) as url:
        page = open_page()
        page.goto(f"{url}/passes?{urlencode(to_address(shown), doseq=True)}")
        faulty = page.locator("g.node.faulty")
        expect(faulty).to_have_accessible_name(re.compile("^changed, multiply, .*, error TY010: "))
        expect(page.locator(".failed")).to_contain_text("Widen left a module that is ill-formed")
        expect(page.locator(".sides")).to_contain_text("Ill-formed after · Widen")
        expect(page.locator(".sides")).to_contain_text("R.multiply(a, ")
        expect(page.get_by_text("✓ Source: well-formed")).to_be_visible()
        assert_accessible(page, 1440)
