"""Inside kernels: going to an iteration of ten millions, a step in the browser, and the heat map of a million cells."""

import random
import statistics
import tempfile
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, sync_playwright

import relax_core as rc
from benchmarks.bench_stepping import MEASURE
from benchmarks.table import Row, Table
from relax_core.engine.debug.requests import HeatOf, KernelCall
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.engine.session import Session
from tests.app_server import serve
from tests.browser import HEIGHT, WIDTH, started
from views.state.address import to_address
from views.state.selection import Selection, screen

SIDE = 216
"""Of a product of matrices with ten million iterations."""
JUMPS, STEPS, ROUNDS = 40, 10, 6
OPEN_MS = 300_000
BOUNDS = (0.2, 0.03, 0.3, 0.3)
PRODUCT = f"""# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def product(A: T.Buffer(({SIDE}, {SIDE}), "float32"), B: T.Buffer(({SIDE}, {SIDE}), "float32"),
            C: T.Buffer(({SIDE}, {SIDE}), "float32")):
    for i, j, k in T.grid({SIDE}, {SIDE}, {SIDE}):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
MILLION = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def doubled(A: T.Buffer((1024, 1024), "float32"), B: T.Buffer((1024, 1024), "float32")):
    for i, j in T.grid(1024, 1024):
        B[i, j] = A[i, j] * T.float32(2)
"""
LAST = 1024 * 1024
_SHOWN = """async (name) => {
  const roots = [...document.querySelectorAll("*")].map((item) => item.shadowRoot);
  const within = roots.find((at) => at?.querySelector("canvas")) ?? document;
  const button = [...within.querySelectorAll("button")].find((item) => item.textContent.trim() === name);
  const start = performance.now();
  button.click();
  await new Promise((done) => {
    const look = () => {
      const now = [...within.querySelectorAll("button")].find((item) => item.textContent.trim() === name);
      if (now?.getAttribute("aria-pressed") === "true") requestAnimationFrame(() => requestAnimationFrame(done));
      else requestAnimationFrame(look);
    };
    look();
  });
  return (performance.now() - start) / 1000;
}"""


def run() -> Table:
    """Jump about in a long kernel, step in the browser, and look at all of a large buffer."""
    rows = (_jumps(), *_in_the_browser(), _counted())
    said = [
        f"{row.name}: {statistics.median(row.seconds) * 1000:.1f} ms, at most {max(row.seconds) * 1000:.1f} ms; "
        f"the bound is {bound * 1000:g} ms"
        for row, bound in zip(rows, BOUNDS, strict=True)
    ]
    return Table("Inside kernels", rows, "\n".join(said))


def _jumps() -> Row:
    it = rc.inside(rc.parse(PRODUCT, "product.py"))
    chosen = random.Random(0)
    taken: list[float] = []
    for _ in range(JUMPS):
        place = {name: chosen.randrange(SIDE) for name in "ijk"}
        # From the start: a search looks ahead.
        began = perf_counter()
        it.go("start", ", ".join(f"{name}={value}" for name, value in place.items()))
        taken.append(perf_counter() - began)
        if it.watch("i * 65536 + j * 256 + k") != place["i"] * 65536 + place["j"] * 256 + place["k"]:
            raise RuntimeError(f"{place} was not reached: the figures would mean nothing")
    return Row("an iteration of ten million", tuple(taken))


def _counted() -> Row:
    """Ask for the counts of a buffer, as they are sent to the page, each time at another statement."""
    session = Session()
    call = KernelCall(Program(MILLION, "million.py"))
    taken: list[float] = []
    for at in range(JUMPS):
        request = HeatOf(call, LAST - 1 - 4096 * at, "A")
        began = perf_counter()
        reply = session.request(request)
        taken.append(perf_counter() - began)
        if isinstance(reply, Failure):
            raise TypeError(reply.message)
    # The first one compiles what counts.
    return Row("the counts of a million elements, in the worker", tuple(taken[1:]))


def _in_the_browser() -> tuple[Row, Row]:
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder)) as url,
        sync_playwright() as playwright,
        started(playwright) as browser,
    ):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        _open(page, url, screen(sample="tir/matmul.py", time=10, inside=10))
        steps = [seconds for _ in range(ROUNDS) for key in "nb" for seconds in _stepped(page, key)]
        shown = _open(page, url, screen(sample="", text=MILLION, time=0, inside=0, clock=LAST // 2))
        maps = [page.evaluate(_SHOWN, name) for _ in range(ROUNDS) for name in ("age", "count")]
        if shown.get_attribute("data-clock") != str(LAST // 2):
            raise RuntimeError("the page went elsewhere")
    return (
        Row("a step, from the key to the painted frame", tuple(steps)),
        Row("the heat map of a million elements, from the click to the painted frame", tuple(maps[2:])),
    )


def _stepped(page: Page, key: str) -> list[float]:
    found: list[float] = page.evaluate(MEASURE, [key, STEPS])["frame"]
    return found


def _open(page: Page, url: str, selection: Selection) -> Locator:
    page.goto(f"{url}/run?{urlencode(to_address(selection))}")
    inside = page.locator(".root[data-clock]")
    inside.wait_for(timeout=OPEN_MS)
    inside.locator("canvas[data-cells]").first.wait_for(timeout=OPEN_MS)
    return inside
