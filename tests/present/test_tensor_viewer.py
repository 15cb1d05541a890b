"""The tensor viewer against NumPy: windows, kinds, statistics, searches and differences."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.present.running.tensors import statistics, window
from relax_core.present.running.tensors.comparison import measured, ulps
from relax_core.present.running.tensors.window import Other, Plane, numpy_text, tensor_view

CUBE = np.arange(2 * 30 * 40 * 3, dtype=np.float32).reshape(2, 30, 40, 3)
ODD = np.array([[0.0, 1.5, np.nan], [np.inf, 1e-40, -2.0]], np.float32)


@pytest.mark.parametrize("axes", [(a, b) for a in range(4) for b in range(4) if a != b])
def test_any_two_axes_span_the_plane(axes: tuple[int, int]) -> None:
    fixed = (1, 7, 11, 2)
    view = tensor_view(CUBE, "x", 3, Plane(axes, fixed, top=5, left=2, rows=4, columns=3))
    place: Any = tuple(slice(None) if axis in axes else at for axis, at in enumerate(fixed))
    plane = CUBE[place] if axes[0] < axes[1] else CUBE[place].T
    part = plane[view.top : view.top + view.rows, view.left : view.left + view.columns]
    assert (view.row_count, view.column_count) == plane.shape
    assert np.array_equal(eval(view.numpy, {"np": np}), part)
    assert len(view.cells) == view.rows * view.columns == part.size


@pytest.mark.parametrize("shape", [(), (5,), (0,), (0, 4), (3, 0, 2), (2, 0, 2, 2), (1, 1, 1, 1, 1, 2)])
def test_every_rank_and_empty_tensors_are_shown(shape: tuple[int, ...]) -> None:
    view = tensor_view(np.ones(shape, np.int64), "x", 0, Plane())
    assert view.shape == shape
    assert len(view.axes) == min(len(shape), 2)
    assert len(view.cells) == len(view.marks) == len(view.heat) == view.rows * view.columns
    assert sum(item.count for item in view.histogram) == view.row_count * view.column_count


def test_kinds_of_numbers_are_marked_and_counted() -> None:
    view = tensor_view(ODD, "x", 0, Plane())
    assert view.marks == view.map == "z.nid."
    counts = {row.name: row.plane for row in view.statistics}
    assert counts == {
        "Least": "-2.00", "Largest": "1.50", "Mean": "-0.12", "Deviation": "1.24",
        "Exactly 0": "1", "✕ NaN": "1", "∞ Inf": "1", "· denormal": "1",
    }  # fmt: skip
    assert view.heat[2] == view.heat[3] == -1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_the_next_number_is_one_unit_away(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    numbers = np.array([0.0, 1.0, -1.0, 0.5], kind)
    bits = numbers.view(f"u{kind.itemsize}")
    assert ulps(numbers, (bits + 3).view(kind)).tolist() == [3.0] * 4
    assert ulps(np.array([-0.0], kind), np.array([0.0], kind)).tolist() == [0.0]
    assert tensor_view(numbers, "x", 0, Plane(), Other(numbers, 0, "ulp")).difference is not None


def test_nan_and_infinities_in_both_are_no_difference() -> None:
    other = ODD.copy()
    other[0, 1] = np.nan
    for measure in ("absolute", "relative", "ulp"):
        apart = measured(ODD, other, measure)
        assert np.isnan(apart[0, 1])
        assert np.count_nonzero(np.nan_to_num(apart)) == 0
    view = tensor_view(ODD, "x", 4, Plane(), Other(other, 2, "absolute"))
    assert view.difference is not None
    assert view.difference.words == "1 of 6 elements differ"
    assert view.difference.largest == (0, 1)
    assert ("NaN on one side only", "1") in view.difference.rows
    assert view.measure == "absolute"
    assert view.marks == "znzzzz"


def test_differences_are_those_of_numpy() -> None:
    one = np.random.default_rng(0).normal(size=(8, 9)).astype(np.float32)
    two = one.copy()
    two[3, 4] = np.nextafter(one[3, 4], np.float32(9))
    two[7, 8] += 1
    view = tensor_view(one, "x", 4, Plane(), Other(two, 2, "ulp"))
    assert view.difference is not None
    assert view.difference.largest == (7, 8)
    assert dict(view.difference.bands)["0"] == 70
    assert dict(view.difference.bands)["1 to 2"] == 1
    assert sum(count for _, count in view.difference.bands) == one.size


@pytest.mark.parametrize("other", [None, 3, np.ones((3, 2), np.float32), np.ones((2, 3), np.float64)])
def test_what_cannot_be_compared_says_why(other: object) -> None:
    view = tensor_view(ODD, "x", 4, Plane(), Other(other, 2, "ulp"))
    assert view.measure == "value"
    assert view.difference is not None
    assert view.difference.words.startswith("Not comparable: the other is ")


def test_integers_have_no_units_in_the_last_place() -> None:
    one = np.arange(6).reshape(2, 3)
    view = tensor_view(one, "x", 4, Plane(), Other(one + 2, 2, "ulp"))
    assert view.measure == "absolute"
    assert set(view.cells) == {"2.00"}
    assert view.difference is not None
    assert view.difference.bands == ()


def test_integers_that_no_float_holds_are_told_apart() -> None:
    one = np.array([[2**60, -(2**63), 3]])
    two = np.array([[2**60 + 1, 2**63 - 1, 3]])
    view = tensor_view(one, "x", 4, Plane(), Other(two, 2, "absolute"))
    assert view.difference is not None
    assert view.difference.words == "2 of 3 elements differ"
    assert measured(one, two, "absolute").tolist() == [[1.0, 2.0**64, 0.0]]
    assert measured(one > 0, two > 0, "absolute").tolist() == [[0.0, 1.0, 0.0]]
    assert tensor_view(two, "x", 0, Plane(), search=str(2**60)).found == ()
    assert tensor_view(two, "x", 0, Plane(), search=str(2**60 + 1)).found == (0, 0)
    assert tensor_view(two, "x", 0, Plane(), search="3.0").found == (0, 2)
    assert tensor_view(two, "x", 0, Plane(), search="9" * 400).found == ()


def test_a_search_goes_from_one_element_to_the_next() -> None:
    array = np.zeros((3, 50, 60), np.float32)
    places = [(0, 10, 20), (0, 49, 59), (2, 0, 0)]
    for place in places:
        array[place] = 0.1
    plane = Plane()
    for turn, place in enumerate([*places, places[0]]):
        view = tensor_view(array, "x", 0, plane, search="0.1")
        assert view.found == place
        assert view.search == f"{turn % 3 + 1} of 3 elements that are 0.1"
        row, column = place[1] - view.top, place[2] - view.left
        assert view.marks[row * view.columns + column] == "."
        plane = Plane(view.axes, view.found, place[1], place[2])
    assert tensor_view(array, "x", 0, Plane(), search="nan").search == "no element is nan"
    with pytest.raises(RunError, match="is no number"):
        tensor_view(array, "x", 0, Plane(), search="x + 1")


@pytest.mark.parametrize("axes", [(1, 1), (0, 3), (-1, 0), (0,)])
def test_axes_that_are_none_are_refused(axes: tuple[int, ...]) -> None:
    with pytest.raises(RunError, match="are no two axes"):
        tensor_view(np.ones((2, 3, 4)), "x", 0, Plane(axes))


def test_large_tensors_say_what_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "SAMPLED_FROM", 1000)
    monkeypatch.setattr(window, "_MAP_FROM", 1000)
    array = np.ones((100, 100), np.float32)
    view = tensor_view(array, "x", 0, Plane())
    assert "one in 11 of the 10,000 elements of the tensor" in view.sampling
    assert "one in 4 rows and columns" in view.sampling
    assert sum(item.count for item in view.histogram) == 910
    assert tensor_view(array[:10], "x", 0, Plane()).sampling == ""
    other = array.copy()
    other[99, 88:] = 3
    apart = tensor_view(array, "x", 4, Plane(), Other(other, 2)).difference
    assert apart is not None
    assert apart.words == "2 of 910 elements looked at, one in 11, differ"
    assert other[apart.largest] == 3


def test_the_map_shows_the_rarest_kind_of_each_block() -> None:
    array = np.ones((1000, 130), np.float32)
    array[999, 129] = np.nan
    array[998, 129] = np.inf
    array[0, 0] = 0
    view = tensor_view(array, "x", 0, Plane())
    assert (view.map_rows, view.map_columns) == (64, 64)
    assert view.map[0] == "z"
    assert view.map[-1] == "n"
    assert view.map.count(".") == 64 * 64 - 2


def test_what_is_copied_has_the_same_bits() -> None:
    for array in (ODD, ODD.astype(np.float64), np.array([[True, False]]), np.zeros((0, 3), np.int8)):
        again = eval(numpy_text(array), {"np": np})
        assert again.dtype == array.dtype
        assert again.tobytes() == array.tobytes()
