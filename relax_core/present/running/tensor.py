"""Tensors as heat tables and as short text."""

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.present.measures import cut
from relax_core.present.running.run_models import Tensor

Array = npt.NDArray[Any]

TABLE_SIDE = 12
SHORT_COLUMNS = 40
_SHORT_ITEMS = 64


def tensor_model(
    array: Array, row: int = 0, column: int = 0, leading: tuple[int, ...] = (), side: int = TABLE_SIDE
) -> Tensor:
    """Present at most `side` by `side` numbers of the last two axes; `leading` picks the other axes."""
    picked = tuple(
        min(max(at, 0), size - 1) for at, size in zip(_padded(leading, array.ndim - 2), array.shape, strict=False)
    )
    table = matrix(array, picked)
    part = table[row : row + side, column : column + side]
    is_finite = np.isfinite(array) if array.dtype.kind == "f" else None
    is_whole = is_finite is None or bool(is_finite.all())
    finite = array if is_finite is None or is_whole else array[is_finite]
    low, high = (finite.min(), finite.max()) if finite.size else (None, None)
    return Tensor(
        part.shape[0],
        part.shape[1],
        tuple(map(number, part.ravel().tolist())),
        _heats(np.real(part).ravel().tolist(), low, high),
        "" if low is None else number(low),
        "" if high is None else number(high),
        0 if is_whole else int(np.isnan(array).sum()),
        _cut_text(array, part, row, column, picked),
    )


def matrix(array: Array, leading: tuple[int, ...]) -> Array:
    """Return the matrix of the last two axes at `leading`; a vector is one row. An empty array has no rows."""
    if array.ndim >= 2:
        if 0 in array.shape[:-2]:
            return np.zeros((0, 0), array.dtype)
        return array[leading] if array.ndim > 2 else array
    return array.reshape(1, -1)


def _padded(leading: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*leading, *(0,) * max(0, count - len(leading)))[: max(0, count)]


def _cut_text(array: Array, part: Array, row: int, column: int, leading: tuple[int, ...]) -> str:
    if part.size == array.size:
        return ""
    shape = "(" + ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "") + ")"
    size = f"{part.shape[0]} × {part.shape[1]}"
    where = "first " if not (row or column) else ""
    at = f" from [{row}, {column}]" if row or column else ""
    plane = f", at [{', '.join(map(str, leading))}, :, :]" if leading else ""
    return f"{where}{size} of {shape}{at}{plane}"


def _heats(items: list[Any], low: Any, high: Any) -> tuple[int, ...]:
    """Return how far up between the least and the greatest finite number each item is, in percent; -1 of another."""
    if low is None:
        return (-1,) * len(items)
    bottom, span = float(low), float(high) - float(low)
    is_even = span == 0 or not math.isfinite(span)
    values = map(float, items)
    return tuple(
        -1 if not math.isfinite(value) else 50 if is_even else round(100 * (value - bottom) / span) for value in values
    )


def number(item: Any) -> str:
    """Print one element in at most about eight columns: `0.55`, `-3`, `1.2e-07`, `True`, `nan`."""
    value = cast("bool | int | float | complex | str", item.item() if isinstance(item, np.generic) else item)
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    if value == 0.0 or 0.01 <= abs(value) < 1e5:
        return f"{value:.2f}" if abs(value) < 1000 else f"{value:.1f}"
    return f"{value:.1e}"


def short_text(array: Array) -> str:
    """Print a tensor in at most 40 columns: `[[0.55 0.72 0.60] …]`; a rank-0 tensor is its number."""
    if array.ndim == 0:
        return number(array[()])
    if array.size == 0:
        return "[]"
    opening = "[" * array.ndim
    row = array[(0,) * (array.ndim - 1)][:_SHORT_ITEMS]
    numbers = " ".join(map(number, row.tolist()))
    if array.size > len(row):
        inner = cut(f"{opening}{numbers}", SHORT_COLUMNS - 4)
        return f"{inner} …]" if inner.endswith("…") else f"{inner}] …]"
    return cut(f"{opening}{numbers}{']' * array.ndim}", SHORT_COLUMNS)
