"""Plays a lesson to its end in a browser, by the answers that the engine computes: refused, right, shown, reached."""

import re

from playwright.sync_api import Locator, Page, expect

from relax_core.lessons.checking import Answered
from relax_core.lessons.model import POINTS, Do, Explain, Fix, Lesson, Predict, Step
from tests.browser import rest


def play(page: Page, app_url: str, lesson: Lesson, answers: tuple[Answered, ...]) -> int:
    """Play from the Learn page to the end, one wrong answer before each right one; return the points to be expected."""
    page.goto(f"{app_url}/learn")
    page.get_by_role("button", name=f"{lesson.order}. {lesson.title}", exact=True).click()
    points = 0
    for number, (step, answered) in enumerate(zip(lesson.steps, answers, strict=True), 1):
        panel = page.locator(".st-key-lesson")
        expect(panel.get_by_role("heading", name=step.title, exact=True, level=3)).to_be_visible()
        expect(panel.get_by_text(re.compile(r"EN03\d"))).to_have_count(0)
        # Enter sends no answer as long as the form has its field and not yet its button.
        rest(page)
        points += _play_step(panel, step, answered.answer)
        name = "Next" if number < len(answers) else "Done"
        # On a busy machine a click is lost that comes while the page still runs for the one before.
        rest(page)
        panel.get_by_role("button", name=re.compile(name)).first.click()
    return points


def _play_step(panel: Locator, step: Step, right: str) -> int:
    match step.exercise:
        case Predict() as exercise:
            wrong = _wrong(exercise, right)
            _answer(panel, exercise, wrong)
            expect(panel.get_by_text("is not it.")).to_be_visible()
            _answer(panel, exercise, right)
            expect(panel.get_by_text(f"is right. {POINTS - 1} points.")).to_be_visible()
            return POINTS - 1
        case Do() | Fix():
            expect(panel.get_by_text("not yet:")).to_be_visible()
            panel.get_by_role("button", name="Show me").click()
            expect(panel.get_by_text("This is a solution. No point for it.")).to_be_visible()
        case Explain():
            panel.get_by_role("button", name="Compare with").click()
            expect(panel.get_by_role("button", name="Compare with")).to_have_count(0)
        case _:
            pass
    return 0


def _wrong(exercise: Predict, right: str) -> str:
    match exercise.answer_kind:
        case "choice":
            return next(choice for choice in exercise.choices if choice != right)
        case "order":
            return ", ".join(reversed(right.split(", ")))
        case _:
            return f"{right}7"


def _answer(panel: Locator, exercise: Predict, given: str) -> None:
    page = panel.page
    match exercise.answer_kind:
        case "choice":
            group = panel.get_by_role("radiogroup", name="Your answer")
            group.locator("label").nth(exercise.choices.index(given)).click()
            panel.get_by_role("button", name="Answer").click()
        case "order":
            box = panel.get_by_role("combobox", name=re.compile("^Your answer"))
            for _ in range(len(exercise.choices)):
                box.press("Backspace")
            for item in given.split(", "):
                box.fill(item)
                page.get_by_role("option", name=item, exact=True).click()
            page.keyboard.press("Escape")
            panel.get_by_role("button", name="Answer").click()
        case _:
            field = panel.get_by_label(re.compile("^Your answer"))
            field.fill(given)
            field.press("Enter")
