"""Answers and conditions: what counts as the same, and what does not."""

import pytest

from relax_core.diagnostics import CompileError
from relax_core.lessons.judging import Condition, Judged, is_right, is_same, not_of_kind
from relax_core.lessons.model import AnswerKind

RIGHT: list[tuple[AnswerKind, str, str]] = [
    ("number", "5", "5"),
    ("number", "1,024", "1024"),
    ("shape", "4,16", "(4, 16)"),
    ("shape", "(k*n*2,)", "(n * k * 2,)"),
    ("shape", "(m + n, 4)", "(n+m, 4)"),
    ("value", "0.3333", "0.33333334"),
    ("value", "NaN", "nan"),
    ("value", "inf", "inf"),
    ("text", "Float32", "float32"),
    ("order", "a, b", "a, b"),
    ("line", "14", "14"),
]
WRONG: list[tuple[AnswerKind, str, str]] = [
    ("number", "", "5"),
    ("number", "50", "5"),
    ("number", "five", "5"),
    ("number", "5.01", "5"),
    ("shape", "(16, 4)", "(4, 16)"),
    ("shape", "(n * k,)", "(n * k * 2,)"),
    ("shape", "(4,)", "(4, 16)"),
    ("value", "0.34", "0.33333334"),
    ("value", "-inf", "inf"),
    ("value", "0", "nan"),
    ("order", "b, a", "a, b"),
    ("text", "float64", "float32"),
]


@pytest.mark.parametrize(("kind", "given", "right"), RIGHT)
def test_a_right_answer_is_taken_however_it_is_written(kind: AnswerKind, given: str, right: str) -> None:
    assert is_right(kind, given, right)


@pytest.mark.parametrize(("kind", "given", "right"), WRONG)
def test_a_wrong_answer_is_refused(kind: AnswerKind, given: str, right: str) -> None:
    assert not is_right(kind, given, right)


def test_a_condition_compares_a_property_with_a_value() -> None:
    assert Condition.of("is FuseOps changing is yes") == Condition("is FuseOps changing", "is", "yes")
    assert Condition.of("result is that of a.py") == Condition("result", "is that of", "a.py")
    assert Condition.of("launches at most 3").holds("2", "3")
    assert not Condition.of("launches at least 3").holds("nan", "3")
    assert Condition.of("outcome is not returned").holds("VM012", "returned")
    with pytest.raises(CompileError, match="no condition"):
        Condition.of("launches")


@pytest.mark.parametrize(
    ("condition", "found", "said"),
    [
        ("shape of y is (4, 3)", "(4, 2)", "`shape of y`: `(4, 2)`"),
        ("shown statement is 10", "3", "`shown statement`: `3`"),
        ("value of isnan(y) now is yes", "", "`value of isnan(y)`: no value yet"),
        ("problem is none", "TY012", "what the checker finds: `TY012`"),
        ("result is that of a.py", "[[" + "1, " * 20, "what the run returns, beside the program that was meant"),
    ],
)
def test_a_condition_is_told_by_what_it_measures_and_finds_and_not_by_what_it_wants(
    condition: str, found: str, said: str
) -> None:
    assert Judged(Condition.of(condition), is_held=False, found=found).words == said


def test_values_of_a_tensor_are_the_same_within_the_precision_of_an_answer() -> None:
    assert is_same("[[1.0001, 2.5], [3, nan]]", "[[1.0, 2.5],  [3.0, nan]]")
    assert not is_same("[1, 2]", "[1, 2, 3]")


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("shape", "4x16", "`4x16` is no shape: it is written with commas, such as `(4, 16)`"),
        ("shape", "(2 × 3 X 4)", "`(2 × 3 X 4)` is no shape: it is written with commas, such as `(2, 3, 4)`"),
        ("shape", "(n, 4)", ""),
        ("shape", "x", ""),
        ("number", "four", "`four` is no number"),
        ("line", "12:", "`12:` is no number"),
        ("number", "1,024", ""),
        ("number", "NaN", ""),
        ("text", "four", ""),
    ],
)
def test_what_is_no_answer_of_its_kind_is_not_judged(kind: AnswerKind, given: str, said: str) -> None:
    assert not_of_kind(kind, given) == said
