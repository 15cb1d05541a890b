"""A lesson in the browser: answered, refused, hinted, shown, reached by stepping; kept over a reload; handed in."""

import re
from html import unescape
from typing import NoReturn

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.diagnostics import Diagnostic
from relax_core.engine.session import Session
from relax_core.lessons.library import LESSONS, LessonFile, lesson_named, list_lessons, next_lesson
from relax_core.lessons.model import Look
from relax_core.lessons.progress import Progress, StepRecord, read_code, to_text
from relax_core.lessons.screens import resolved_address
from relax_core.source import Source, Span
from tests.browser import OpenPage, rest
from tests.views.pages import REPOSITORY, arrive, assert_accessible, opened, sent_to
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import screen

LESSON = "lesson=tensor_programs"


def next_step(page: Page, title: str) -> None:
    page.get_by_role("button", name=re.compile("Next")).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def answer(page: Page, text: str) -> None:
    field = page.get_by_label(re.compile("^Your answer"))
    field.fill(text)
    field.press("Enter")


@pytest.mark.browser
def test_a_lesson_is_played_and_its_progress_is_kept(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/learn")
    page.get_by_role("button", name="1. What a tensor program is").click()
    expect(page.get_by_role("heading", name="A module holds functions")).to_be_visible()
    expect(page.get_by_text("◎ look ? predict ▷ do ✓ done")).to_be_visible()
    expect(page.get_by_text("A question or a task gives 3 points, one less for each hint")).to_be_visible()
    next_step(page, "How many bindings?")
    expect(page.get_by_text("Worth 3 points. A hint and a wrong answer cost one each;")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Next"))).to_be_disabled()
    answer(page, "four")
    expect(page.get_by_text("four is no number. It costs nothing.")).to_be_visible()
    answer(page, "4")
    expect(page.get_by_text("4 is not it.")).to_be_visible()
    page.keyboard.press("Alt+h")
    expect(page.get_by_text("Count the lines between")).to_be_visible()
    expect(page.get_by_text("Worth 1 point. Neither hints nor wrong answers take that;")).to_be_visible()
    answer(page, "5")
    expect(page.get_by_text("is right. 1 point.")).to_be_visible()
    next_step(page, "Types are known beforehand")
    graph = page.locator(".st-key-source-graph")
    expect(graph).to_contain_text("lv1")
    expect(graph).not_to_contain_text("(4, 16)")
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_text("The answer is (4, 16). No point for it.")).to_be_visible()
    expect(page.get_by_text("The types of values come back once step 4 is answered.")).to_be_visible()
    expect(graph).not_to_contain_text("(4, 16)")
    page.reload()
    expect(page.get_by_text("The answer is (4, 16). No point for it.")).to_be_visible()
    expect(page.get_by_text("1 of 18 points")).to_be_visible()
    page.goto(f"{app_url}/learn")
    expect(page.get_by_text("3 of 7 steps, 1 of 18 points")).to_be_visible()
    page.get_by_role("button", name="Hand in").click()
    name = page.get_by_label("Your name")
    name.fill("Ada")
    name.press("Enter")
    code = page.get_by_role("dialog").locator("code").first
    expect(code).to_contain_text("RS1-")
    found = read_code(code.inner_text())
    assert (found.name, found.progress.of("tensor_programs", 2).answer) == ("Ada", "5")


def test_a_step_is_chosen_in_one_run_and_one_that_is_too_early_says_which_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leave(page: str) -> NoReturn:
        raise AssertionError(f"the script would run again, for {page}")

    monkeypatch.setattr("views.lessons.steps.open_page", leave)
    app = AppTest.from_file(str(REPOSITORY / page_file("source")), default_timeout=120)
    done = {at: StepRecord("solved") for at in (1, 2)}
    app.session_state["lesson.progress"] = to_text(Progress({"tensor_programs": done}))
    app.session_state["page.shown"] = "source"
    arrive(app, to_address(screen(sample="relax/mlp.py", lesson="tensor_programs", lesson_step=1)))
    steps = app.button_group(key="lesson.strip").options
    app.button_group(key="lesson.strip").set_value(steps[2]).run()
    assert not app.exception
    assert app.query_params["lesson_step"] == "3"
    app.button_group(key="lesson.strip").set_value(app.button_group(key="lesson.strip").options[3]).run()
    assert app.query_params["lesson_step"] == "3"
    assert [item.value for item in app.warning] == ["Step 3 comes first&#46;"]
    app.run()
    assert not app.warning


@pytest.mark.browser
def test_a_run_stops_before_what_is_asked_until_it_is_answered(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/run?lesson=loop_nests&lesson_step=4&sample=lessons/loop_nests/row_sum.py&unwritten=1")
    stepper = page.locator("[data-total]")
    expect(page.get_by_text("The run goes on once the question is answered.")).to_be_visible()
    for key in ("n", "i", "F8", "]"):
        page.keyboard.press(key)
    expect(stepper).to_have_attribute("data-at", "0")
    expect(page.locator(".st-key-ctx").get_by_role("button", name="JT020")).to_have_count(0)
    rest(page)
    page.locator(".st-key-lesson").get_by_role("button", name="Show me").click()
    expect(page.locator(".st-key-ctx").get_by_role("button", name="JT020")).to_be_visible()
    expect(page.get_by_text("The run goes on once the question is answered.")).to_be_hidden()
    page.keyboard.press("n")
    expect(stepper).not_to_have_attribute("data-at", "0")


@pytest.mark.browser
def test_what_the_checker_finds_is_told_with_the_answer(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/?lesson=dataflow_and_purity&lesson_step=6&sample=lessons/dataflow_and_purity/impure.py")
    expect(page.get_by_role("textbox", name="Program text")).to_contain_text("custom_add")
    rest(page)
    expect(page.get_by_text("held back", exact=True)).to_be_visible()
    assert page.get_by_text("WF004").count() == 0
    page.locator(".st-key-lesson").get_by_role("button", name="Show me").click()
    expect(page.get_by_role("button", name="WF004").first).to_be_visible()


@pytest.mark.browser
def test_a_kernel_stops_before_what_is_asked_until_it_is_answered(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    lesson = "lessons/stepping_a_reduction/row_sums.py"
    page.goto(f"{app_url}/run?lesson=stepping_a_reduction&lesson_step=3&sample={lesson}&inside=2&clock=9")
    expect(page.get_by_text("statement 1", exact=True)).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("The run goes on once the question is answered.")).to_be_visible()
    expect(page.get_by_text("statement 1", exact=True)).to_be_visible()
    answer(page, "6")
    expect(page.get_by_text("is right. 3 points.")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("statement 2 of 15", exact=True)).to_be_visible()


@pytest.mark.browser
def test_a_state_is_reached_by_stepping(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/run?{LESSON}&lesson_step=6&sample=lessons/tensor_programs/centred.py&time=1")
    expect(page.get_by_text("not yet: 0 of 1 condition met")).to_be_visible()
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("✓ reached. 3 points.")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("step", [4, 6])
def test_the_panel_is_accessible_and_fits_beside_the_page(open_page: OpenPage, app_url: str, step: int) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/{'run' if step == 6 else ''}?{LESSON}&lesson_step={step}&sample=relax/mlp.py")
    expect(page.get_by_text(re.compile("✓ (W|Source: w)ell-formed"))).to_be_visible()
    expect(page.get_by_role("heading", level=3)).to_be_visible()
    assert_accessible(page, 1280)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, 1280, "dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_an_edited_program_is_judged_by_what_it_does() -> None:
    lesson = {"lesson": "a_pass_by_hand", "lesson_step": 7, "sample": "lessons/a_pass_by_hand/layers.py"}
    mended = (LESSONS / "a_pass_by_hand" / "saved.py").read_text(encoding="utf-8")
    wrong = mended.replace("R.add(b, b)", "R.add(b, a)")
    renamed = mended.replace(" b ", " c ").replace("(b, b)", "(c, c)")
    for text, said in (("", "not yet"), (wrong, "not yet"), (renamed, "reached")):
        app = opened("source", screen(**lesson, text=text))
        shown = [item.value for item in (*app.info, *app.success)]
        assert any(said in item for item in shown), (text, shown)


@pytest.mark.browser
def test_the_end_of_a_lesson_leads_to_the_next_one(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/?lesson=symbolic_shapes&lesson_step=7&sample=lessons/symbolic_shapes/join.py&dims=n=3,m=5")
    following = page.get_by_role("button", name="Next lesson: 3. Dataflow blocks and purity")
    panel = page.locator(".st-key-lesson")
    expect(panel.get_by_text("not yet: 1 of 3 conditions met")).to_be_visible()
    expect(following).to_have_count(0)
    panel.get_by_role("button", name="Show me").click()
    expect(panel.get_by_text("This is the last step: 0 of 18 points.")).to_be_visible()
    assert_accessible(page, 1280)
    following.click()
    expect(panel.get_by_role("heading", name="Two kinds of functions")).to_be_visible()


def test_behind_the_last_lesson_there_is_none() -> None:
    files = [item for item in list_lessons() if item.lesson is not None]
    assert [next_lesson(item) for item in files] == [*files[1:], None]


@pytest.mark.browser
def test_passes_and_codes_that_a_step_names_are_explained(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1280, 800)
    page.goto(f"{app_url}/?lesson=symbolic_shapes&lesson_step=7&sample=lessons/symbolic_shapes/join.py&dims=n=3,m=5")
    explain = page.locator(".st-key-lesson").get_by_role("button", name="VM012")
    expect(explain).to_be_visible()
    rest(page)
    explain.click()
    expect(page.get_by_role("dialog", name="Diagnostic")).to_contain_text("VM012")
    assert_accessible(page, 1280)
    page.goto(f"{app_url}/?lesson=dataflow_and_purity&lesson_step=3&sample=lessons/dataflow_and_purity/printing.py")
    explain = page.locator(".st-key-lesson").get_by_role("button", name="DeadCodeElimination")
    expect(explain).to_be_visible()
    expect(page.get_by_text("Well-formed")).to_be_visible()
    rest(page)
    explain.click()
    expect(page.get_by_role("dialog", name="Explain this")).to_contain_text("DeadCodeElimination")


def test_a_fix_names_what_is_met_and_what_was_found_and_not_what_is_wanted() -> None:
    lesson = {
        "lesson": "symbolic_shapes",
        "lesson_step": 7,
        "sample": "lessons/symbolic_shapes/join.py",
        "dims": "n=3,m=5",
    }
    app = opened("source", screen(**lesson))
    said = unescape("\n".join(item.value for item in app.markdown))
    assert "✕ `shape of total`: `(n, 4)`" in said
    assert "✕ how the run ends: `VM012`" in said
    assert "✓ what the checker finds: `none`" in said
    assert "n + m, 4" not in said


def test_the_graph_is_of_the_function_that_a_step_looks_at() -> None:
    file = lesson_named("dataflow_and_purity")
    assert file is not None
    assert file.lesson is not None
    step = file.lesson.steps[0]
    assert isinstance(step.exercise, Look)
    address = resolved_address(Session().request, file.folder, step.shown, step.exercise.at)
    view, graph = sent_to(opened("source", screen(**address)))["relaxscope_graph"]
    assert (view["tab"], graph["title"]) == ("layer", "@layer")
    chosen, _ = sent_to(opened("source", screen(**address, function="main")))["relaxscope_graph"]
    assert chosen["tab"] == "main"


def test_an_order_is_not_chosen_all_at_once() -> None:
    app = opened("run", screen(lesson="tensor_programs", lesson_step=5, sample="relax/mlp.py"))
    assert app.multiselect[0].proto.options == ["lv3", "lv1", "lv2"]
    assert not app.multiselect[0].proto.select_all


def test_a_lesson_that_cannot_be_read_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("lesson.md", "## No front matter\n")
    broken = LessonFile(LESSONS / "broken", source, None, (Diagnostic("EN032", "no front", Span(source, 0, 5)),))

    def named(_name: str) -> LessonFile:
        return broken

    monkeypatch.setattr("views.lessons.steps.lesson_named", named)
    app = opened("source", screen(lesson="broken", sample="relax/fib.py"))
    assert not app.exception
    assert "cannot be read" in app.error[0].value


@pytest.mark.browser
def test_what_is_selected_is_explained_and_leads_to_a_lesson(open_page: OpenPage, app_url: str) -> None:
    page = open_page(1440, 900)
    page.goto(f"{app_url}/?sample=relax/mlp.py&node=0/main/7")
    page.get_by_role("button", name="Explain", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("is what R.matmul returns")).to_be_visible()
    assert_accessible(page, 1440)
    dialog.get_by_role("button", name="What a tensor program is").click()
    expect(page.get_by_role("heading", name="Types are known beforehand")).to_be_visible()
