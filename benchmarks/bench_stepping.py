"""Stepping in the browser: from the key to the page and to the next frame, in a short program and in long ones."""

import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from benchmarks.script_texts import bindings
from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.browser import HEIGHT, WIDTH, started
from views.state.address import to_address
from views.state.selection import Selection, screen

STEPS = 10
ROUNDS = 3
SIZES = (300, 1_200)
OPEN_MS = 300_000
COMMANDS: Mapping[str, str] = MappingProxyType({"step in": "i", "step back": "b"})

MEASURE = """async ([key, count]) => {
  const page = [], frame = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, composed: true }));
    page.push((performance.now() - start) / 1000);
    await new Promise(done => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    frame.push((performance.now() - start) / 1000);
  }
  return { page, frame };
}"""

Times = dict[tuple[str, str, Literal["page", "frame"]], list[float]]


def run() -> Table:
    """Open a short program and long ones in a page each, and step in turns: the bound is 100 ms to the page."""
    times: Times = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder)) as url,
        sync_playwright() as playwright,
        started(playwright) as browser,
    ):
        pages: dict[str, Page] = {}
        for name, selection in _programs().items():
            pages[name] = page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(f"{url}/run?{urlencode(to_address(selection))}")
            page.locator("[data-at]").first.wait_for(timeout=OPEN_MS)
        for _ in range(ROUNDS):
            for name, page in pages.items():
                page.bring_to_front()
                for command, key in COMMANDS.items():
                    for until, seconds in _step(page, key).items():
                        times.setdefault((name, command, until), []).extend(seconds)
    rows = tuple(
        Row(f"{name}: {command}, to the {until}", tuple(found)) for (name, command, until), found in times.items()
    )
    slowest = max(statistics.median(found) for (_, _, until), found in times.items() if until == "page")
    note = f"The slowest median to the page is {slowest * 1000:.1f} ms; the bound is 100 ms."
    return Table(f"Stepping, from the key to the page and to the painted frame ({ROUNDS} x {STEPS} steps)", rows, note)


def _programs() -> dict[str, Selection]:
    long = {f"{size} bindings": screen(sample="", text=bindings(size), time=0) for size in SIZES}
    return {"fib": screen(sample="relax/fib.py", time=0), **long}


def _step(page: Page, key: str) -> dict[Literal["page", "frame"], list[float]]:
    before = page.locator("[data-at]").first.get_attribute("data-at")
    times = page.evaluate(MEASURE, [key, STEPS])
    if page.locator("[data-at]").first.get_attribute("data-at") == before:
        raise RuntimeError(f"the key {key} moved nothing: the figures would mean nothing")
    return {"page": times["page"], "frame": times["frame"]}
