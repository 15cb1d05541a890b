"""A class as a value: who is there, what is counted, when it ends, and how much there may be."""

from collections import Counter
from dataclasses import replace

import pytest

from relax_core.lessons import classroom
from relax_core.lessons.classroom import ClassError, Classroom, code_of, spaced, with_class, without_ended
from relax_core.lessons.model import Predict
from relax_core.lessons.projection import live_board
from relax_core.lessons.tally import tally


def opened(**fields: object) -> Classroom:
    return replace(Classroom("K4T9QM", "secret", 0, 0, "fusion"), **fields)  # pyright: ignore[reportArgumentType]  # fields of any kind


def test_the_latest_answer_of_a_browser_counts_until_the_reveal() -> None:
    room = opened().heard("a", 1, 0).heard("b", 1, 0)
    room = room.answered("a", 1, "4", 1).answered("b", 1, "4", 1).answered("a", 1, " 5 ", 2)
    assert room.answers_to(1) == Counter({"4": 1, "5": 1})
    assert (room.answer_count(1), room.answer_count(2)) == (2, 0)
    with pytest.raises(ClassError, match="closed"):
        room.revealing().answered("b", 1, "5", 3)
    with pytest.raises(ClassError, match="not in the class"):
        room.answered("c", 1, "5", 3)


def test_the_timer_closes_answers_and_reveals_nothing() -> None:
    room = opened().heard("a", 1, 0).with_time(30, 10).with_time(30, 20)
    assert [room.seconds_left(now) for now in (10, 69.6, 80)] == [60, 0, 0]
    assert (room.is_open(1, 69), room.is_open(1, 70), room.is_open(2, 70)) == (True, False, True)
    assert not room.revealed
    assert room.at(2).seconds_left(20) is None


def test_browsers_that_follow_are_called_with_every_step() -> None:
    room = opened().at(2)
    assert room.call == 0
    room = room.following(is_followed=True).at(3)
    assert (room.call, room.sent.lesson, room.sent.step) == (2, "fusion", 3)
    assert room.following(is_followed=False).at(4).call == 2


def test_a_browser_that_went_away_is_not_there_and_its_answer_stays() -> None:
    room = opened().heard("a", 1, 0).heard("b", 2, 20).answered("a", 1, "4", 1)
    assert [item.step for item in room.present(20)] == [2]
    assert room.left("a").answer_count(1) == 1


def test_there_is_a_limit_to_browsers_classes_and_ages() -> None:
    room = opened()
    for number in range(classroom.MOST_MEMBERS):
        room = room.heard(str(number), 0, 0)
    assert room.heard("0", 3, 0).members["0"].step == 3
    with pytest.raises(ClassError, match="200 browsers"):
        room.heard("one more", 0, 0)
    classes = {str(number): opened(code=str(number)) for number in range(classroom.MOST_CLASSES)}
    with pytest.raises(ClassError, match="40 classes"):
        with_class(classes, opened())
    later = classroom.IDLE_SECONDS + 1
    assert not without_ended(classes, later)
    assert list(with_class(classes, opened(opened_at=later, led_at=later))) == ["K4T9QM"]
    assert opened(led_at=classroom.LONGEST_SECONDS).is_over(classroom.LONGEST_SECONDS + 1)


def test_a_code_is_read_as_people_write_it() -> None:
    assert (code_of(" k4t-9qm "), code_of("k4t 9qmzzz"), spaced("K4T9QM")) == ("K4T9QM", "K4T9QM", "K4T 9QM")


def test_options_are_counted_in_their_order_and_marked_at_the_reveal() -> None:
    exercise = Predict("How many?", options=("1 | one", "2", "4"), computed="x")
    rows = tally(exercise, Counter({"2": 3, "9": 1}))
    assert [(row.answer, row.words, row.count, row.is_right) for row in rows] == [
        ("1", "one", 0, False),
        ("2", "", 3, False),
        ("4", "", 0, False),
    ]
    assert [row.is_right for row in tally(exercise, Counter(), "4")] == [False, False, True]


@pytest.mark.parametrize(
    ("kind", "answers", "shown"),
    [
        ("number", {"4": 2, "4.0": 1, "you are slow": 5}, [("4", 3), ("others", 5)]),
        ("shape", {"(2, n)": 1, "2, n": 1, "come to room seven": 1}, [("(2, n)", 2), ("others", 1)]),
        ("text", {"anything": 2}, [("others", 2)]),
        ("order", {"a, b": 1, "b, a": 2, "c": 1}, [("b, a", 2), ("a, b", 1), ("others", 1)]),
    ],
)
def test_no_text_of_a_student_is_shown_to_others(
    kind: str, answers: dict[str, int], shown: list[tuple[str, int]]
) -> None:
    options = ("a", "b") if kind == "order" else ()
    exercise = Predict("?", computed="x", kind=kind, options=options)  # pyright: ignore[reportArgumentType]  # one of the kinds
    assert [(row.answer, row.count) for row in tally(exercise, Counter(answers))] == shown


def test_the_right_answer_stands_first_even_if_nobody_gave_it() -> None:
    rows = tally(Predict("?", computed="x", kind="number"), Counter({"4": 2}), "7")
    assert [(row.answer, row.count, row.is_right) for row in rows] == [("7", 0, True), ("4", 2, False)]


def test_the_board_escapes_what_a_lesson_and_a_student_wrote() -> None:
    exercise = Predict("?", computed="x", options=("<b>1 | <i>one",))
    room = opened().heard("a", 1, 0).answered("a", 1, "<img src=x>", 0)
    drawn = live_board(room, exercise, right="", link="http://x/?a=1&b", now=0, is_hidden=False)
    assert "<img" not in drawn
    assert "<i>one" not in drawn
    assert "&lt;b&gt;1" in drawn
    assert "a=1&amp;b" in drawn
    assert "<b>1</b> of 1 have answered" in drawn


def test_the_board_hides_counts_and_shows_the_timer() -> None:
    exercise = Predict("?", computed="x", options=("1", "2"))
    room = opened().heard("a", 1, 0).answered("a", 1, "2", 0).with_time(90, 0)
    drawn = live_board(room, exercise, right="", link="", now=5, is_hidden=True)
    assert "1:25" in drawn
    assert "100%" not in drawn
    assert "answers are closed" in live_board(room, exercise, right="", link="", now=91, is_hidden=True)
