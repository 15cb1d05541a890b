"""Text is text: what a program, a file or an address says is shown as it is, and loads nothing."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from relax_core.present.escape import visible
from tests.app_server import serve_script
from tests.browser import open_popover, rest
from tests.views.hostile import hostile_texts
from views import PAGES
from views.state.address import to_address
from views.state.selection import Selection, screen
from views.state.shared import ProgramState

pytestmark = pytest.mark.browser

SCRIPT = """
import json
import streamlit as st
from relax_core.present.escape import badge, bullets, literal, prose, sentence

for number, text in enumerate(json.loads({texts!r})):
    with st.container(key=f"case-{{number}}"):
        st.markdown(literal(text))
        st.caption(literal(text), width="content")
        st.button(literal(text), key=f"button-{{number}}", help=literal(text))
        st.error(literal(text))
        st.markdown(badge(text, "red"))
        st.markdown(bullets([text]))
        st.info(sentence("Title", text))
        st.popover(literal(text))
        st.toggle(literal(text), key=f"toggle-{{number}}")
        st.number_input(literal(text), key=f"number-{{number}}")
"""


# The others show nothing of a program but what the bar does.
OF_PROGRAMS = tuple(page for page in PAGES if page not in {"pipeline", "operators", "classroom", "learn"})


@dataclass
class Elsewhere:
    """Another host: nothing may come to it."""

    url: str
    asked: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    """Count what a browser asks of another host."""
    found = Elsewhere("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def watched(page: Page, elsewhere: Elsewhere) -> Iterator[Page]:
    """Open a tab that must open no dialog and ask nothing of another host."""
    dialogs: list[str] = []

    def dismissed(dialog: object) -> None:
        dialogs.append(str(dialog))

    page.on("dialog", dismissed)
    elsewhere.asked.clear()
    yield page
    assert dialogs == []
    assert elsewhere.asked == []


def _spaces(text: str) -> str:
    return re.sub(r"[ \n]+", " ", text).strip()


def test_every_call_that_takes_markdown_shows_the_text_itself(
    watched: Page, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    texts = hostile_texts(elsewhere.url)
    with serve_script(tmp_path, SCRIPT.format(texts=json.dumps(texts))) as url:
        watched.goto(url)
        rest(watched)
        expect(watched.get_by_test_id("stNumberInput")).to_have_count(len(texts))
        for number, text in enumerate(texts):
            case = watched.locator(f".st-key-case-{number}")
            shown = [_spaces(item) for item in case.get_by_test_id("stMarkdownContainer").all_inner_texts()]
            wanted = _spaces(visible(text))
            # In messages, what stands between backticks is code.
            as_message = wanted.replace("`", "")
            assert shown[:5] + shown[7:] == [wanted] * (len(shown) - 2)
            assert [item.replace("`", "") for item in shown[5:7]] == [as_message, f"Title. {as_message}"]
            assert case.locator("a, img, .katex, [role=img]").count() == 0


def relax_program(elsewhere: str) -> str:
    """Write a program whose strings are hostile, and that runs to its first call of a packed function."""
    calls = "\n".join(
        f"        r{number} = R.call_packed({json.dumps(text)}, x, sinfo_args=R.Tensor((2,), 'float32'))"
        for number, text in enumerate(hostile_texts(elsewhere))
    )
    return (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
        f"    def main(x: R.Tensor((2,), 'float32')):\n{calls}\n        return x\n"
    )


def broken_program(elsewhere: str) -> str:
    """Write a program whose diagnostics hold hostile texts."""
    lines = "\n".join(
        f"    @R.function\n    def f{number}(x: R.Tensor((2,), {json.dumps(text)})):\n        return R.nope{number}(x)"
        for number, text in enumerate(hostile_texts(elsewhere))
    )
    return f"from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n{lines}\n"


def relay_program(elsewhere: str) -> str:
    """Write a Relay program whose attributes are hostile."""
    names = "\n".join(
        f"  %{number} = fn (%y{number}: Tensor[(2), float32], Compiler={json.dumps(text)}, "
        f"global_symbol={json.dumps(text)}) {{ %y{number} }};"
        for number, text in enumerate(hostile_texts(elsewhere))
    )
    return f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {{\n{names}\n  nn.relu(%x)\n}}\n'


def addresses(elsewhere: str) -> dict[str, Selection]:
    """Return screens that are hostile in each part of an address."""
    name = f"x](y)\"'<img src={elsewhere}/name.png onerror=alert(1)>`![x]({elsewhere}/name2.png)`\u202e.py"
    markdown = f"`![x]({elsewhere}/part.png)` <img src=x onerror=alert(1)>"
    parts = screen(pipeline=markdown, node=markdown, function=markdown, entry=markdown, operator=markdown)
    return {
        "strings": screen(sample=name, text=relax_program(elsewhere)),
        "diagnostics": screen(sample=name, text=broken_program(elsewhere)),
        "relay": screen(sample=name.replace(".py", ".relay"), text=relay_program(elsewhere), table_text=markdown),
        "parts": parts.changed(search=markdown, kernel=markdown, targets=markdown, breakpoints=f"1?{markdown}"),
    }


@pytest.mark.parametrize("kind", ["strings", "diagnostics", "relay", "parts"])
def test_no_page_loads_or_runs_what_a_text_says(watched: Page, elsewhere: Elsewhere, app_url: str, kind: str) -> None:
    query = urlencode({**to_address(addresses(elsewhere.url)[kind]), "seed": f"![x]({elsewhere.url}/seed.png)"})
    for noun in PAGES if kind == "parts" else OF_PROGRAMS:
        watched.goto(f"{app_url}/{noun if noun != PAGES[0] else ''}?{query}")
        expect(watched.locator(".st-key-complaints")).to_contain_text("seed=![x]")
        rest(watched)
        open_popover(watched.get_by_role("button", name="Share", exact=True))
        expect(watched.get_by_text("This address reproduces the screen")).to_be_visible()
        watched.keyboard.press("Escape")
        watched.locator(".st-key-bar-keys button").first.hover()
        assert (
            watched.locator(f"a[href^='{elsewhere.url}'], [src^='{elsewhere.url}'], a[href^='javascript:']").count()
            == 0
        )
        assert watched.get_by_test_id("stException").count() == 0


def test_a_page_may_load_from_this_host_alone(page: Page, elsewhere: Elsewhere, app_url: str) -> None:
    elsewhere.asked.clear()
    answer = page.goto(app_url)
    assert answer is not None
    assert "script-src 'self' blob: 'sha256-" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    rest(page)
    tried = """async (elsewhere) => {
      const image = new Image();
      const failed = new Promise((done) => {
        image.onerror = () => done("image");
        image.onload = () => done("loaded");
      });
      image.src = elsewhere + "/image.png";
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.head.append(script);
      const style = document.createElement("style");
      style.textContent = `@import "${elsewhere}/style.css"; body { background: url("${elsewhere}/b.png") }`;
      document.head.append(style);
      const fetched = await fetch(elsewhere + "/fetch").then(() => "fetched", () => "refused");
      return [await failed, fetched, window.ran === undefined];
    }"""
    assert page.evaluate(tried, elsewhere.url) == ["image", "refused", True]
    assert elsewhere.asked == []


def test_downloads_work_and_have_names_of_files(watched: Page, elsewhere: Elsewhere, app_url: str) -> None:
    hostile = addresses(elsewhere.url)["strings"]
    # A pure function may call no packed function, and only a sound program has texts after its passes.
    sound = hostile.changed(text=hostile.of(ProgramState).text.replace("@R.function\n", "@R.function(pure=False)\n"))
    watched.goto(f"{app_url}/passes?{urlencode(to_address(sound))}")
    expect(watched.locator("tr[data-stage]").first).to_be_visible()
    rest(watched)
    open_popover(watched.get_by_role("button", name="Share", exact=True))
    with watched.expect_download() as downloaded:
        watched.get_by_role("button", name=re.compile("^Text after")).click()
    assert re.fullmatch(r"[\w.+-]+\.py", downloaded.value.suggested_filename)
