"""A lesson on paper: all questions, the programs, no answers unless they are asked for, and nothing that is run."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from relax_core.cli.command_line import main
from relax_core.engine.session import Session
from relax_core.lessons.checking import check_lesson
from relax_core.lessons.handout import handout
from relax_core.lessons.library import LESSONS, LessonFile, open_lesson
from relax_core.lessons.progress import Progress, StepRecord, hand_in
from relax_core.lessons.reading import read_lesson
from relax_core.lessons.slides import slides
from relax_core.source import Source
from tests.views.pages import Axe

NAN = LESSONS / "nan_hunting"


def test_a_handout_has_every_step_and_question() -> None:
    lesson = open_lesson(NAN).lesson
    assert lesson is not None
    page = handout(NAN, lesson)
    assert page.count("<section>") == len(lesson.steps)
    assert page.count('<div class="ask">') == sum(step.exercise is not None for step in lesson.steps)
    assert page.count("<li>") == sum(len(getattr(step.exercise, "options", ())) for step in lesson.steps)
    assert "R.exp(x)" in page
    assert "{{" not in page
    assert "Answers" not in page


def test_answers_stand_on_a_last_page() -> None:
    file = open_lesson(NAN)
    assert file.lesson is not None
    checked = check_lesson(file, Session().request)
    _, answers = handout(NAN, file.lesson, checked.answers).split('<section class="answers">')
    assert re.findall("<code>(.*?)</code>", answers)[:2] == ["inf", "inf"]


def test_html_in_a_lesson_is_text() -> None:
    front = '+++\ntitle = "<b>T"\nabout = "A."\nminutes = 5\norder = 1\nprogram = "relax/mlp.py"\n+++\n'
    source = Source("lesson.md", f"{front}## <script>x</script>\n\n<img src=x>\n")
    file = LessonFile(NAN, source, read_lesson("l", source))
    assert file.lesson is not None
    page = handout(NAN, file.lesson)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;b&gt;T" in page


def test_slides_have_every_question_with_the_answer_that_the_engine_computes() -> None:
    file = open_lesson(NAN)
    assert file.lesson is not None
    page = slides(file, file.lesson, Session().request)
    assert page.count('<p class="kind">') == sum(step.exercise is not None for step in file.lesson.steps)
    assert re.findall('<p class="right"><code>(.*?)</code>', page)[:2] == ["inf", "inf"]
    assert "R.max(x, axis=[1], keepdims=True)" in page
    assert "{{" not in page


@pytest.mark.browser
def test_slides_are_turned_revealed_and_printed(page: Page, tmp_path: Path) -> None:
    file = open_lesson(NAN)
    assert file.lesson is not None
    written = tmp_path / "slides.html"
    written.write_text(slides(file, file.lesson, Session().request), encoding="utf-8")
    page.goto(written.as_uri())
    expect(page.get_by_role("heading", name="Floating point")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    right = page.locator("section.on .right")
    expect(right).to_be_hidden()
    page.keyboard.press(" ")
    expect(right).to_be_visible()
    assert_accessible_file(page)
    page.keyboard.press(" ")
    expect(page.locator("footer")).to_have_text(re.compile("^4 of"))
    page.emulate_media(media="print")
    assert all(item.is_visible() for item in page.locator(".answer").all())


def assert_accessible_file(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    serious = [
        (item["id"], item["nodes"][0]["html"][:100]) for item in found if item["impact"] in ("serious", "critical")
    ]
    assert not serious, serious


def test_the_command_checks_prints_and_reads_codes(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lesson")
    assert main(["lesson", "check", str(NAN), "--in-process"]) == 0
    assert "nan_hunting: 7 steps, 0 problems" in capsys.readouterr().out
    assert main(["lesson", "handout", str(NAN), "--answers", "--in-process"]) == 0
    assert "Answers" in capsys.readouterr().out
    assert main(["lesson", "slides", str(NAN), "--in-process"]) == 0
    assert '<p class="right">' in capsys.readouterr().out
    assert main(["lesson", "check", str(folder), "--in-process"]) == 2
    (folder / "lesson.md").write_text("## No front matter\n", encoding="utf-8")
    assert main(["lesson", "check", str(folder), "--in-process"]) == 1
    assert "lesson.md:1:1: error[EN032]" in capsys.readouterr().out
    code = hand_in("Ada", Progress().with_record("nan_hunting", 1, StepRecord("solved")))
    codes = folder / "codes.txt"
    codes.write_text(f"{code}\n{code[:-1]}\n", encoding="utf-8")
    assert main(["lesson", "codes", str(codes), "--in-process"]) == 1
    said = capsys.readouterr()
    assert said.out == "Ada\t3\tnan_hunting 3/21\n"
    assert "code 2: the checksum does not fit" in said.err
