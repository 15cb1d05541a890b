"""Two sets of arrays, member by member."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from relax_core.engine.debug.differences import compare, compare_arrays
from relax_core.engine.debug.tolerance import RELATIVE_OF, Tolerance

ONE = np.array([1.0, 2.0, 4.0], np.float32)


@pytest.mark.parametrize(
    ("other", "verdict", "words"),
    [
        (ONE.copy(), "same", ""),
        (ONE + np.array([0, 0, 2e-4], np.float32), "same", "apart by at most 0.0002"),
        (
            np.array([1.0, 2.5, 4.0], np.float32),
            "different",
            "1 of 3 elements differ, by at most 0.5 at [1]: 2.5, was 2",
        ),
        (
            np.array([np.nan, 2.0, 9.0], np.float32),
            "different",
            "2 of 3 elements differ, one is not finite at [0]: nan, was 1",
        ),
        (ONE.astype(np.float64), "different", "it is (3,) float64, was (3,) float32"),
        (ONE.reshape(3, 1), "different", "it is (3, 1) float32, was (3,) float32"),
    ],
    ids=["the same", "within the tolerance", "one element", "a NaN is the worst", "another dtype", "another shape"],
)
def test_a_difference_says_how_much_and_where(other: Any, verdict: str, words: str) -> None:
    found = compare_arrays("x", ONE, other)
    assert (found.verdict, found.words) == (verdict, words)
    assert found.is_same == (verdict != "different")


@pytest.mark.parametrize(
    ("reference", "other", "words"),
    [
        (np.array(3), np.array(4), "1 of 1 element differs, by at most 1: 4, was 3"),
        (np.array([True, False]), np.array([True, True]), "1 of 2 elements differ: [1] is True, was False"),
        (np.array("a b"), np.array("a c"), "it is 'a c', was 'a b'"),
        (
            np.array([2**53]),
            np.array([2**53 + 1]),
            "1 of 1 element differs, by at most 0 at [0]: 9007199254740993, was 9007199254740992",
        ),
        (np.array([np.inf]), np.array([-np.inf]), "1 of 1 element differs, one is not finite at [0]: -inf, was inf"),
    ],
    ids=["integers are exact", "truth values", "text", "large integers", "infinities"],
)
def test_what_has_no_tolerance_must_be_equal(reference: Any, other: Any, words: str) -> None:
    found = compare_arrays("x", reference, other)
    assert found.verdict == "different"
    assert found.words == words


def test_nan_is_equal_to_nan_whatever_its_bits() -> None:
    quiet, other = np.array([0x7FC00000], np.uint32), np.array([0x7FC00001], np.uint32)
    assert compare_arrays("x", quiet.view(np.float32), other.view(np.float32)).verdict == "same"


def test_members_keep_their_order_and_what_one_side_lacks_is_named() -> None:
    found = compare({"b": ONE, "a": ONE, "gone": ONE}, {"a": ONE, "b": ONE, "more": ONE})
    assert [(item.name, item.verdict) for item in found] == [
        ("b", "same"),
        ("a", "same"),
        ("gone", "not comparable"),
        ("more", "not comparable"),
    ]


FLOATS = st.floats(-1e6, 1e6, width=32)


@given(arrays.arrays(np.float32, st.integers(1, 6), elements=FLOATS), st.floats(0, 1), st.floats(0, 1))
def test_close_is_what_numpy_calls_close(array: Any, relative: float, absolute: float) -> None:
    other = (array * np.float32(1.25)).astype(np.float32)
    found = compare_arrays("x", array, other, Tolerance(relative, absolute))
    apart = np.abs(array.astype(np.float64) - other.astype(np.float64))
    assert found.is_same == bool(np.all(apart <= absolute + relative * np.abs(array.astype(np.float64))))


@given(arrays.arrays(np.float32, (3,), elements=FLOATS))
def test_an_array_is_equal_to_its_copy(array: Any) -> None:
    assert compare_arrays("x", array, array.copy()).verdict == "same"


def test_wider_dtypes_have_narrower_tolerances() -> None:
    ordered = ("float64", "float32", "float16", "bfloat16")
    assert [RELATIVE_OF[name] for name in ordered] == sorted(RELATIVE_OF[name] for name in ordered)
