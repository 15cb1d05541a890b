"""Stepping in the browser: from the key to the next frame on the screen, forwards and backwards."""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.table import Row, Table
from tests.app_server import serve
from tests.conftest import CHROMIUM_ARGUMENTS, chromium_path

STEPS = 30

_MEASURE = """async ([key, count]) => {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, composed: true }));
    await new Promise(done => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    times.push((performance.now() - start) / 1000);
  }
  return times;
}"""


def run() -> Table:
    """Open the recursive Fibonacci sample and step: the ratio is to the first row, the bound is 100 ms."""
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{url}/run?sample=relax/fib.py&t=0")
        page.locator("[data-at]").first.wait_for()
        rows = tuple(Row(name, _step(page, key)) for name, key in (("step in", "i"), ("step back", "b")))
        browser.close()
    return Table(f"Stepping, key to painted frame ({STEPS} steps of fib)", rows, "Both must stay under 100 ms.")


def _step(page: Page, key: str) -> tuple[float, ...]:
    before = page.locator("[data-at]").first.get_attribute("data-at")
    times = tuple(float(time) for time in page.evaluate(_MEASURE, [key, STEPS]))
    if page.locator("[data-at]").first.get_attribute("data-at") == before:
        raise RuntimeError(f"the key {key} moved nothing: the figures would mean nothing")
    return times
