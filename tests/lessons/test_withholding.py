"""What the page beside a step holds back: for the question of the step itself, and for those of later steps."""

import pytest

from relax_core.lessons.library import lesson_named
from relax_core.lessons.model import Lesson, PageName
from relax_core.lessons.progress import Progress, StepRecord
from relax_core.lessons.withholding import held_back_words, open_questions, questions_elsewhere


def lesson(name: str) -> Lesson:
    file = lesson_named(name)
    assert file is not None
    assert file.lesson is not None
    return file.lesson


def done_up_to(name: str, step: int) -> Progress:
    return Progress({name: {at: StepRecord("solved" if at % 2 else "shown") for at in range(1, step + 1)}})


@pytest.mark.parametrize(
    ("name", "step", "done", "waits_for"),
    [
        pytest.param("tensor_programs", 1, 0, [2, 3, 4], id="the text that is read tells the answers of later steps"),
        pytest.param("tensor_programs", 3, 2, [3, 4], id="a question, and the next one"),
        pytest.param("tensor_programs", 3, 3, [4], id="an answer leaves the next question open"),
        pytest.param("tensor_programs", 4, 4, [], id="questions about a run are not told by the Source page"),
        pytest.param("tensor_programs", 3, 7, [], id="a step that is opened again, once all is answered"),
        pytest.param("symbolic_shapes", 4, 4, [], id="another program is asked about"),
        pytest.param("threads_and_barriers", 4, 0, [], id="a program to be mended is shown whole"),
        pytest.param("tvm_pipeline", 1, 1, [2, 3, 4, 5], id="stages of one recording"),
    ],
)
def test_questions_wait_that_the_page_could_answer(name: str, step: int, done: int, waits_for: list[int]) -> None:
    found = open_questions(lesson(name), step, done_up_to(name, done))
    assert [question.number for question in found] == waits_for


@pytest.mark.parametrize(
    ("name", "step", "done", "page", "waits_for"),
    [
        pytest.param(
            "tensor_programs", 3, 2, "run", [3, 5, 7], id="a run tells shapes, and what a later step asks of it"
        ),
        pytest.param("tensor_programs", 3, 3, "run", [5, 7], id="later steps ask about the run"),
        pytest.param("tensor_programs", 5, 3, "source", [5], id="the text, while a step shows the run"),
        pytest.param("tensor_programs", 3, 7, "run", [], id="all is answered"),
        pytest.param("tensor_programs", 3, 2, "pipeline", [], id="a recording has nothing to do with it"),
        pytest.param("tensor_programs", 3, 2, "operators", [], id="nor have operators"),
        pytest.param("threads_and_barriers", 4, 0, "run", [], id="a program to be mended is shown everywhere"),
        pytest.param("tvm_pipeline", 2, 1, "passes", [], id="no page of programs tells of a recording"),
    ],
)
def test_questions_wait_that_another_page_could_answer(
    name: str, step: int, done: int, page: PageName, waits_for: list[int]
) -> None:
    found = questions_elsewhere(lesson(name), step, page, done_up_to(name, done))
    assert [question.number for question in found] == waits_for


def test_an_answer_that_a_class_has_not_revealed_is_waited_for() -> None:
    given = Progress({"tensor_programs": {3: StepRecord("given", answer="(4, 16)"), 4: StepRecord("solved")}})
    assert [question.number for question in open_questions(lesson("tensor_programs"), 3, given)] == [3]


def test_a_page_says_what_comes_back_with_which_answer() -> None:
    shapes = open_questions(lesson("tensor_programs"), 1, Progress())
    assert held_back_words("source", shapes) == "The types of values come back once steps 3 and 4 are answered."
    problems = open_questions(lesson("dataflow_and_purity"), 6, Progress())
    assert held_back_words("source", problems) == "What the checker finds comes back once step 6 is answered."
    assert held_back_words("run", shapes[:1]) == "The run goes on once step 2 is answered."
    assert held_back_words("run", ()) == held_back_words("source", shapes[:1]) == ""
