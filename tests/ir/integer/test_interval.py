"""Intervals hold every result, and dtypes hold what they are said to."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.ir.integer.interval import EVERYTHING, Interval, count_interval, dtype_interval, is_integral, wrap
from tests.ir.integer.machine import border, ranges, within

OPERATIONS: dict[str, tuple[Callable[[Interval, Interval], Interval], Callable[[int, int], int]]] = {
    "plus": (Interval.plus, lambda a, b: a + b),
    "minus": (lambda a, b: a.plus(b, -1), lambda a, b: a - b),
    "times": (Interval.times, lambda a, b: a * b),
    "floordiv": (Interval.floordiv, lambda a, b: a // b),
    "floormod": (Interval.floormod, lambda a, b: a % b),
    "union": (Interval.union, lambda a, _: a),
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(data=st.data())
def test_an_interval_holds_every_result(name: str, data: st.DataObject) -> None:
    of_intervals, of_integers = OPERATIONS[name]
    a, b = (data.draw(ranges(data.draw(st.sampled_from(("int8", "int32", "int64"))))) for _ in range(2))
    x, y = data.draw(within(a)), data.draw(within(b))
    if y or name not in ("floordiv", "floormod"):
        assert of_integers(x, y) in of_intervals(a, b)


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_smaller_interval_holds_the_results_of_small_ones(name: str) -> None:
    of_intervals, of_integers = OPERATIONS[name]
    for a, b in (
        (Interval(-7, 5), Interval(-3, 4)),
        (Interval(2, 9), Interval(1, 3)),
        (Interval(-9, -2), Interval(2, 2)),
    ):
        pairs = ((x, y) for x in range(a.low, a.high + 1) for y in range(b.low, b.high + 1))
        found = [of_integers(x, y) for x, y in pairs if y or "floor" not in name]
        made = of_intervals(a, b)
        if name == "union":
            assert made == (min(a.low, b.low), max(a.high, b.high))
        elif name != "floormod":
            assert made == (min(found), max(found))
        else:
            assert made.low <= min(found)
            assert max(found) <= made.high <= max(b.high - 1, 0)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_dtypes_hold_what_numpy_says(dtype: str) -> None:
    limits = np.iinfo(dtype)
    assert dtype_interval(dtype) == (limits.min, limits.max)
    for value in (limits.min - 1, limits.max + 1, limits.max, limits.min, 3 * limits.max, -5):
        assert wrap(value, dtype) == int(np.array(value & (1 << 64) - 1, "uint64").astype(dtype))
    assert wrap(limits.max + 1, dtype) == limits.min


@given(st.sampled_from(("int8", "int32", "int64", "uint8", "bool")), st.data())
def test_a_number_of_a_dtype_does_not_wrap_around(dtype: str, data: st.DataObject) -> None:
    value = data.draw(border(dtype))
    assert wrap(value, dtype) == value


def test_what_is_no_integer_has_no_limits() -> None:
    assert dtype_interval("float32") == EVERYTHING
    assert not is_integral("float32")
    assert is_integral("bool")
    assert Interval(-(1 << 500), 1 << 500).is_within(EVERYTHING)
    assert count_interval(0) == count_interval(1) == (0, 0)
