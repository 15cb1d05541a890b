"""A window of the plane that two axes of a tensor span, as the tensor viewer shows it."""

import math
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.present.running.moment_models import Measure, TensorDifference, TensorView
from relax_core.present.running.tensor import number
from relax_core.present.running.tensors.comparison import difference, measured, not_comparable
from relax_core.present.running.tensors.kinds import LETTERS, Array, is_float, kinds, small_map, wide
from relax_core.present.running.tensors.statistics import histogram, sample, sampling_words, statistics

LARGEST_WINDOW: Final = 64
_MAP_SIDE: Final = 64
_MAP_FROM: Final = 1 << 24
"""Of planes with more elements the map shows some rows and columns."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Which part of a tensor is shown: two axes, the index in each other one, and a window of the two.

    `axes` are those of the rows and of the columns, the last two if it is empty.
    """

    axes: tuple[int, ...] = ()
    fixed: tuple[int, ...] = ()
    top: int = 0
    left: int = 0
    rows: int = 24
    columns: int = 12


@dataclass(frozen=True, slots=True)
class Other:
    """What a tensor is compared with: its value at another time of the run, or what `name` tells.

    Without a value, `why` says why there is none.
    """

    value: Any
    time: int
    measure: Measure = "value"
    name: str = ""
    why: str = ""


def tensor_view(
    array: Array, name: str, time: int, plane: Plane, other: Other | None = None, search: str = ""
) -> TensorView:
    """Show a window of a tensor; a search that finds an element moves the window to it.

    Raises:
        RunError: EN034, the axes are no two axes of the tensor, or the text that is searched for is no number.
    """
    array = np.asarray(array)
    axes = _axes(array, plane.axes)
    fixed = _within(plane.fixed, array.shape)
    top, left = plane.top, plane.left
    found, words = _search(array, search, _start(axes, fixed, top, left)) if search else ((), "")
    if found:
        fixed = found
        top, left = (found[axes[0]] if len(axes) > 1 else 0), (found[axes[-1]] if axes else 0)
    whole_plane = _plane(array, axes, fixed)
    row_count, column_count = whole_plane.shape
    rows, columns = min(plane.rows, LARGEST_WINDOW, row_count), min(plane.columns, LARGEST_WINDOW, column_count)
    top, left = min(max(top, 0), row_count - rows), min(max(left, 0), column_count - columns)
    window = slice(top, top + rows), slice(left, left + columns)
    values = whole_plane[window]
    measure = _measure(array, other)
    shown = values
    if other is not None and measure != "value":
        shown = measured(values, _plane(other.value, axes, fixed)[window], measure)
    view = TensorView(
        name=name,
        shape=array.shape,
        dtype=str(array.dtype),
        time=time,
        size_bytes=array.nbytes,
        axes=axes,
        fixed=fixed,
        top=top,
        left=left,
        rows=rows,
        columns=columns,
        row_count=row_count,
        column_count=column_count,
        cells=tuple(number(item) for item in shown.reshape(-1).tolist()),
        heat=_heat(shown),
        marks="".join(LETTERS[kind] for kind in kinds(shown).reshape(-1).tolist()),
        numpy=numpy_text(values),
        measure=measure,
        difference=None if other is None else _difference(array, other),
        found=found,
        search=words,
    )
    return _with_overview(view, array, whole_plane)


def _difference(array: Array, other: Other) -> TensorDifference:
    if other.why:
        return TensorDifference(other.time, f"Not comparable: {other.why}.", name=other.name)
    found = difference(array, other.value, other.time)
    return msgspec.structs.replace(found, name=other.name)


def _with_overview(view: TensorView, array: Array, plane: Array) -> TensorView:
    """Add what is said of the whole plane and of the whole tensor."""
    small, step = _sampled_map(plane)
    of_whole, whole_step = sample(array)
    of_plane, plane_step = sample(plane)
    notes = (sampling_words(array, whole_step, plane, plane_step), _map_words(step))
    return msgspec.structs.replace(
        view,
        map="".join(LETTERS[kind] for kind in small.reshape(-1).tolist()),
        map_rows=small.shape[0],
        map_columns=small.shape[1],
        statistics=statistics(of_plane, of_whole),
        histogram=histogram(of_plane),
        sampling=" ".join(note for note in notes if note),
    )


def _measure(array: Array, other: Other | None) -> Measure:
    """Return what can be shown: values of what is not comparable, and no units in the last place of integers."""
    if other is None or not_comparable(array, other.value):
        return "value"
    return "absolute" if other.measure == "ulp" and not is_float(array) else other.measure


def numpy_text(array: Array) -> str:
    """Write an array as an expression in NumPy; floats are written so that reading gives their bits again."""
    numbers: Any = array.tolist() if array.dtype.kind != "V" else wide(array).tolist()
    text = repr(numbers).replace("nan", "np.nan").replace("inf", "np.inf")
    # NumPy knows the name of a dtype of ml_dtypes once that is imported.
    return f'np.array({text}, dtype="{array.dtype}").reshape({array.shape})'


def _axes(array: Array, wanted: tuple[int, ...]) -> tuple[int, ...]:
    if array.ndim < 2:
        return tuple(range(array.ndim))
    axes = wanted or (array.ndim - 2, array.ndim - 1)
    if len(axes) != 2 or axes[0] == axes[1] or not all(0 <= axis < array.ndim for axis in axes):
        raise RunError((Diagnostic("EN034", f"{axes} are no two axes of a tensor of rank {array.ndim}"),))
    return axes


def _within(fixed: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    padded = (*fixed, *(0,) * len(shape))[: len(shape)]
    return tuple(min(max(at, 0), max(size - 1, 0)) for at, size in zip(padded, shape, strict=True))


def _plane(array: Array, axes: tuple[int, ...], fixed: tuple[int, ...]) -> Array:
    """Return the plane of two axes at `fixed`, without a copy; a vector is one row, a number one cell."""
    if len(axes) < 2:
        return array.reshape(1, -1)
    if any(array.shape[axis] == 0 for axis in range(array.ndim) if axis not in axes):
        return np.zeros((0, 0), array.dtype)
    place = tuple(slice(None) if axis in axes else at for axis, at in enumerate(fixed))
    plane = array[place]
    return plane if axes[0] < axes[1] else plane.T


def _start(axes: tuple[int, ...], fixed: tuple[int, ...], top: int, left: int) -> tuple[int, ...]:
    """Return the element in the upper left corner of the window."""
    corner = dict(zip(axes, (top, left) if len(axes) > 1 else (left,), strict=True))
    return tuple(corner.get(axis, at) for axis, at in enumerate(fixed))


def _search(array: Array, text: str, start: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """Return the next element behind `start`, in the order of memory, that equals the number; it goes on at the front.

    A number that the dtype does not hold stands for the one that it is rounded to.
    """
    places = np.flatnonzero(_equals(array.reshape(-1), text))
    if not places.size:
        return (), f"no element is {text}"
    current = int(np.ravel_multi_index(start, array.shape)) if start else 0
    number_in_row = int(np.searchsorted(places, current, side="right")) % places.size
    found = tuple(int(item) for item in np.unravel_index(int(places[number_in_row]), array.shape))
    return found, f"{number_in_row + 1:,} of {places.size:,} elements that are {text}"


def _equals(flat: Array, text: str) -> Array:
    """Tell which elements are the number that a text says."""
    try:
        wanted = float(text)
    except ValueError:
        message = f"`{text}` is no number: a search takes one, `nan` or `inf`"
        raise RunError((Diagnostic("EN034", message),)) from None
    if math.isnan(wanted):
        return kinds(flat) == LETTERS.index("n")
    if is_float(flat):
        with np.errstate(over="ignore"):
            return flat == np.asarray(wanted).astype(flat.dtype)
    try:
        # No float64 holds every int64.
        return flat == int(text)
    except ValueError:
        return flat == wanted


def _sampled_map(plane: Array) -> tuple[Any, int]:
    step = 1
    while plane.size // step**2 > _MAP_FROM:
        step += 1
    return small_map(kinds(plane[::step, ::step]), _MAP_SIDE), step


def _map_words(step: int) -> str:
    return f"The map shows one in {step} rows and columns." if step > 1 else ""


def _heat(shown: Array) -> tuple[int, ...]:
    numbers = wide(shown).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return (-1,) * numbers.size
    low, high = finite.min() / 2, finite.max() / 2
    span = high - low
    with np.errstate(all="ignore"):
        shares = np.full(numbers.shape, 50.0) if span == 0 else 100 * ((numbers / 2 - low) / span)
    return tuple(
        round(share) if is_finite else -1 for share, is_finite in zip(shares, np.isfinite(numbers), strict=True)
    )
