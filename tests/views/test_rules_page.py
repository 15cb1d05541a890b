"""Rewrite rules on the Passes page: written, refused at their place, applied, counted and checked by value."""

import html
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from tests.browser import OpenPage, open_popover, rest
from tests.views.pages import assert_accessible, opened
from views.pages.passes.rewriting import EXAMPLES
from views.state.address import from_address, to_address
from views.state.selection import screen

PROGRAM = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.multiply(a, R.const(1.0, "float32"))
            c = R.subtract(b, y)
            d = R.nn.relu(c)
            e = R.nn.relu(d)
            f = R.permute_dims(e, axes=[1, 0])
            g = R.permute_dims(f, axes=[1, 0])
            R.output(g)
        return g
"""
FIRST = screen(text=PROGRAM)


def shown(app: AppTest) -> str:
    """Return all that the page says in Markdown, captions and code."""
    items = (*app.markdown, *app.caption, *app.code, *app.button)
    return "\n".join(html.unescape(getattr(item, "value", "") or "") for item in items) + "\n".join(
        html.unescape(item.label) for item in app.button
    )


@pytest.mark.parametrize("rules", [text for _, text in EXAMPLES], ids=[label for label, _ in EXAMPLES])
def test_every_example_applies_to_a_program_and_all_but_the_last_keep_the_values(rules: str) -> None:
    app = opened("passes", FIRST.changed(rule_text=rules))
    words = shown(app)
    assert "is applied" in words
    assert ("✕ rules: result different" if rules == EXAMPLES[-1][1] else "✓ rules: result same") in words


def test_rules_are_a_part_of_the_address() -> None:
    chosen = FIRST.changed(rule_text="a: R.add(x, x) -> R.multiply(x, 2.0)\n")
    assert from_address(to_address(chosen)) == chosen


def test_an_error_is_shown_below_its_place_in_the_rule() -> None:
    app = opened("passes", FIRST.changed(rule_text="# one\nfirst: R.add(x, y) -> R.multiply(x, z)\n"))
    marked = next(item.value for item in app.code if "^" in item.value)
    line, mark = marked.splitlines()
    assert line == "2 | first: R.add(x, y) -> R.multiply(x, z)"
    assert line[mark.index("^") : mark.rindex("^") + 1] == "z"
    assert "RW103" in shown(app)
    assert "✕ rules: not applied" in shown(app)


def test_a_near_miss_names_the_place_and_the_condition() -> None:
    app = opened("passes", FIRST.changed(rule_text='none: R.add(x, y) -> x where x.dtype == "int8"'))
    words = shown(app)
    assert "near miss" in words
    assert "at line 6" in words
    assert "x.dtype" in words
    assert "rules: no match" in words


def test_rules_are_removed_with_their_stage() -> None:
    text = "Normalize, ApplyRules(once=True), LegalizeOps"
    app = opened("passes", FIRST.changed(pipeline=text, rule_text=EXAMPLES[0][1]))
    assert "is applied" in shown(app)
    app.button(key="passes.rules.remove").click().run()
    assert not app.exception
    left = from_address(dict(app.query_params))
    assert left.values()["pipeline"] == "Normalize, LegalizeOps"
    assert left.values()["rule_text"] == ""


@pytest.mark.browser
def test_an_example_is_applied_in_two_clicks_and_its_values_are_one_further(open_page: OpenPage, app_url: str) -> None:
    page = open_page()
    page.goto(f"{app_url}/passes?{urlencode(to_address(FIRST))}")
    rest(page)
    open_popover(page.get_by_role("button", name="Rules", exact=True))
    page.get_by_role("button", name=EXAMPLES[0][0], exact=True).click()
    expect(page.get_by_text("double is applied 1 time")).to_be_visible()
    assert_accessible(page, 1440)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="✓ rules: result same").click()
    expect(page).to_have_url(re.compile("view=values"))


@pytest.mark.browser
def test_an_error_in_a_narrow_dark_window(open_page: OpenPage, app_url: str) -> None:
    page = open_page(760, 900, "dark")
    wrong = FIRST.changed(rule_text="first: R.add(x, y) -> R.multiply(x, z)")
    page.goto(f"{app_url}/passes?{urlencode(to_address(wrong))}")
    rest(page)
    open_popover(page.get_by_role("button", name="Rules: own"))
    expect(page.get_by_text("is not bound by the pattern").first).to_be_visible()
    assert_accessible(page, 760, "dark")
