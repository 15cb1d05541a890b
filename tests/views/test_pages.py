"""Every page opens for every sample; a run that does not end is cancelled from its page."""

import base64
import re
import zlib
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.debug.requests import SimulateOf
from relax_core.engine.protocol import Failure, Inspect, Program, Stop, StopOf
from relax_core.engine.replies import Sample, Simulation
from relax_core.engine.samples import list_samples
from relax_core.engine.session import Session
from relax_core.present.models import Inspector
from relax_core.present.running.run import WINDOW
from relax_core.present.running.run_models import Breakpoint
from tests.browser import rest, wait_for
from tests.engine.programs import SMALL, WRONG_IN_LESSONS
from tests.views.pages import arrive, assert_accessible, opened, sent_to
from views import PAGES
from views.shell.navigation import page_file
from views.state.selection import screen
from views.worker.connection import ask

# The run is stopped by its own clock after ten seconds: the click comes in the moment in which it is said to run.
_CANCEL_THE_RUN = """() => {
  const waits = [...document.querySelectorAll("[class*=st-key-busy]")];
  const said = waits.find((item) => /^Running main/m.test(item.innerText));
  const button = said && said.querySelector("button");
  if (button) button.click();
  return Boolean(button);
}"""
REPOSITORY = Path(__file__).resolve().parents[2]
LONGEST_PAGE_SECONDS = 120
OF_NO_PROGRAM = ("pipeline", "operators", "classroom", "learn")
"""Pages that show nothing of a program but what the bar does: one sample of each area will do."""
TURNS = 3
"""Every sample is opened on every third page of the others; `tests/engine` asks all that pages ask of each."""


def _samples(page: str) -> tuple[Sample, ...]:
    """Choose what a page is opened with: of each area something, and each sample on some page."""
    samples = list_samples()
    if page in OF_NO_PROGRAM:
        return tuple({item.area: item for item in samples}.values())
    shows = [item for item in PAGES if item not in OF_NO_PROGRAM]
    return tuple(item for number, item in enumerate(samples) if (number + shows.index(page)) % TURNS == 0)


def test_every_sample_is_opened_on_two_pages() -> None:
    opened = Counter(item.path for page in PAGES if page not in OF_NO_PROGRAM for item in _samples(page))
    assert {item.path for item in list_samples()} == {*opened}
    assert min(opened.values()) >= 2


def _errors(app: AppTest) -> list[str]:
    return [element.value for element in app.error]


def _open(app: AppTest, sample: str) -> None:
    arrive(app, {"sample": sample})


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_for_samples(page: str) -> None:
    app = AppTest.from_file(str(REPOSITORY / page_file(page)), default_timeout=LONGEST_PAGE_SECONDS)
    for sample in _samples(page):
        _open(app, sample.path)
        assert not app.exception, f"{sample.path}: {[element.value for element in app.exception]}"
        assert app.selectbox(key="bar.sample").value == sample.path
        errors = _errors(app)
        assert not [text for text in errors if "Mistake in RelaxScope" in text or "Worker" in text], sample.path
        if page == "kernels" and sample.area != "errors" and "T.launch_thread" in sample.text:
            # It is simulated, as no code is made of it.
            found = Session().request(SimulateOf(Program(sample.text, sample.path)))
            assert isinstance(found, Simulation)
            assert bool(errors) != found.is_clean, f"{sample.path}: {errors}"
        elif sample.area != "errors" and sample.path not in WRONG_IN_LESSONS:
            assert not errors, f"{sample.path}: {errors}"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "address",
    [
        {"sample": "no/such.py"},
        {"sample": "relax/fib.py", "stage": "99", "node": "7/main/12345", "time": "10000000", "function": "gone"},
        {"sample": "relax/fib.py", "stage": "x", "node": "<b>", "time": "-5", "breakpoints": "@,-,3,@-1,-7,@2"},
        {"sample": "relax/fib.py", "z": "not-zlib", "pipeline": "NoSuchPass(", "entry": "gone", "module": "Gone"},
    ],
    ids=["unknown sample", "numbers out of range", "words that are no numbers", "broken text and pipeline"],
)
def test_a_page_opens_for_any_address(page: str, address: dict[str, str]) -> None:
    app = AppTest.from_file(str(REPOSITORY / page_file(page)), default_timeout=LONGEST_PAGE_SECONDS)
    arrive(app, address)
    assert not app.exception
    assert not [text for text in _errors(app) if "Mistake in RelaxScope" in text]


@pytest.mark.browser
def test_a_run_that_does_not_end_is_cancelled(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=errors/jt_endless_loop.py")
    wait_for(page, _CANCEL_THE_RUN)
    expect(page.get_by_text("Cancelled.", exact=False).first).to_be_visible()
    page.get_by_role("combobox").first.click()
    page.keyboard.type("Fibonacci")
    page.get_by_role("option", name=re.compile("Fibonacci")).first.click()
    expect(page.locator(".root[data-at]").first).to_be_visible()


@pytest.mark.browser
def test_continuing_finds_a_breakpoint_far_behind_the_window(page: Page, app_url: str) -> None:
    sample = next(item for item in list_samples() if item.path == "relax/fib.py")
    text = sample.text.replace("r = cls.fib(n)", 'many = R.const(14, "int64")\n        r = cls.fib(many)')
    # The caller returns when all is done, so the only stop is at the end of a run of many windows.
    line = len(text.rstrip().split("\n"))
    stop = Session().request(StopOf(Program(text), 0, (Breakpoint(line=line),)))
    assert isinstance(stop, Stop)
    assert stop.time > 2 * WINDOW
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")
    page.goto(f"{app_url}/run?sample=relax/fib.py&z={packed}&breakpoints={line}")
    stepper = page.locator(".root[data-at]").first
    expect(stepper).to_have_attribute("data-at", "0")
    page.keyboard.press("F8")
    expect(stepper).to_have_attribute("data-at", str(stop.time))
    page.keyboard.press("[")
    expect(stepper).to_have_attribute("data-at", "0")
    page.keyboard.press("]")
    expect(stepper).to_have_attribute("data-at", str(stop.time))


@pytest.mark.browser
def test_a_breakpoint_stops_only_where_its_condition_holds(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/loop.py")
    stepper = page.locator(".root[data-at]").first
    line = stepper.locator(".listing.source .ln", has_text="following =")
    expect(line).to_be_visible()
    line.locator(".g").click(button="right")
    condition = stepper.get_by_label("Condition of line")
    expect(condition).to_be_focused()
    condition.press_sequentially("i > lmit")
    # The page has heard of the breakpoint, and has shown it again around what is being written.
    expect(page).to_have_url(re.compile(r"[?&]breakpoints=\d+(&|$)"))
    rest(page)
    expect(condition).to_be_focused()
    condition.press("Enter")
    expect(stepper.locator("tr.problem")).to_contain_text("there is no lmit in main_loop")
    expect(condition).to_have_attribute("aria-invalid", "true")
    assert_accessible(page, 1440)
    condition.fill("i == 2, or")
    condition.press("Escape")
    expect(condition).to_have_value("i > lmit")
    condition.fill("i == 2 or i == 4")
    condition.press("Enter")
    # Without waiting for the answer: the server then finds the stop.
    page.keyboard.press("Escape")
    stepper.locator(".listing.source").focus()
    page.keyboard.press("F8")
    expect(stepper.locator("tr[data-point]")).to_contain_text("stops at 2 of 8, first at time")
    expect(stepper).not_to_have_attribute("data-at", "0")
    first = stepper.get_attribute("data-at")
    expect(stepper.locator("tr[data-register='2.0']")).to_contain_text("same as main_loop %9")
    page.keyboard.press("F8")
    expect(stepper).not_to_have_attribute("data-at", str(first))
    # The component moves at once; the server writes the address behind it, one time after the other.
    expect(page).not_to_have_url(re.compile(rf"[?&]time={first}(&|$)"))
    page.keyboard.press("[")
    expect(stepper).to_have_attribute("data-at", str(first))
    expect(page).to_have_url(re.compile(rf"[?&]time={first}(&|$)"))
    page.reload()
    expect(stepper).to_have_attribute("data-at", str(first))
    expect(stepper.get_by_label("Condition of line")).to_have_value("i == 2 or i == 4")


@pytest.mark.browser
def test_the_source_stands_alone_on_the_passes_page(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?sample=relax/mlp.py&stage=0")
    expect(page.get_by_role("region", name="Source", exact=True)).to_contain_text("R.nn.softmax")
    expect(page.locator(".half")).to_have_count(1)
    page.goto(f"{app_url}/passes?sample=relax/mlp.py&pipeline=LegalizeOps&stage=1&view=text")
    expect(page.locator(".half")).to_have_count(2)


def test_what_a_node_is_at_its_stage_is_shown_before_the_passes_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def asking(request: Inspect) -> Inspector | Failure:
        asked.append(request.is_followed)
        return ask(request)

    monkeypatch.setattr("views.shell.selecting.ask", asking)
    app = opened("source", screen(text=SMALL, node="0/main/4"))
    assert asked == [False, True, True]
    rows_of = {item["title"]: item["rows"] for item in sent_to(app)["relaxscope_inspector"][1]["sections"]}
    assert "LegalizeOps" in [row["label"] for row in rows_of["Life of this node"]]
    app.session_state["source.graph"] = {"action": {"kind": "select", "node": "0/main/6", "seq": 1}}
    app.run()
    assert asked[3:] == [True]
