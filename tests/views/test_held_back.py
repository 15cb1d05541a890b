"""While a prediction of a lesson waits for its answer, the page beside it does not tell that answer."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.debug.requests import Parcel, RecordedOf
from relax_core.engine.protocol import Failure, PipelineOf, PropertiesOf
from relax_core.engine.samples import SAMPLES
from relax_core.engine.session import Session
from relax_core.lessons.library import LessonFile, list_lessons
from relax_core.lessons.model import Predict, Shown, Step
from relax_core.lessons.progress import Progress, StepRecord, to_text
from relax_core.lessons.reading import over
from relax_core.lessons.screens import Held, held_at, program_of, resolved_address, values_of
from relax_core.lessons.withholding import held_for, open_questions
from tests.views.pages import REPOSITORY, Sent, arrive, sent_to
from views.shell.navigation import page_file
from views.state.address import to_address
from views.state.selection import screen

LESSONS = {file.name: file for file in list_lessons()}
ENGINE = Session().request
AT_THE_END = ("result", "failed pass")
"""Beginnings of properties that the whole pipeline decides."""


def predictions(file: LessonFile) -> list[tuple[int, Step, Predict]]:
    steps = () if file.lesson is None else file.lesson.steps
    return [(at, step, step.exercise) for at, step in enumerate(steps, 1) if isinstance(step.exercise, Predict)]


def beside(file: LessonFile, number: int, shown: Shown, done: int = 0) -> AppTest:
    """The page at a screen of a step; the steps up to `done` are answered."""
    address = resolved_address(ENGINE, file.folder, shown)
    app = AppTest.from_file(str(REPOSITORY / page_file(shown.page or "source")), default_timeout=120)
    solved = {at: StepRecord("solved") for at in range(1, done + 1)}
    app.session_state["lesson.progress"] = to_text(Progress({file.name: solved}))
    arrive(app, to_address(screen(lesson=file.name, lesson_step=number, **address)))
    assert not app.exception, [item.value for item in app.exception]
    return app


def stage_of_answer(file: LessonFile, shown: Shown, exercise: Predict) -> int:
    """The first stage whose page would tell the answer; 0 if no stage does."""
    name, program = exercise.stage_asked, program_of(file.folder, shown)
    if not name and isinstance(exercise.reveal, Shown) and isinstance(exercise.reveal.stage, str):
        name = exercise.reveal.stage
    if shown.page == "pipeline":
        recorded = ENGINE(RecordedOf(Parcel("recorded", (SAMPLES / shown.recording).read_bytes())))
        assert not isinstance(recorded, Failure)
        return next(stage.index for stage in recorded.pipeline.stages if stage.name == name)
    if name:
        return int(values_of(ENGINE, PropertiesOf(program, (f"stage of {name}",)))[0])
    if exercise.computed.endswith("at the end") or exercise.computed.startswith(AT_THE_END):
        ran = ENGINE(PipelineOf(program))
        assert not isinstance(ran, Failure)
        return ran.stages[-1].index
    return 0


def tells(shown: Shown, exercise: Predict, sent: Sent, held: Held) -> bool:
    """Whether the components of a page were sent more than it may tell: stages, times, or what is found."""
    match shown.page or "source", sent:
        case "passes" | "pipeline", {"relaxscope_pipeline": (_, {"stages": stages})}:
            return any(stage["index"] > held.stage for stage in stages)
        case "run", {"relaxscope_inside": ({"report": report}, {"clock": clock, "total": total})}:
            return report is not None or clock > held.clock or total >= 0
        case "run", {"relaxscope_stepper": ({"until": until}, _)}:
            return until != held.time
        case "partition", {"relaxscope_graph": ({"steps": steps}, _), "relaxscope_regions": (_, {"report": report})}:
            return "PartitionGraph" in dict(steps).values() or any(row["external"] for row in report["regions"])
        case "devices" | "kernels", {"relaxscope_editor": _}:
            return bool(sent.keys() & {"relaxscope_devices", "relaxscope_kernels", "relaxscope_graph"})
        case "run", {"relaxscope_keeper": _} if sent.keys() == {"relaxscope_keeper"}:
            # It does not compile as it was reported, which the text of the step says.
            return shown.as_in != "reported"
        case "source", {"relaxscope_editor": (view, code), "relaxscope_graph": (_, graph)}:
            faults = code["problems"] or any(node["fault"] for node in graph["nodes"]) or not view["is_withheld"]
            types = code["names"] or inferred(graph)
            return bool((faults and exercise.is_of_problems) or (types and exercise.is_of_types))
        case _:
            raise AssertionError(f"{shown.page} was sent {sorted(sent)}")


def inferred(graph: dict[str, Any]) -> list[str]:
    """Return what a graph says of the values that calls compute: their names, and types behind three blanks."""
    return [node["subtitle"] for node in graph["nodes"] if "   " in node["subtitle"] and node["title"] != "match_cast"]


@pytest.mark.parametrize("name", LESSONS)
def test_the_page_beside_a_prediction_does_not_tell_its_answer(name: str) -> None:
    file = LESSONS[name]
    for number, step, exercise in predictions(file):
        page = step.shown.page or "source"
        held = held_at(ENGINE, file.folder, step.shown)
        if page in ("passes", "pipeline"):
            told = stage_of_answer(file, step.shown, exercise)
            assert not told or told > held.stage, (number, step.title)
        app = beside(file, number, step.shown)
        assert not tells(step.shown, exercise, sent_to(app), held), (number, step.title)
        said = " ".join(item.value for item in app.caption)
        assert page != "source" or not re.search(r"\d binding", said), said
        assert ("The types of values come back" in said) >= exercise.is_of_types, said


@pytest.mark.parametrize("name", LESSONS)
def test_an_answer_does_not_tell_that_of_a_later_step(name: str) -> None:
    file = LESSONS[name]
    assert file.lesson is not None
    for number, step in enumerate(file.lesson.steps, 1):
        questions = open_questions(file.lesson, number, Progress({name: {number: StepRecord("solved")}}))
        held = held_for(ENGINE, file.folder, step, number, questions)
        if held is None:
            continue
        exercise, shown = step.exercise, step.shown
        revealed = exercise.revealed(shown.page) if isinstance(exercise, Predict) else None
        sent = sent_to(beside(file, number, shown if revealed is None else over(shown, revealed), done=number))
        for question in questions:
            assert not tells(question.step.shown, question.exercise, sent, held), (number, question.number)


@pytest.mark.browser
def test_another_page_waits_for_the_answer_as_well(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/mlp.py&lesson=tensor_programs&lesson_step=3")
    expect(page.get_by_text("Waiting for step 3")).to_be_visible()
    expect(page.get_by_role("textbox", name="Program text")).to_contain_text("R.matmul")
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)
    for name in ("Passes", "Kernels", "Partition"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        expect(page.get_by_text("Waiting for step 3")).to_be_visible()
    page.get_by_role("button", name="Back to step 3").click()
    expect(page).to_have_url(re.compile(r"/\?"))
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_role("button", name="Show me")).to_have_count(0)
    page.get_by_role("link", name="Kernels", exact=True).click()
    expect(page.get_by_text("checked and cancellable")).to_be_visible()


def test_the_inspector_has_no_type_that_a_later_step_asks_for() -> None:
    file = LESSONS["tensor_programs"]
    shown = Shown(page="source", program="relax/mlp.py", node="lv")
    for done, has_type in ((0, False), (3, False), (4, True)):
        _, found = sent_to(beside(file, max(done, 1), shown, done))["relaxscope_inspector"]
        labels = {row["label"] for section in found["sections"] for row in section["rows"]}
        assert found["title"] == "lv"
        assert ("Type" in labels) == has_type, done
