"""The Operators page: what it asks for, and the walk of somebody who looks an operator up."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.testing.v1 import AppTest

from tests.browser import Editor, OpenPage
from tests.views.pages import assert_accessible

# What a button says of its click is there for a moment only: it is heard where it is said.
_CLICK_AND_HEAR = """button => new Promise((hear) => {
  new MutationObserver(() => hear(button.textContent)).observe(button, { childList: true });
  button.click();
})"""
REPOSITORY = Path(__file__).resolve().parents[2]
PAGE_FILE = str(REPOSITORY / "views" / "pages" / "operators" / "page.py")


@pytest.mark.parametrize(
    "address",
    [
        {"operator": "nn.relu", "view": "llvm", "search": "relu"},
        {"operator": "packed/libtorch_any"},
        {"operator": "<script>", "view": "nonsense"},
        {"operator": "unique", "view": "llvm"},
    ],
    ids=["LLVM IR of an operator", "a packed function without a sample", "no operator", "an operator without a kernel"],
)
def test_the_page_opens_without_a_failure(address: dict[str, str]) -> None:
    app = AppTest.from_file(PAGE_FILE, default_timeout=120)
    for name, value in address.items():
        app.query_params[name] = value
    app.session_state["operators.ran"] = address["operator"]
    app.run()
    assert not app.exception
    assert [element.value for element in app.error] == []
    assert app.query_params["operator"] in (address["operator"], [address["operator"]])


def opened(page: Page, url: str) -> Locator:
    """Go to an address of the page; give the root of its component."""
    page.goto(url)
    root = page.locator(".root[data-operator]")
    expect(root).to_be_visible()
    return root


@pytest.mark.browser
def test_an_operator_is_searched_run_copied_and_opened(page: Page, app_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app_url)
    root = opened(page, f"{app_url}/operators?sample=seeds/print_closure2.py")
    page.keyboard.press("/")
    page.keyboard.type("top")
    expect(root).not_to_have_attribute("data-found", re.compile("^2..$"))
    root.get_by_role("option", name=re.compile("^topk")).click()
    expect(root).to_have_attribute("data-operator", "topk")
    expect(root.get_by_role("table", name="Parameters")).to_contain_text("ret_type")
    expect(root.get_by_role("region", name="TIR")).to_contain_text("@T.prim_func")

    root.get_by_role("button", name="Run", exact=True).click()
    expect(root.get_by_role("table", name="Run of the example")).to_contain_text("result.1")
    root.get_by_role("tab", name="LLVM IR").click()
    expect(root.get_by_role("region", name="LLVM IR")).to_contain_text("define ")
    expect(page).to_have_url(re.compile("operator=topk"))
    expect(page).to_have_url(re.compile("view=llvm"))
    expect(page).to_have_url(re.compile("search=top"))

    assert root.get_by_role("button", name="Copy").first.evaluate(_CLICK_AND_HEAR) == "Copied"
    assert "R.topk(data, k=2)" in page.evaluate("navigator.clipboard.readText()")
    root.get_by_role("button", name="Open in Source").click()
    Editor(page).expect_text(re.compile("R.topk"))
    page.get_by_role("link", name="Operators").click()
    expect(page.locator(".root[data-operator]")).to_have_attribute("data-operator", "topk")


@pytest.mark.browser
def test_the_list_obeys_the_keyboard(page: Page, app_url: str) -> None:
    root = opened(page, f"{app_url}/operators?operator=add")
    root.get_by_role("option", name="add", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(root).to_have_attribute("data-operator", "subtract")
    expect(root.get_by_role("option", name="subtract", exact=True)).to_be_focused()
    expect(root.locator(".about .ph")).to_contain_text("subtract")
    page.keyboard.press("/")
    page.keyboard.type("no such thing")
    expect(root).to_contain_text("Nothing found")
    page.keyboard.press("Escape")
    expect(root).to_have_attribute("data-found", re.compile("^2..$"))
    root.get_by_role("tab", name="Packed functions").click()
    expect(root).to_have_attribute("data-operator", re.compile("^packed/"))
    expect(root.locator(".about .ph")).to_contain_text("NumPy on the host")


@pytest.mark.browser
def test_the_example_opens_in_run(page: Page, app_url: str) -> None:
    root = opened(page, f"{app_url}/operators?operator=packed/libtorch_topk")
    root.get_by_role("button", name="Open in Run").click()
    expect(page.locator(".root[data-at]")).to_be_visible()
    expect(page).to_have_url(re.compile("packed_topk_pair"))


@pytest.mark.browser
def test_the_page_is_accessible_at_its_widest_and_its_narrowest(open_page: OpenPage, app_url: str) -> None:
    page = open_page(760, 900, "dark")
    root = opened(page, f"{app_url}/operators?operator=topk&sample=seeds/print_closure2.py")
    root.get_by_role("button", name="Run", exact=True).click()
    expect(root.get_by_role("table", name="Run of the example")).to_be_visible()
    assert_accessible(page, 760, "dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1600, "height": 900})
    assert_accessible(page, 1600)
