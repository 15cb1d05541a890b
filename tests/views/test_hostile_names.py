"""Hostile names stay text in tooltips, in pictures that are saved and in files; no other host is asked."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.browser import Editor, rest
from views.state.address import to_address
from views.state.selection import Selection, screen
from views.state.shared import ProgramState

pytestmark = pytest.mark.browser

ELSEWHERE = "http://elsewhere.invalid"
NAMES = (
    "a`b`c",
    "<img src=x onerror=alert(1)>",
    f"![x]({ELSEWHERE}/markdown.png)",
    "]]>",
    "--><script>alert(1)</script>",
    "\"double\" 'single' \\ &lt; &#0;",
    "right\u202eto left\u2066",
    "nul\x00 and \x1b[31m",
    "\ufffe\uffff",
    f'</text><image href="{ELSEWHERE}/svg.png"/><a href="javascript:alert(1)">x</a>',
    f"url({ELSEWHERE}/style.css) var(--bg)",
    ":material/home: :red[x] $x^2$",
)
NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufffe\uffff]")
"""Characters that hide others or change their order: an escape stands for each."""


def relax_program() -> str:
    calls = "\n".join(
        f"        r{number} = R.call_packed({json.dumps(name)}, x, sinfo_args=R.Tensor((2,), 'float32'))"
        for number, name in enumerate(NAMES)
    )
    return (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function(pure=False)\n"
        f"    def main(x: R.Tensor((2,), 'float32')):\n{calls}\n        return r0\n"
    )


def broken_program() -> str:
    lines = "\n".join(
        f"    @R.function\n    def f{number}(x: R.Tensor((2,), {json.dumps(name)})):\n        return x"
        for number, name in enumerate(NAMES)
    )
    return f"from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n{lines}\n"


def relay_program() -> str:
    parts = "\n".join(
        f"  %{number} = fn (%y{number}: Tensor[(2), float32], Compiler={json.dumps(name)}, "
        f"global_symbol={json.dumps(name)}) {{ nn.relu(%y{number}) }};\n  let %v{number} = %{number}(%x);"
        for number, name in enumerate(NAMES)
    )
    return f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {{\n{parts}\n  nn.relu(%x)\n}}\n'


RELAX = screen(sample="a`b`<img src=x onerror=alert(1)>.py", text=relax_program())
RELAY = screen(sample="a`b`<img src=x onerror=alert(1)>.relay", text=relay_program())


@pytest.fixture
def quiet_page(page: Page, app_url: str) -> Iterator[Page]:
    """Open a tab that must open no dialog and ask no other host for anything."""
    asked: list[str] = []
    dialogs: list[str] = []

    def dismissed(dialog: object) -> None:
        dialogs.append(str(dialog))

    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", dismissed)
    yield page
    assert dialogs == []
    assert [url for url in asked if not url.startswith((app_url, "blob:", "data:", "file:"))] == []


def visit(page: Page, app_url: str, name: str, selection: Selection) -> None:
    page.goto(f"{app_url}/{name}?{urlencode(to_address(selection))}")
    rest(page)


def graph_of(page: Page) -> Locator:
    found = page.locator(".root[data-nodes]").first
    expect(found.locator("g.node").first).to_be_attached()
    return found


def assert_is_picture_of_text(download: Download) -> None:
    """Check that a saved picture is XML without anything that loads, links or runs."""
    text = download.path().read_text(encoding="utf-8")
    for element in ET.fromstring(text).iter():
        kind = element.tag.rpartition("}")[2]
        assert kind in ("svg", "g", "title", "text", "tspan", "path", "polygon", "polyline", "ellipse", "rect", "line")
        assert not any(name.startswith("on") or name.endswith("href") for name in element.attrib)
        # The label is text, for those who hear the picture.
        assert not any(ELSEWHERE in value for name, value in element.attrib.items() if name != "aria-label")
    assert not NOT_SHOWN.search(text.replace("\n", ""))


@pytest.mark.parametrize(
    ("name", "selection"),
    [("", RELAX), ("passes", RELAX), ("", RELAY), ("partition", RELAY), ("devices", RELAY)],
    ids=["source", "passes", "source of Relay", "partition", "devices"],
)
def test_names_in_graphs_are_text(
    quiet_page: Page, app_url: str, name: str, selection: Selection, tmp_path: Path
) -> None:
    visit(quiet_page, app_url, name, selection)
    graph = graph_of(quiet_page)
    tip = graph.get_by_role("tooltip")
    nodes = graph.locator("g.node")
    shown: list[str] = []
    for number in range(nodes.count()):
        nodes.nth(number).dispatch_event("pointermove", {"bubbles": True})
        if tip.is_visible():
            shown.append(tip.inner_text())
    assert shown
    assert not any(NOT_SHOWN.search(text.replace("\n", "")) for text in shown)
    assert graph.locator("img, script, iframe, image, a, foreignObject").count() == 0
    graph.get_by_role("button", name="Export", exact=True).click()
    with quiet_page.expect_download() as found:
        graph.get_by_role("button", name="SVG file").click()
    assert_is_picture_of_text(found.value)
    picture = tmp_path / "picture.svg"
    found.value.save_as(picture)
    quiet_page.goto(picture.as_uri())
    expect(quiet_page.locator("svg").first).to_be_visible()


def test_problems_under_the_pointer_are_text(quiet_page: Page, app_url: str) -> None:
    visit(quiet_page, app_url, "", screen(sample=RELAX.of(ProgramState).sample, text=broken_program()))
    marked = Editor(quiet_page).area.locator("[class^=sq-]")
    expect(marked.first).to_be_visible()
    tip = quiet_page.get_by_role("tooltip")
    said: list[str] = []
    for number in range(marked.count()):
        marked.nth(number).hover()
        expect(tip.first).to_be_visible()
        said.append(tip.first.inner_text())
    assert any("onerror" in text for text in said)
    assert not any(NOT_SHOWN.search(text.replace("\n", "")) for text in said)
    assert quiet_page.locator("[role=tooltip] img, [role=tooltip] a, [role=tooltip] script").count() == 0
