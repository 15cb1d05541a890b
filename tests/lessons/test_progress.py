"""Progress: points, what a browser keeps, and codes that are handed in."""

from collections.abc import Callable

import pytest

from relax_core.lessons.progress import CodeError, Progress, StepRecord, from_text, hand_in, read_code, to_text

SOME = Progress().with_record("a", 1, StepRecord("solved", hints=1, answer="(4, 16)"))


@pytest.mark.parametrize(
    ("record", "points"),
    [
        (StepRecord("solved"), 3),
        (StepRecord("solved", hints=1), 2),
        (StepRecord("solved", hints=2, wrong=5), 1),
        (StepRecord("shown"), 0),
        (StepRecord("open", wrong=1), 0),
    ],
)
def test_hints_and_wrong_answers_cost_points(record: StepRecord, points: int) -> None:
    assert record.points == points


def test_what_a_browser_kept_is_read_and_nonsense_is_no_progress() -> None:
    assert from_text(to_text(SOME)) == SOME
    assert from_text("") == from_text('{"lessons": 3}') == from_text("x" * 2_000_000) == Progress()


def test_of_two_progresses_the_first_one_counts() -> None:
    other = Progress().with_record("a", 1, StepRecord("shown")).with_record("a", 2, StepRecord("solved"))
    assert SOME.over(other).of("a", 1).state == "solved"
    assert SOME.over(other).of("a", 2).state == "solved"
    assert SOME.of("b", 1) == StepRecord()


def test_a_code_says_who_did_what() -> None:
    code = hand_in(" Ada ", SOME)
    found = read_code(f"  {code[:20]}\n{code[20:]} ")
    assert (found.name, found.progress) == ("Ada", SOME)


CHANGES: list[tuple[Callable[[str], str], str]] = [
    (lambda code: "", "begins with"),
    (lambda code: code[:-3], "cut or changed"),
    (lambda code: code[:-1] + ("A" if code[-1] != "A" else "B"), "cut or changed"),
    (lambda code: "RS1-00000000-", "begins with"),
    (lambda code: "RS1-5f1d7e84-????", "checksum"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_code_that_was_cut_or_changed_is_refused(change: Callable[[str], str], words: str) -> None:
    with pytest.raises(CodeError, match=words):
        read_code(change(hand_in("Ada", SOME)))
