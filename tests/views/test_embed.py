"""Views in the frames of other pages: who may show them, what they tell, and what works in them."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.app_server import serve
from tests.browser import Mode, OpenPage, open_popover
from views.shell.headers import VARIABLE, embedding_origins

Slide = Callable[[str], str]

SLIDE = """<!doctype html><title>Slide</title>{frame}
<script>
  const said = [];
  addEventListener("message", (event) => {{
    if (event.data.source !== "relaxscope") return;
    said.push(event.data);
    document.querySelector("iframe").height = event.data.height;
  }});
</script>"""
MODES: tuple[tuple[Mode, int], ...] = (("light", 1280), ("dark", 600))


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and writes nothing of it to the terminal."""

    def end_headers(self) -> None:
        # A page that was written twice within a second would be "not modified".
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Serve a folder of pages at an origin of its own."""
    folder = tmp_path_factory.mktemp("slides")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, slides: tuple[str, Path]) -> Iterator[str]:
    """Serve the app for frames of the slides."""
    with ExitStack() as stack:
        # The app that other tests share may start meanwhile: for it nothing is named.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(VARIABLE, slides[0])
            found = stack.enter_context(serve(tmp_path_factory.mktemp("embed")))
        yield found


@pytest.fixture
def slide(slides: tuple[str, Path]) -> Slide:
    """Make a page with a frame in it; give its address."""

    def made(frame: str) -> str:
        address, folder = slides
        (folder / "slide.html").write_text(SLIDE.format(frame=frame))
        return f"{address}/slide.html"

    return made


def frame_of(address: str) -> str:
    return f'<iframe src="{address}" title="RelaxScope" width="100%" height="480"></iframe>'


def embedded(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def heights(page: Page, view: str) -> list[int]:
    """Wait until the frame has said how high it would like to be; return all that it said."""
    page.wait_for_function("said.length > 0")
    said = page.evaluate("said")
    assert {item["view"] for item in said} == {view}
    assert all(item.keys() == {"source", "view", "height"} for item in said)
    return [item["height"] for item in said]


def test_an_operator_names_whose_pages_may_show_views() -> None:
    assert embedding_origins({}) == ()
    named = "https://slides.example:8443 http://*.wiki.example file: *"
    assert embedding_origins({VARIABLE: named}) == tuple(named.split())
    for wrong in ("slides.example", "https://a.example/path", "https://a.example;", "'none'", "data:"):
        with pytest.raises(ValueError, match="expected origins such as"):
            embedding_origins({VARIABLE: f"https://a.example {wrong}"})


def test_no_page_but_that_of_a_frame_may_be_shown_elsewhere(url: str, slides: tuple[str, Path]) -> None:
    for path, may in (("embed", True), ("embed/", True), ("", False), ("passes", False), ("embed/passes", False)):
        with urlopen(f"{url}/{path}") as answer:
            policy = answer.headers["content-security-policy"]
        assert f"frame-ancestors 'self'{f' {slides[0]}' if may else ''}" in policy.split("; "), path


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), MODES)
def test_a_graph_is_shown_at_the_height_that_it_asks_for(
    open_page: OpenPage, url: str, slide: Slide, mode: Mode, width: int
) -> None:
    page = open_page(width, 900, mode)
    page.goto(slide(frame_of(f"{url}/embed?view=graph&sample=relax/mlp.py")))
    frame = embedded(page)
    expect(frame.locator("g.node").first).to_be_visible()
    assert heights(page, "graph")[-1] > 480
    expect(frame.get_by_text("mlp.py · @main")).to_be_visible()
    frame.get_by_role("button", name="Hide weights").click()
    frame.get_by_role("button", name=re.compile(r"\d+ hidden")).click()
    expect(frame.get_by_role("button", name="Hide weights")).to_be_visible()
    # The whole graph is in sight, and nothing of the app around it.
    expect(frame.get_by_text("return", exact=False).last).to_be_in_viewport()
    expect(frame.get_by_text("Operators")).not_to_be_visible()
    page.set_viewport_size({"width": 330, "height": 900})
    page.wait_for_function("said.length > 1")
    assert heights(page, "graph")[-1] < heights(page, "graph")[0]


@pytest.mark.browser
def test_what_a_pass_changed_is_gone_through_in_a_frame(page: Page, url: str, slide: Slide) -> None:
    page.goto(slide(frame_of(f"{url}/embed?view=diff&sample=relax/mlp.py&stage=4")))
    frame = embedded(page)
    expect(frame.get_by_text("After · LegalizeOps")).to_be_visible()
    heights(page, "diff")
    frame.get_by_role("button", name="Stage after").click()
    expect(frame.get_by_text("stage 5 of")).to_be_visible()
    frame.get_by_role("link", name="Open in RelaxScope").evaluate("(link) => { link.target = '_top' }")
    frame.get_by_role("link", name="Open in RelaxScope").click()
    page.wait_for_url(f"{url}/passes?*stage=5*")
    expect(page.get_by_role("button", name="Check results")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize(("view", "said"), [("graph", "Compare"), ("diff", "stage 4 of 12")])
def test_a_stage_that_is_not_there_shows_the_first_that_is_worth_a_look(
    page: Page, url: str, slide: Slide, view: str, said: str
) -> None:
    page.goto(slide(frame_of(f"{url}/embed?view={view}&sample=relax/mlp.py&stage=999")))
    frame = embedded(page)
    expect(frame.get_by_text(said).first).to_be_visible()
    expect(frame.get_by_text("mlp.py · LegalizeOps")).to_be_visible()


@pytest.mark.browser
def test_a_run_is_stepped_in_a_frame_and_stays_a_run(page: Page, url: str, slide: Slide) -> None:
    page.goto(slide(frame_of(f"{url}/embed?view=stepper&sample=relax/mlp.py&time=3")))
    frame = embedded(page)
    expect(frame.get_by_text("time 3 of")).to_be_visible()
    assert heights(page, "stepper") == [560]
    frame.get_by_role("button", name="Over").click()
    expect(frame.get_by_text("time 3 of")).not_to_be_visible()
    page.wait_for_function("() => true")
    inner = page.frames[1]
    inner.wait_for_url("**/embed?*view=stepper*")
    inner.evaluate("location.reload()")
    expect(embedded(page).get_by_role("button", name="Over")).to_be_visible()


@pytest.mark.browser
def test_a_page_shares_the_markup_of_its_view(page: Page, url: str, slide: Slide) -> None:
    page.goto(f"{url}/run?sample=relax/mlp.py&time=3&lesson=first_steps")
    open_popover(page.get_by_role("button", name="Share"))
    page.get_by_text("Embed the stepper").click()
    markup = page.locator("code").filter(has_text="<iframe").inner_text()
    assert unescape(markup).startswith(f'<iframe src="{url}/embed?view=stepper&')
    assert "lesson" not in markup
    page.goto(slide(markup))
    expect(embedded(page).get_by_text("time 3 of")).to_be_visible()


@pytest.mark.browser
def test_a_page_that_nobody_named_shows_no_view(page: Page, url: str, app_url: str, slide: Slide) -> None:
    page.goto(slide("".join(frame_of(f"{server}/embed?view=graph") for server in (app_url, url))))
    # The frame of a server that lets this page show it is there in the end; that of the other one, before it, is not.
    expect(embedded(page).last.locator("g.node").first).to_be_visible()
    expect(embedded(page).first.locator(".stApp")).to_have_count(0)
    page.goto(f"{app_url}/embed?view=graph")
    expect(page.locator("g.node").first).to_be_visible()
    page.goto(f"{app_url}/?sample=relax/mlp.py")
    expect(page.locator("g.node").first).to_be_visible()
    open_popover(page.get_by_role("button", name="Share"))
    page.get_by_text("Embed the graph").click()
    expect(page.get_by_text(f"{VARIABLE} would name those that may")).to_be_visible()


@pytest.mark.browser
def test_a_view_is_printed_as_one_picture_of_its_size(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1200, 800)
    for view, shown in (("graph", "g.node"), ("diff", ".half .ln"), ("stepper", ".registers tr")):
        page.goto(f"{app_url}/embed?view={view}&sample=relax/mlp.py&time=3")
        expect(page.locator(shown).first).to_be_visible()
        page.wait_for_function(
            "() => [...document.styleSheets].some((sheet) => sheet.cssRules[0] instanceof CSSPageRule)"
        )
        printed = page.pdf(prefer_css_page_size=True, print_background=True)
        # 1200 pixels are 900 points.
        (size,) = re.findall(rb"/MediaBox \[0 0 (\d+) (\d+)", printed)
        assert size == (b"900", b"600") or (view == "diff" and size[0] == b"900")


@pytest.mark.browser
def test_a_program_that_cannot_be_read_is_told_in_its_frame(page: Page, url: str, slide: Slide) -> None:
    page.goto(slide(frame_of(f"{url}/embed?view=stepper&sample=errors/none.py")))
    expect(embedded(page).get_by_text("There is no sample")).to_be_visible()
