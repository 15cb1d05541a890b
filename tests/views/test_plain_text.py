"""Text is text: what a program, a file or an address says is shown as it is, and loads nothing."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from relax_core.present.escape import visible
from tests.app_server import serve_script
from tests.browser import rest
from tests.views.hostile import hostile_texts

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
PLACES = ("stMarkdownContainer",)


@dataclass
class Elsewhere:
    """Another host: nothing may come to it."""

    url: str
    asked: list[str] = field(default_factory=list)


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
