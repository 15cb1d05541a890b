"""What a user waits for in Chromium at three sizes of a module:  python -m benchmarks.page_sizes [LAYERS ...].

The modules are decoders of so many layers, opened as the program that the server was started on. A wait begins with
the input event, or with the navigation, and ends behind the frame that shows what was asked for. Each round has a
session of its own, whose worker knows nothing of the module; the first one starts the server, and is not counted. In
every other round the next stage is chosen at once, in the others a reader looks at each for three seconds.
"""

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Final
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

import relax_core as rc
from benchmarks.table import duration
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE
from relax_core.ir.expr import Binding
from relax_core.ir.node import preorder
from tests.app_server import serve
from tests.browser import HEIGHT, WIDTH, rest, started

LAYERS: Final = (2, 32, 250)
MODEL_WIDTH, HEADS, VOCABULARY = 16, 2, 32
ROUNDS: Final = 4
READING_MS: Final = 3_000
STEPS: Final = 10
LONGEST_WAIT_SECONDS: Final = 120
STEP: Final = "Run: a step"

Seconds = dict[str, list[float]]

_WATCH: Final = """() => {
  const part = (key) => {
    for (const item of document.querySelectorAll(`.st-key-${key || "ctx"} *`))
      if (item.shadowRoot) return item.shadowRoot.querySelector(".root");
    return null;
  };
  const isAtRest = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
  // Of a callback of a frame: a message that it sends comes behind the paint.
  const painted = (then) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = then;
    channel.port2.postMessage(0);
  };
  const waits = [WAITS];
  let start = 0;
  const begin = (event) => { start ||= event.timeStamp; };
  for (const name of ["pointerdown", "keydown"]) window.addEventListener(name, begin, { capture: true });
  window.waited = waits.map(({ key, reads, isReady }) => new Promise((done) => {
    const read = () => { const it = part(key); return it && String(reads(it)); };
    const before = IS_CHANGE ? read() : null;
    setTimeout(() => done(LONGEST + 1), LONGEST * 1000);
    const look = () => {
      const now = read();
      if (now === null || now === before || !isReady(part(key))) requestAnimationFrame(look);
      else painted(() => done((performance.now() - start) / 1000));
    };
    requestAnimationFrame(look);
  }));
}"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A component has another value of what it `reads`, and is ready: JavaScript about its root, `it`."""

    key: str
    reads: str = "it.dataset.rev"
    is_ready: str = "true"

    @property
    def script(self) -> str:
        """Return what begins to watch for it in the page."""
        return f'{{ key: "{self.key}", reads: (it) => {self.reads}, isReady: (it) => {self.is_ready} }}'


class Watch:
    """Waits that begin in a page, and how long they took."""

    def __init__(self, page: Page, *, is_reading: bool) -> None:
        self.page = page
        self.is_reading = is_reading
        self.seconds: Seconds = defaultdict(list)

    def begin(self, shown: Sequence[Shown], *, is_change: bool = True) -> None:
        """Begin to watch; the clock starts with the next input event, or has started with the navigation."""
        waits = ", ".join(item.script for item in shown)
        script = _WATCH.replace("WAITS", waits).replace("IS_CHANGE", str(is_change).lower())
        self.page.evaluate(script.replace("LONGEST", str(LONGEST_WAIT_SECONDS)))

    def end(self, names: Sequence[str]) -> None:
        """Note how long each wait took, and let the page come to rest."""
        for name, seconds in zip(names, self.page.evaluate("() => Promise.all(window.waited)"), strict=True):
            self.seconds[name].append(seconds)
            sys.stderr.write(f"{name}: {_time(seconds)}\n")
        rest(self.page)

    def act(self, act: Callable[[], object], shown: Mapping[str, Shown]) -> None:
        """Measure an action of the user."""
        self.begin(tuple(shown.values()))
        act()
        self.end(tuple(shown))

    def open(self, url: str) -> None:
        """Open the module, up to its text and its first graph."""
        self.page.goto(url, wait_until="commit")
        shown = {"open, to the text": Shown("source-editor"), "open, to the first graph": Shown("source-graph")}
        self.begin(tuple(shown.values()), is_change=False)
        self.end(tuple(shown))

    def go(self, name: str, key: str) -> bool:
        """Go to another page, wait until it is at rest, and tell whether it is."""
        link = self.page.get_by_role("link", name=name, exact=True)
        is_there = "location.pathname.endsWith(PAGE) && isAtRest()".replace("PAGE", f'"/{name.lower()}"')
        self.begin((Shown(key, is_ready=is_there),), is_change=False)
        link.click()
        self.end((f"{name} page",))
        return self.seconds[f"{name} page"][-1] < LONGEST_WAIT_SECONDS


def measured(layers: int) -> tuple[int, Seconds]:
    """Measure a decoder of so many layers; return how many bindings it has, and the seconds of each wait."""
    model = import_module("benchmarks.relax_models").transformer(layers, MODEL_WIDTH, HEADS, VOCABULARY)
    text: str = model.script(show_meta=True)
    module = rc.parse(text, "decoder.py")
    count = sum(isinstance(node, Binding) for _, function in module.relax_functions for node in preorder(function))
    seconds: Seconds = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "decoder.py")
        path.write_text(text, encoding="utf-8")
        with (
            patch.dict(os.environ, {OPEN_VARIABLE: str(path)}),
            serve(Path(folder)) as url,
            sync_playwright() as playwright,
            started(playwright) as browser,
        ):
            for number in range(ROUNDS + 1):
                for name, found in _walked(browser, url, is_reading=number % 2 == 0).items():
                    seconds[name] += found if number else ()
    return count, seconds


def _walked(browser: Browser, url: str, *, is_reading: bool) -> Seconds:
    """Walk through the pages as a user does who has just opened a module."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_default_timeout(LONGEST_WAIT_SECONDS * 1000)
    watch = Watch(page, is_reading=is_reading)
    watch.open(url)
    _graph(watch, page)
    for name, key, walk in PAGES:
        if watch.go(name, key):
            walk(watch, page)
    page.close()
    return watch.seconds


def _graph(watch: Watch, page: Page) -> None:
    graph = page.locator(".st-key-source-graph")
    hits = "it.querySelector('.sought [role=status]').textContent"
    nodes = Shown("source-graph", "it.dataset.nodes")
    # A small graph has nothing that is folded.
    layers = graph.locator("g.node").filter(has_text="×")
    chosen = {
        "click on a node": Shown("source-graph", "it.dataset.selected"),
        "inspect it": Shown("source-inspector"),
        "follow it through all passes": Shown("source-inspector", "it.textContent.includes('passes')"),
    }
    watch.act(graph.locator("g.node").first.click, chosen)
    if layers.count():
        watch.act(layers.first.dblclick, {"expand the layers": nodes})
        watch.act(lambda: page.keyboard.press("Backspace"), {"fold them": nodes})
    page.keyboard.press("/")
    page.keyboard.type("op = matmu")
    watch.act(lambda: page.keyboard.press("l"), {"search": Shown("source-graph", hits)})
    if layers.count():
        watch.act(lambda: page.keyboard.press("Enter"), {"go to a hit in a fold": nodes})


def _stages(watch: Watch, page: Page) -> None:
    # The page opens at the first stage that changes something.
    rows = page.locator(".st-key-passes-list tr.changed")
    when = "next stage, read for 3 s before" if watch.is_reading else "next stage"
    for number in range(1, rows.count()):
        page.wait_for_timeout(READING_MS if watch.is_reading else 0)
        shown = {f"{when}, to its text": Shown("passes-diff"), f"{when}, to its graph": Shown("passes-graph")}
        watch.act(rows.nth(number).click, shown)
    diff = page.locator(".st-key-passes-diff")
    for name, key in (("Structure", "table"), ("Text", ".sides .ln")):
        shown = Shown("passes-diff", f"Boolean(it.querySelector('{key}'))")
        watch.act(diff.get_by_role("button", name=name, exact=True).click, {f"diff as {name.lower()}": shown})


def _run(watch: Watch, page: Page) -> None:
    at = Shown("run-stepper", "it.dataset.at", "it.querySelector('.source .ln.cur')")
    for _ in range(STEPS):
        watch.act(lambda: page.keyboard.press("n"), {STEP: at})
    # A click on the calls above it would enlarge one of them.
    clock = page.locator(".st-key-run-stepper .clock")
    width = clock.evaluate("clock => clock.clientWidth")
    watch.act(lambda: clock.click(position={"x": width * 0.7, "y": 4}), {"Run: seek": at})


def _stay(_watch: Watch, _page: Page) -> None:
    """Do nothing on a page."""


# Page, what it shows once it is at rest, and what is done there; without kernels or devices two say so.
PAGES: Final = (
    ("Passes", "passes-graph", _stages),
    ("Partition", "partition-regions", _stay),
    ("Devices", "", _stay),
    ("Kernels", "", _stay),
    ("Operators", "operators-catalog", _stay),
    ("Run", "run-stepper", _run),
)


def table(found: Mapping[int, Seconds]) -> str:
    """Write medians, and of the stages the slowest as well, as a table: a wait per row, a size per column."""
    lines = [
        "| " + " | ".join(("", *(f"{count:,} bindings" for count in found))) + " |",
        "|---|" + "--:|" * len(found),
    ]
    for name in dict.fromkeys(name for seconds in found.values() for name in seconds):
        cells = [_cell(name, seconds[name]) if seconds[name] else "-" for seconds in found.values()]
        lines.append("| " + " | ".join((name, *cells)) + " |")
    return "\n".join(lines)


def _cell(name: str, seconds: Sequence[float]) -> str:
    slowest = f", at most {_time(max(seconds))}" if name.startswith("next stage") else ""
    return _time(median(seconds)) + slowest


def _time(seconds: float) -> str:
    return duration(seconds) if seconds < LONGEST_WAIT_SECONDS else f"over {LONGEST_WAIT_SECONDS} s"


def main() -> None:
    """Print the table of the sizes that are asked for."""
    layers = tuple(map(int, sys.argv[1:])) or LAYERS
    print(table(dict(map(measured, layers))))


if __name__ == "__main__":
    main()
