"""Runs as files on the Run page: saved, opened again and shown as they were, without being run."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.debug.requests import (
    Parcel,
)
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE
from relax_core.engine.protocol import (
    Failure,
    OpenedRunOf,
    Program,
    SavedRunOf,
)
from relax_core.engine.session import Session
from relax_core.vm.machine import Machine
from tests.browser import rest
from tests.engine.asking import ask
from tests.engine.programs import sample
from tests.views.pages import labels, opened, sent_to
from views.pages.run import window
from views.state.selection import screen
from views.worker import connection

CAPTURES = "relax/closure_captures.py"


def file_of(path: str, **changes: object) -> bytes:
    return ask(Session(), SavedRunOf(sample(path, **changes))).content


def stepper(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    return sent_to(app)["relaxscope_stepper"]


def given(app: AppTest, content: bytes, name: str = "run.rxt") -> AppTest:
    """Do what an upload does."""
    app.session_state["run.recorded.asked"] = Parcel(name, content)
    app.run()
    assert not app.exception, [item.value for item in app.exception]
    return app


def test_an_opened_run_is_shown_as_it_was_and_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    content = file_of(CAPTURES, seed=3)
    live = stepper(opened("run", screen(sample=CAPTURES, seed=3)))[1]
    app = opened("run", screen(sample="relax/loop.py"))

    def fail(*_: object) -> None:
        pytest.fail("the machine was started")

    monkeypatch.setattr(Machine, "run", fail)
    view, run = stepper(given(app, content))
    assert (run["events"], run["values"], run["frames"]) == (live["events"], live["values"], live["frames"])
    assert "nothing is run" in view["fixed"]
    assert app.button(key="run.again").disabled
    assert app.button(key="run.profile").disabled
    assert any("from seed 3" in item.value for item in app.markdown)


def test_a_change_of_the_program_leaves_the_recorded_run() -> None:
    app = given(opened("run", screen(sample="relax/loop.py")), file_of(CAPTURES))
    assert stepper(app)[0]["fixed"]
    app.button(key="run.recorded.leave").click().run()
    assert not stepper(app)[0]["fixed"]
    assert not app.button(key="run.again").disabled
    elsewhere = opened("run", screen(sample=CAPTURES, from_file=1))
    assert any("does not have" in item.value for item in elsewhere.info)


def test_what_is_no_run_is_refused_and_the_program_stays() -> None:
    first = opened("run", screen(sample="relax/loop.py"))
    before = stepper(first)[1]
    app = given(first, file_of(CAPTURES)[:-40])
    assert "PL003" in app.button(key="run.recorded.code").label
    assert stepper(app)[1]["events"] == before["events"]
    given(app, Path("samples/recordings/head.rxt").read_bytes())
    assert "PL016" in app.button(key="run.recorded.code").label


def test_the_app_is_started_on_a_recorded_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "captures.rxt").write_bytes(file_of(CAPTURES))
    monkeypatch.setenv(OPEN_VARIABLE, str(tmp_path / "captures.rxt"))
    assert stepper(opened("run", screen()))[0]["fixed"]
    assert not stepper(opened("run", screen(sample="relax/loop.py")))[0]["fixed"]


@pytest.mark.browser
def test_a_run_is_saved_and_opened_again(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample={CAPTURES}")
    rest(page)
    page.get_by_role("button", name="Files").click()
    page.get_by_role("button", name="Write this run").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    content = Path(download.value.path()).read_bytes()
    reply = ask(Session(), OpenedRunOf("run.rxt", content))
    assert isinstance(reply.program, Program)
    page.goto(f"{app_url}/run?sample=relax/loop.py")
    rest(page)
    page.get_by_role("button", name="Files").click()
    file: Any = {"name": "captures.rxt", "mimeType": "application/zip", "buffer": content}
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text("recorded run", exact=True)).to_be_visible()
    rest(page)
    expect(page.get_by_role("button", name="Run again")).to_be_disabled()
    page.get_by_role("button", name="Over").click()
    page.wait_for_url("**time=*")
    page.get_by_role("button", name="Run the program here").click()
    expect(page.get_by_role("button", name="Run again")).to_be_enabled()
    rest(page)
    page.locator("table.registers tr[data-kind^=tensor]").first.click()
    page.get_by_role("button", name="View", exact=True).click()
    viewer = page.get_by_role("region", name="Tensor", exact=True)
    viewer.get_by_label("Compare with", exact=True).select_option("file")
    expect(viewer).to_contain_text(re.compile(r"the recorded run, at its time 3\s*0 of 3 elements differ"))


@pytest.mark.parametrize(
    "asked", [{"text": "@I.ir_module\nclass"}, {"text": " "}, {"text": "\0"}, {"sample": "gone.py"}]
)
def test_a_run_is_opened_whatever_else_is_open(asked: dict[str, str]) -> None:
    other = opened("run", screen(**{"sample": "mine.py", **asked}))
    assert "Open a recorded run as .rxt" in labels(other, "file_uploader")
    assert stepper(given(other, file_of(CAPTURES)))[0]["fixed"]


def test_a_run_can_be_opened_where_the_program_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Failure("limit", "Too large", "The text is too large.")

    def ask(*_: object, **__: object) -> Failure:
        return refusal

    monkeypatch.setattr(connection, "ask", ask)
    monkeypatch.setattr(window, "ask", ask)
    app = opened("run", screen())
    assert labels(app, "file_uploader") == ["Open a recorded run as .rxt"]
