"""A class: joined by a link, moved, answered without names, counted, revealed, left, ended; and many at once."""

import http.client
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from relax_core.lessons.classroom import Classroom, Destination
from tests.app_server import serve
from tests.browser import OpenPage
from tests.class_visitors import asking, at_once, join_all, open_class, visitors
from tests.processes import wait_until
from tests.views.pages import assert_accessible, opened
from views.classroom.membership import Membership
from views.classroom.news.component import news_of
from views.classroom.news.route import PATH
from views.classroom.store import Store, store
from views.state.selection import screen

STUDENTS = 8
ASKED = b'{"role":"member","code":"ZZZZZZ","token":"","lesson":"","step":%b}'


def open_projector(page: Page, app_url: str, lesson: str = "What a tensor program is") -> str:
    """Open a class as its teacher, and return its code."""
    page.goto(f"{app_url}/classroom")
    if lesson:
        box = page.get_by_role("combobox", name="Lesson")
        box.fill(lesson)
        page.get_by_role("option", name=lesson).click()
    page.get_by_role("button", name="Open the class").click()
    joining = page.locator(".joining")
    expect(joining).to_contain_text("Nobody has joined yet")
    found = re.search(r"room=(\w{6})", joining.inner_text())
    assert found is not None
    return found[1]


@pytest.mark.browser
def test_a_class_is_led_answered_revealed_and_ended(open_page: OpenPage, app_url: str) -> None:
    teacher, student = open_page(1440, 900), open_page(1280, 800)
    code = open_projector(teacher, app_url)
    student.goto(f"{app_url}/classroom?room={code}")
    expect(student.get_by_text("What your teacher shows opens here")).to_be_visible()
    expect(teacher.locator(".live")).to_contain_text("1 here")
    teacher.get_by_role("button", name="Everyone at step").click()
    expect(student.get_by_role("heading", name="A module holds functions")).to_be_visible()
    teacher.get_by_text("Follow me").click()
    teacher.locator(".st-key-classroom-next button").first.click()
    expect(student.get_by_role("heading", name="How many bindings?")).to_be_visible()
    teacher.get_by_role("button", name="+30 s").click()
    expect(student.get_by_text(re.compile(r"0:[0-3]\d"))).to_be_visible()
    for given in ("5", "4"):
        field = student.get_by_label(re.compile("^Your answer"))
        field.fill(given)
        field.press("Enter")
        expect(student.get_by_text(f"{given} is counted, without a name.")).to_be_visible()
    expect(teacher.get_by_text("1 of 1 have answered")).to_be_visible()
    assert_accessible(teacher, 1440)
    teacher.emulate_media(color_scheme="dark")
    assert_accessible(teacher, 1440, "dark")
    student.reload()
    expect(student.get_by_role("button", name="To the class")).to_be_visible()
    assert_accessible(student, 1280)
    teacher.get_by_role("button", name="Reveal").click()
    expect(teacher.locator(".tally .right")).to_be_visible()
    expect(student.get_by_text("4 was not it. The answer is 5. No point for it.")).to_be_visible()
    expect(teacher.get_by_text("1 of 1 have answered")).to_be_visible()
    teacher.get_by_role("button", name="End the class").click()
    teacher.get_by_role("button", name="End it for everybody").click()
    expect(student.get_by_text("The class has ended")).to_be_visible()
    expect(teacher.get_by_role("button", name="Open the class")).to_be_visible()


@pytest.mark.browser
def test_any_screen_is_shown_to_everybody(open_page: OpenPage, app_url: str) -> None:
    teacher, student = open_page(1280, 800), open_page(1280, 800)
    code = open_projector(teacher, app_url, "")
    student.goto(f"{app_url}/classroom")
    student.get_by_label("Code").fill(f"{code[:3].lower()} {code[3:]}")
    student.get_by_role("button", name="Join", exact=True).click()
    expect(student.get_by_text(f"You are in class {code[:3]} {code[3:]}")).to_be_visible()
    # The tab remembers that it leads the class.
    teacher.goto(f"{app_url}/run?sample=relax/mlp.py&time=7&room={code}")
    expect(teacher.get_by_text("1 here")).to_be_visible()
    teacher.get_by_role("button", name="Everyone here").click()
    expect(student.get_by_text("time 7 of 29")).to_be_visible()
    student.get_by_role("button", name="Leave").or_(student.locator(".st-key-class-leave button")).first.click()
    expect(student.get_by_role("button", name="To the class")).not_to_be_visible()


def test_many_browsers_answer_at_once_and_none_sees_anothers_text(app_url: str) -> None:
    with visitors(app_url, STUDENTS + 1) as (teacher, *students):
        join_all(students, open_class(teacher))
        teacher.press("classroom.next")
        teacher.press("classroom.everyone")
        with asking(students):
            assert wait_until(lambda: all(item.shows("How many bindings?") for item in students))
            at_once(students, lambda item, number: item.answer(str(4 + number % 3)))
        assert all(item.shows("is counted, without a name") for item in students)
        teacher.look()
        rows = re.findall(r"<code>(\d)</code>.*?<b>(\d+)</b>", teacher.texts[-1])
        assert Counter({answer: int(count) for answer, count in rows}) == Counter(
            str(4 + number % 3) for number in range(STUDENTS)
        )
        given = [[text for text in item.texts if "is counted" in text] for item in students]
        assert [f"`{4 + number % 3}` is counted" in said[0] for number, said in enumerate(given)] == [True] * STUDENTS
        teacher.press("classroom.reveal")
        for item in students:
            item.ask()
        right = [number for number, item in enumerate(students) if item.shows("is right")]
        assert right == [number for number in range(STUDENTS) if number % 3 == 1]


def test_news_are_told_without_a_run_of_the_page(app_url: str) -> None:
    with visitors(app_url, 2) as (teacher, student):
        join_all([student], open_class(teacher))
        said = len(student.models)
        student.ask()
        assert len(student.models) == said
        teacher.press("classroom.everyone")
        student.ask()
        assert student.shows("A module holds functions")


def test_news_are_told_below_the_path_of_a_proxy_as_well(tmp_path: Path) -> None:
    with serve(tmp_path, base="tools/ir") as url, visitors(url, 2) as (teacher, student):
        join_all([student], open_class(teacher))
        teacher.press("classroom.everyone")
        student.ask()
        assert student.shows("A module holds functions")


def test_a_call_that_comes_while_a_page_is_made_is_news_to_it() -> None:
    own = Membership("member", "ABCDEF", "me")
    known = Classroom("ABCDEF", "secret", 0.0, 0.0).heard("me", 0, 0.0)
    called = known.everyone_to(Destination(lesson="fusion", step=1))
    page = news_of(called, own, 0.0, call=known.call)
    assert page.mark != news_of(called, own, 0.0, call=called.call).mark
    assert news_of(known, own, 0.0, call=known.call).mark == page.mark


def told(app_url: str, asked: bytes) -> tuple[int, bytes]:
    """What the server answers to a question for news."""
    connection = http.client.HTTPConnection(urlsplit(app_url).netloc, timeout=60)
    connection.request("POST", PATH, asked)
    answer = connection.getresponse()
    heard = answer.read()
    connection.close()
    return answer.status, heard


@pytest.mark.parametrize(
    "asked",
    [b"", b"{}", b"[1]", b"x" * 100_000, ASKED % b"-1", ASKED % b"100"],
    ids=lambda asked: asked[-20:].decode() or "nothing",
)
def test_what_is_no_question_for_news_is_refused(app_url: str, asked: bytes) -> None:
    assert told(app_url, asked) == (400, b"")


def test_only_who_is_in_a_class_hears_of_it(app_url: str) -> None:
    with visitors(app_url, 1) as (teacher,):
        for code in (open_class(teacher), "ZZZZZZ"):
            for role in ("member", "teacher"):
                asker = {"role": role, "code": code, "token": "guessed", "lesson": "", "step": 0}
                assert told(app_url, json.dumps(asker).encode()) == (200, b'{"words":"","mark":""}')


def test_a_class_that_is_not_there_is_said() -> None:
    app = opened("classroom", screen())
    app.text_input(key="classroom.code").set_value("zzz zzz")
    app.button(key="classroom.enter").click().run()
    assert not app.exception
    assert any("There is no class ZZZZZZ" in item.value for item in app.markdown)


def test_a_class_ends_when_its_teacher_is_away_for_long() -> None:
    now = [0.0]
    held = Store(clock=lambda: now[0])
    code = held.open("fusion").code
    assert held.find(code) is not None
    now[0] = 7201.0
    assert held.find(code) is None
    assert store() is store()
