"""The Pipeline page: what can be opened, the stages of a recording, any two of them, and the pass that is to blame."""

import html
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.pipelines.parcel import parcel_of
from relax_core.engine.pipelines.sources import OPEN_VARIABLE
from relax_core.engine.protocol import Failure, Parcel
from tests.engine.pipelines.stage_texts import ADD, TWICE, WRONG, after, dump
from tests.views.pages import REPOSITORY, opened, sent_to
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import Selection, screen

WRONG_SAMPLE = screen(recording="recordings/head_wrong.rxt")
LOG = after("First", ADD) + after("Same", ADD) + after("**Second** <b>", TWICE) + after("Third", WRONG)
ILL = WRONG.replace("return y", "return z")


def uploaded(given: Parcel | Failure, selection: Selection) -> AppTest:
    """Open the page in a tab that has uploaded something."""
    app = AppTest.from_file(str(REPOSITORY / page_file("pipeline")), default_timeout=120)
    for name, value in to_address(selection.changed(recording="yours")).items():
        app.query_params[name] = value
    app.session_state["recordings"] = {"yours": given}
    app.run()
    assert not app.exception, [item.value for item in app.exception]
    return app


def log(text: str = LOG) -> Parcel:
    return parcel_of((("build.log", text.encode()),))


def words(app: AppTest) -> str:
    """Return all that the page says; text of programs stands there as numbered characters."""
    found = (*app.markdown, *app.error, *app.success, *app.info, *app.caption, *app.warning)
    return html.unescape("\n".join(item.value for item in found))


def test_without_a_recording_the_page_says_what_can_be_opened() -> None:
    app = opened("pipeline", screen())
    assert "DumpIR" in words(app)
    assert not app.error
    app.button(key="pipeline.open.recordings/head_wrong.rxt").click().run()
    assert not app.exception
    _, model = sent_to(app)["relaxscope_pipeline"]
    assert [stage["name"] for stage in model["stages"]][:2] == ["(input)", "ScaleEarly"]


def test_an_upload_that_this_tab_does_not_have_is_asked_for_again() -> None:
    for name in ("yours", "opened", "/etc/passwd", f"recordings/{'../' * 2}README.md", "\u202e<b>"):
        app = opened("pipeline", screen(recording=name, recorded_stage=7, against=9, judged=1, sought="x"))
        assert "DumpIR" in words(app)
        assert not app.error
    assert "does not have" in words(opened("pipeline", screen(recording="yours")))


def test_stages_are_listed_with_nesting_and_the_form_before_beside_the_first_that_changed() -> None:
    sent = sent_to(opened("pipeline", screen(recording="recordings/head.rxt")))
    view, model = sent["relaxscope_pipeline"]
    assert view["verdicts"] == []
    assert {stage["depth"] for stage in model["stages"]} >= {0, 1, 2}
    assert sum(stage["seconds"] > 0 for stage in model["stages"]) > 20
    _, texts = sent["relaxscope_diff"]
    assert texts["before_title"].startswith("A · 000")
    assert texts["after_title"].endswith("LegalizeOps")


def test_any_two_stages_stand_side_by_side() -> None:
    app = uploaded(log(), screen(recorded_stage=0, against=3))
    _, texts = sent_to(app)["relaxscope_diff"]
    assert (texts["before_title"], texts["after_title"]) == ("A · 003 Third", "B · 000 First")
    app.button(key="pipeline.swap").click().run()
    _, texts = sent_to(app)["relaxscope_diff"]
    assert (texts["before_title"], texts["after_title"]) == ("A · 000 First", "B · 003 Third")


def test_what_is_out_of_range_in_an_address_is_as_if_absent() -> None:
    app = uploaded(log(), screen(recorded_stage=900, against=900, recorded_line="b/999999"))
    _, texts = sent_to(app)["relaxscope_diff"]
    assert texts["after_title"] == "B · 002 **Second** <b>"


def test_results_name_the_culprit_and_open_its_line() -> None:
    app = opened("pipeline", WRONG_SAMPLE)
    app.button(key="pipeline.judge").click().run()
    assert not app.exception
    sent = sent_to(app)
    view, model = sent["relaxscope_pipeline"]
    assert view["suspects"] == [1]
    assert len(view["verdicts"]) == len(model["stages"])
    assert "ScaleEarly changed the result" in words(app)
    assert sent["relaxscope_diff"][1]["after_title"] == "B · 001 ScaleEarly"
    assert sent["relaxscope_diff"][0]["node"][0] == "b/12"


def test_nobody_is_blamed_when_all_agree() -> None:
    app = uploaded(log(after("First", ADD) + after("Second", TWICE)), screen(judged=1))
    assert "All stages agree" in words(app)
    view, _ = sent_to(app)["relaxscope_pipeline"]
    assert view["suspects"] == []


def test_the_first_form_with_errors_is_marked() -> None:
    app = uploaded(log(after("First", ADD) + after("Bad", ILL) + after("Worse", ILL + "\n")), screen())
    _, model = sent_to(app)["relaxscope_pipeline"]
    assert [stage["mark"] for stage in model["stages"]][:2] == ["", "first with errors"]
    assert "RS001" in words(app)


def test_a_name_is_looked_for_in_all_stages() -> None:
    app = uploaded(log(), screen(sought="multiply"))
    assert "`multiply` first appears in 002 **Second** <b>" in words(app)
    app.button(key="pipeline.at.2").click().run()
    assert sent_to(app)["relaxscope_diff"][0]["node"][0].startswith("b/")


@pytest.mark.parametrize("name", ["**bold** :red[x]", "<img src=x onerror=alert(1)>", "\u202e`"])
def test_hostile_names_are_text(name: str) -> None:
    app = uploaded(parcel_of(((f"{name}.py", ADD.encode()), ("b.py", WRONG.encode()))), screen(judged=1, sought="x"))
    for item in (*app.markdown, *app.error, *app.caption):
        assert "<img" not in item.value
        assert ":red[x]" not in item.value


def test_what_cannot_be_opened_says_why() -> None:
    app = uploaded(parcel_of((("a.rxt", b"PK\x03\x04 cut short"),)), screen())
    assert "PL003" in words(app)
    assert app.button(key="pipeline.open.recordings/head.rxt")
    app = uploaded(Failure("diagnosed", "Not opened", "a.log is too large"), screen())
    assert "too large" in words(app)


def test_the_server_opens_what_it_was_started_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPEN_VARIABLE, str(dump(tmp_path / "ir", _000_First=ADD, _001_Second=TWICE)))
    _, model = sent_to(opened("pipeline", screen()))["relaxscope_pipeline"]
    assert [stage["name"] for stage in model["stages"]] == ["First", "Second"]
    monkeypatch.setenv(OPEN_VARIABLE, str(tmp_path / "missing"))
    assert "PL001" in words(opened("pipeline", screen()))


def test_who_starts_the_app_on_a_recording_sees_it_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPEN_VARIABLE, str(dump(tmp_path / "ir", _000_First=ADD, _001_Second=TWICE)))
    app = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=120).run()
    assert not app.exception
    assert "relaxscope_pipeline" in sent_to(app)
    assert "relaxscope_editor" not in sent_to(app)


@pytest.mark.browser
def test_an_uploaded_log_ends_at_the_culprit(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/pipeline")
    files = page.get_by_test_id("stFileUploader").first.locator("input[type=file]")
    files.set_input_files([{"name": "build.log", "mimeType": "text/plain", "buffer": LOG.encode()}])
    page.get_by_role("button", name="Check results").click()
    expect(page.get_by_text("Third changed the result")).to_be_visible()
    culprit = page.locator("tr.suspect")
    expect(culprit).to_contain_text("first difference")
    expect(culprit).to_have_attribute("aria-current", "step")
    expect(page.locator(".root").get_by_text("B · 003 Third")).to_be_visible()
