"""What a new visitor waits for on a server that runs:  python -m benchmarks.first_visit.

The first visitor starts what all share, as the first worker of a process does, and neither is counted. Each visitor
comes with an empty cache and no session, so that a worker is forked for them. Beside it stands what Streamlit itself
takes for a page of one word.
"""

import sys
import tempfile
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Final

from playwright.sync_api import sync_playwright

from benchmarks.table import duration
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers
from relax_core.engine.protocol import Open, Program
from tests.app_server import APP, serve
from tests.browser import HEIGHT, WIDTH, started

SAMPLE: Final = APP.parent / "samples" / "relax" / "mlp.py"
VISITORS: Final = 12
ASKED_SECONDS: Final = 1.0


def visits(app: Path, shown: str) -> list[float]:
    """Measure for each visitor of an app how long it is from the navigation to what a selector finds."""
    seconds: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder), app) as url,
        sync_playwright() as playwright,
        started(playwright) as browser,
    ):
        for _ in range(VISITORS + 1):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            begin = perf_counter()
            page.goto(url, wait_until="commit")
            page.locator(shown).first.wait_for()
            seconds.append(perf_counter() - begin)
            page.close()
    return seconds[1:]


def visits_of_one_word() -> list[float]:
    """Measure the visitors of an app that shows one word."""
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder, "word.py")
        app.write_text("import streamlit as st\n\nst.write('word')\n", encoding="utf-8")
        return visits(app, ".stMarkdown")


def first_answers() -> list[float]:
    """Measure the first answer of each new worker, from asking to the module that was read and checked."""
    question = Open(Program(SAMPLE.read_text(encoding="utf-8"), SAMPLE.name))
    seconds: list[float] = []
    for _ in range(VISITORS + 1):
        with Client(launcher=forked_workers()) as client:
            begin = perf_counter()
            client.request(question)
            seconds.append(perf_counter() - begin)
    return seconds[1:]


def main() -> None:
    """Print medians and quartiles."""
    found = {
        "a page of one word": visits_of_one_word(),
        "first page, to its text": visits(APP, ".st-key-source-editor .root[data-rev]"),
        "first page, to its graph": visits(APP, ".st-key-source-graph .root[data-rev]"),
        "first answer of a new worker": first_answers(),
    }
    for name, seconds in found.items():
        low, middle, high = map(duration, quantiles(seconds, n=4))
        sys.stdout.write(f"{name}: {middle}, {low} to {high}, at most {duration(max(seconds))}\n")
    sys.stdout.write(f"asked for is {ASKED_SECONDS:g} s for the first page\n")


if __name__ == "__main__":
    main()
