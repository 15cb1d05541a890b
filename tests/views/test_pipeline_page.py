"""The Pipeline page: what can be opened, the stages of a recording, any two of them, and the pass that is to blame."""

import html
import io
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from safetensors.numpy import save
from streamlit.testing.v1 import AppTest

from relax_core.engine.api.pipelines import open_pipeline, write_trace
from relax_core.engine.debug.requests import (
    Parcel,
    ReproducerOf,
)
from relax_core.engine.pipelines.parcel import parcel_of
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage, Recording
from relax_core.engine.pipelines.recognize import OPEN_VARIABLE
from relax_core.engine.pipelines.trace.writer import write_trace as write_trace_bytes
from relax_core.engine.protocol import (
    Failure,
    Request,
)
from tests.browser import rest
from tests.engine.pipelines.stage_texts import ADD, SCALED, TWICE, WRONG, after, dump
from tests.engine.test_halving import SOURCE
from tests.engine.test_halving import WRONG as SUBTRACTED
from tests.engine.test_recorded_calls import with_unknown_function
from tests.views.pages import REPOSITORY, labels, opened, sent_to
from views.pages.pipeline import verdict
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import Selection, screen
from views.state.shared import ProgramState
from views.worker.connection import ask

WRONG_SAMPLE = screen(recording="recordings/head_wrong.rxt")
LOG = after("First", ADD) + after("Same", ADD) + after("**Second** <b>", TWICE) + after("Third", WRONG)
SYMBOLIC = """# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((n, 3), dtype="float32"), b: R.Tensor((n, 3), dtype="float32")):
        y = R.add(a, a)
        return y

    @R.function
    def other(z: R.Tensor((4,), dtype="float32")):
        y = R.add(z, z)
        return y
"""
NUMBERED = {"003_First": SOURCE, "007_Same": SOURCE, "012_Broken": SUBTRACTED}
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
    said = (*(item.value for item in found), *(button.label for button in app.button))
    return html.unescape("\n".join(said))


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


def test_the_paragraph_says_which_change_makes_it_wrong_and_numbers_are_those_of_the_list() -> None:
    parcel = parcel_of(tuple((f"{name}.py", text.encode()) for name, text in NUMBERED.items()))
    app = uploaded(parcel, screen(judged=1))
    said = words(app)
    assert "With only this one of its 3 changed bindings the result is wrong; without it it is right" in said
    assert "012_Broken.py (stage 12)" in said
    _, model = sent_to(app)["relaxscope_pipeline"]
    assert [stage["label"] for stage in model["stages"]] == ["003", "007", "012"]


def test_nobody_is_blamed_when_all_agree() -> None:
    app = uploaded(log(after("First", ADD) + after("Second", TWICE)), screen(judged=1))
    assert "All stages agree" in words(app)
    view, _ = sent_to(app)["relaxscope_pipeline"]
    assert view["suspects"] == []


def test_the_first_form_with_errors_is_marked() -> None:
    app = uploaded(log(after("First", ADD) + after("Bad", ILL) + after("Worse", ILL + "\n")), screen())
    _, model = sent_to(app)["relaxscope_pipeline"]
    assert [stage["mark"] for stage in model["stages"]][:2] == ["", "first with errors"]
    assert "RS001" in app.button(key="pipeline.code.0").label


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


def test_who_starts_the_app_on_a_program_sees_it_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mine.py"
    program.write_text(ADD, encoding="utf-8")
    monkeypatch.setenv(OPEN_VARIABLE, str(program))
    app = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=120).run()
    assert not app.exception
    _, editor = sent_to(app)["relaxscope_editor"]
    assert editor["text"] == ADD
    assert app.session_state["selection"].of(ProgramState).sample == "mine.py"
    app.switch_page("views/pages/pipeline/page.py").run()
    assert "relaxscope_pipeline" not in sent_to(app), "a program is no recording"


def first_row(app: AppTest) -> list[object]:
    return list(cast("Any", app.dataframe[0].value).iloc[0])


def test_what_can_run_and_what_it_takes_is_chosen(tmp_path: Path) -> None:
    app = uploaded(log(after("First", SYMBOLIC) + after("Second", SYMBOLIC.replace("a, a", "a, b"))), screen(judged=1))
    assert first_row(app) == ["in_0", "a", "(n, 3) f32"]
    app.number_input(key="pipeline.size.n.2").set_value(5).run()
    assert not app.exception
    assert app.number_input(key="pipeline.size.n.5").value == 5
    app.selectbox(key="pipeline.entry").set_value("other").run()
    assert first_row(app) == ["in_0", "z", "(4,) f32"]
    assert "All stages agree" in words(app)


def test_what_an_address_says_of_functions_and_sizes_that_are_not_there_is_left_out() -> None:
    app = uploaded(log(), screen(judged=1, recorded_entry="gone", recorded_sizes="q=7", compared_as="graph"))
    assert "Third changed the result" in words(app)


def test_constants_that_are_missing_are_listed_and_taken_from_a_file() -> None:
    other = SCALED.replace("multiply", "subtract")
    app = uploaded(log(after("First", SCALED) + after("Second", other)), screen(judged=1))
    assert "Constants that are not at hand" in words(app)
    assert "changed the result" not in words(app)
    archive = io.BytesIO()
    np.savez(archive, const_0=np.array([1, 2, 3], np.float32))
    app.file_uploader(key="pipeline.constants").upload("c.npz", archive.getvalue(), "application/zip").run()
    assert not app.exception
    assert "Constants that are not at hand" not in words(app)
    assert "Second changed the result" in words(app)


def test_a_bisection_offers_its_reproducer_and_the_lines_of_both_texts() -> None:
    app = opened("pipeline", WRONG_SAMPLE.changed(judged=1, recorded_stage=30, against=20))
    assert {"Save reproducer", "Report"} <= {item.label for item in app.download_button}
    app.button(key="pipeline.good").click().run()
    view, texts = sent_to(app)["relaxscope_diff"]
    assert texts["after_title"] == "B · 001 ScaleEarly"
    assert view["node"][0].startswith("a/")


def test_why_there_is_no_reproducer_is_said_and_not_found_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    large = [text.replace("(2, 3)", "(2000, 1500)") for text in (ADD, WRONG)]
    app = uploaded(log(after("First", large[0]) + after("Second", large[1])), screen(judged=1))
    assert "No reproducer: the inputs" in words(app)
    asked: list[object] = []

    def ask_and_note(request: Request[Any]) -> object:
        asked.append(request)
        return ask(request)

    monkeypatch.setattr(verdict, "ask", ask_and_note)
    assert "No reproducer: the inputs" in words(app.run())
    assert not any(isinstance(request, ReproducerOf) for request in asked)


def test_nothing_is_offered_where_nothing_differs() -> None:
    app = uploaded(log(after("First", ADD) + after("Second", TWICE)), screen(judged=1))
    assert "Save reproducer" not in {item.label for item in app.download_button}


def test_what_is_open_is_saved_as_a_trace() -> None:
    app = uploaded(log(), screen())
    app.button(key="pipeline.write").click().run()
    assert not app.exception
    assert "Save as trace" in {item.label for item in app.download_button}


def test_two_stages_are_one_graph_with_what_changed() -> None:
    app = opened("pipeline", screen(recording="recordings/head.rxt", compared_as="graph"))
    _, model = sent_to(app)["relaxscope_graph"]
    assert model["is_compare"]
    marks = {node["mark"] for node in model["nodes"]}
    assert {"changed", "unchanged"} <= marks
    app = opened("pipeline", screen(recording="recordings/head.rxt", recorded_stage=58, compared_as="graph"))
    view, model = sent_to(app)["relaxscope_graph"]
    assert view["tab"] in {name for name, _ in view["tabs"]}
    assert model["nodes"]


def test_the_functions_of_two_stages_are_listed_with_their_targets() -> None:
    app = opened("pipeline", screen(recording="recordings/head.rxt", recorded_stage=23, compared_as="functions"))
    table = app.dataframe[-1]
    assert "functions changed from A to B" in words(app)
    assert "llvm" in str(table.value)


def test_our_pass_of_the_name_stands_beside_the_recorded_one() -> None:
    shown = screen(recording="recordings/head.rxt", compared_as="ours")
    app = opened("pipeline", shown)
    assert "RelaxScope's LegalizeOps makes the same module." in words(app)
    assert "relaxscope_diff" not in sent_to(app), "there is nothing to compare"
    wrong = opened("pipeline", shown.changed(recording="recordings/head_wrong.rxt", recorded_stage=1))
    assert "no such pass" in words(wrong)
    # The first pass that was recorded did what no FoldConstant does, to the same values.
    close = uploaded(
        log(after("First", ADD) + after("FoldConstant", TWICE)), screen(compared_as="ours", recorded_stage=1)
    )
    assert "equal in value" in words(close)
    assert "RelaxScope's FoldConstant" in sent_to(close)["relaxscope_diff"][1]["before_title"]


def test_what_the_pass_of_a_stage_does_is_explained_where_it_is_known() -> None:
    shown = screen(recording="recordings/head.rxt")
    for stage, is_known in ((0, False), (5, True), (23, False), (26, True)):
        app = opened("pipeline", shown.changed(recorded_stage=stage))
        assert bool([item for item in app.button if item.key == "pipeline.explain"]) == is_known, stage
    app.button(key="pipeline.explain").click().run()
    assert not app.exception
    assert "`LowerInitBlock` :gray-badge[pass on TIR]" in words(app)


def test_what_stopped_the_compiler_is_explained_with_the_rule_and_the_line() -> None:
    bad = RecordedStage(1, "Bad", ILL.replace("return y", "return z"))
    stages = (RecordedStage(0, "(input)", ADD), bad, RecordedStage(2, "Next", None, error="it raised KeyError: z"))
    parcel = Parcel("t.rxt", write_trace_bytes(Pipeline(Recording("t.rxt", "trace", stages))))
    app = uploaded(parcel, screen(judged=1))
    assert "The compiler stopped in pass Next (stage 2)" in words(app)
    assert "It is there since Bad, stage 1." in words(app)
    assert "RS001" in words(app)
    assert "All stages agree" not in words(app)
    assert "Save reproducer" in labels(app, "download_button")
    app.button(key="pipeline.crash.before").click().run()
    assert sent_to(app)["relaxscope_diff"][0]["node"][0].startswith("b/")
    assert not any("stopped" in item.value for item in opened("pipeline", WRONG_SAMPLE).markdown)


def test_the_calls_of_a_recorded_run_stand_beside_ours_and_numpys() -> None:
    app = opened("pipeline", screen(recording="recordings/head_wrong.rxt", compared_as="calls"))
    table = app.dataframe[-1]
    columns = cast("Any", table.value)  # of which the types of pandas say too little
    assert [verdict[0] for verdict in columns["Verdict"]] == ["✓", "✓", "✓", "✕", "✕", "✕"]
    assert list(columns["Verdict"])[3] == "✕ first different"
    assert float(columns["ULP by NumPy"].iloc[3]) > 1e6
    assert "19 add (scaled) is the first that differs" in words(app)
    assert "-2.79649329 in TVM, -2.15765309 by NumPy" in words(app)
    app.button(key="pipeline.calls.line").click().run()
    assert sent_to(app)["relaxscope_diff"][0]["node"][0] == "b/11"
    app = opened("pipeline", screen(recording="recordings/head.rxt", compared_as="calls", runs_on=1, compared_run=7))
    assert "All calls agree" in words(app)
    assert not any("Verdict" in str(table.value) for table in uploaded(log(), screen(compared_as="calls")).dataframe)


def test_what_stands_in_for_functions_that_are_not_here_is_chosen_and_said() -> None:
    parcel = Parcel("t.rxt", write_trace_bytes(with_unknown_function()))
    app = uploaded(parcel, screen(judged=1, recorded_stand_ins="other=zeros,my.f=python"))
    assert "there is no packed function" in words(app)
    app.selectbox(key="pipeline.stand_in.0").select("recorded").run()
    assert "All stages agree" in words(app)
    assert "1 call was a stand-in (my.f: recorded)" in words(app)
    app.selectbox(key="pipeline.stand_in.0").select("zeros").run()
    assert "Not all stages could be compared" in words(app)
    assert "1 call was a stand-in (my.f: zeros)" in words(app)


def upload(page: Page, url: str, which: int, files: Any) -> None:
    """Give files to an uploader of the empty page: 0 takes files, 1 a folder."""
    page.goto(f"{url}/pipeline")
    page.get_by_test_id("stFileUploader").nth(which).locator("input[type=file]").set_input_files(files)


def assert_blamed(page: Page, name: str) -> None:
    """Check the results; the page must show the culprit, its row and its text."""
    expect(page.get_by_role("button", name="Check results")).to_be_visible()
    rest(page)
    page.get_by_role("button", name="Check results").click()
    expect(page.get_by_text(f"{name} changed the result")).to_be_visible()
    rest(page)
    culprit = page.locator("tr.suspect")
    expect(culprit).to_contain_text("first difference")
    expect(culprit).to_have_attribute("aria-current", "step")


def test_the_life_of_the_marked_line_is_followed() -> None:
    shown = screen(recording="recordings/head.rxt", followed=1, recorded_stage=5, against=0)
    _, model = sent_to(opened("pipeline", shown))["relaxscope_inspector"]
    assert model["title"] == "Life of a line"
    _, model = sent_to(opened("pipeline", shown.changed(recorded_line="a/9")))["relaxscope_inspector"]
    assert model["title"] == "binding product of @main"
    links = [part["node"] for row in model["sections"][-1]["rows"] for part in row["value"] if part.get("node")]
    assert {"0/9", "5/84"} <= set(links)


@pytest.mark.browser
def test_an_uploaded_log_ends_at_the_culprit(page: Page, app_url: str) -> None:
    upload(page, app_url, 0, [{"name": "build.log", "mimeType": "text/plain", "buffer": LOG.encode()}])
    assert_blamed(page, "Third")
    expect(page.locator(".root").get_by_text("B · 003 Third")).to_be_visible()


@pytest.mark.browser
def test_keys_pin_the_left_stage_lead_to_the_culprit_and_to_the_search(page: Page, app_url: str) -> None:
    upload(page, app_url, 0, [{"name": "build.log", "mimeType": "text/plain", "buffer": LOG.encode()}])
    assert_blamed(page, "Third")
    texts = page.locator(".root")
    for key in "kak":
        page.keyboard.press(key)
    expect(texts.get_by_text("B · 000 First")).to_be_visible()
    expect(texts.get_by_text("A · 002 **Second** <b>")).to_be_visible()
    page.keyboard.press("c")
    expect(texts.get_by_text("B · 003 Third")).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_placeholder("Name in a stage")).to_be_focused()


@pytest.mark.browser
def test_an_uploaded_trace_ends_at_the_culprit(page: Page, app_url: str, tmp_path: Path) -> None:
    folder = dump(tmp_path / "ir", _000_First=SCALED, _001_Second=SCALED.replace("multiply", "subtract"))
    given = open_pipeline(folder).with_constants({0: np.array([1, 2, 3], np.float32)})
    write_trace(given, tmp_path / "build.rxt")
    upload(page, app_url, 0, tmp_path / "build.rxt")
    assert_blamed(page, "Second")


@pytest.mark.browser
@pytest.mark.tvm
def test_an_uploaded_folder_ends_at_the_culprit_and_its_reproducer_fails(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    upload(page, app_url, 1, dump(tmp_path / "ir", _000_First=ADD, _001_Second=TWICE, _002_Third=WRONG))
    assert_blamed(page, "Third")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save reproducer").click()
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Report").click()
    assert Path(saved.value.path()).read_text().startswith("# Third changes what `main` computes")
    done = subprocess.run((sys.executable, path), capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "after Third: result 0: 6 of 6 elements differ; the first at [0, 0]" in done.stdout


def test_costs_of_every_form_are_counted() -> None:
    app = uploaded(log(), screen(compared_as="costs"))
    figures, changes = (cast("Any", table.value) for table in app.dataframe[-2:])
    assert [stage.split(" ", 1)[1] for stage in figures["Stage"]] == ["First", "**Second** <b>", "Third"]
    assert figures["Bytes moved"].dtype.kind == "i", "figures are sorted as numbers"
    assert any("-1 relax.add" in words for words in changes["Calls that came and went"])


def test_inputs_of_a_recording_are_files_of_any_kind_that_the_run_page_takes() -> None:
    app = uploaded(log(), screen(judged=1))
    values = np.full((2, 3), 2, np.float32)
    array = io.BytesIO()
    np.save(array, values)
    for name, content in (("x.npy", array.getvalue()), ("all.safetensors", save({"x": values}))):
        app.file_uploader(key="pipeline.inputs").upload(name, content, "application/octet-stream").run()
        assert f"x: {name}" in words(app)
        app.button(key="pipeline.no_inputs").click().run()
    app.file_uploader(key="pipeline.inputs").upload("x.npy", content[:9], "application/octet-stream").run()
    assert "does not fit" in words(app)
