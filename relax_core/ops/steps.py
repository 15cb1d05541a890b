"""NumPy's side of computing step by step, as a prim func does: in order, and rounded to the dtype at each step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from relax_core.ops.spec import OpValueError, Value

Array: TypeAlias = npt.NDArray[Any]
Axes: TypeAlias = "Sequence[int] | int | None"

# The import of ml_dtypes makes `np.dtype("bfloat16")` a dtype; NumPy's own functions do not all know it.
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True, slots=True)
class InSteps:
    """An evaluation of several steps that itself rounds each of them; it takes bfloat16 as it is.

    A prim func computes with the bfloat16 elements of its buffers in float32 and rounds what it stores. An evaluation
    of one step leaves that to its caller.
    """

    function: Callable[[tuple[Value, ...]], Value]

    def __call__(self, args: tuple[Value, ...]) -> Value:
        """Evaluate, quietly: what overflows is an infinity and what is undefined a NaN, as in a kernel."""
        with np.errstate(all="ignore"):
            return self.function(args)


def wide(data: Array) -> Array:
    """Return the elements as a prim func holds them in registers: bfloat16 as float32."""
    return data.astype(np.float32) if data.dtype == BFLOAT16 else data


def as_axes(axes: Axes, rank: int) -> tuple[int, ...]:
    """Return the axes in order, none of them negative; `None` stands for all."""
    if axes is None:
        return tuple(range(rank))
    return tuple(sorted(axis % rank for axis in ([axes] if isinstance(axes, int) else axes)))


def count_of(data: Array, axes: Axes) -> int:
    """Return how many elements of `data` a reduction along `axes` makes one of."""
    count = 1
    for axis in as_axes(axes, data.ndim):
        count *= data.shape[axis]
    return count


def in_rows(data: Array, axes: Axes) -> Array:
    """Return the elements with those that a reduction along `axes` combines in the last axis, in their order."""
    reduced = as_axes(axes, data.ndim)
    kept = tuple(k for k in range(data.ndim) if k not in reduced)
    shape = (*(data.shape[k] for k in kept), count_of(data, reduced))
    return np.transpose(data, (*kept, *reduced)).reshape(shape)


def kept_dims(result: Array, axes: Axes, rank: int, *, keepdims: bool) -> Array:
    """Return a reduction's result, with the reduced axes of size 1 if they are kept."""
    return np.expand_dims(result, as_axes(axes, rank)) if keepdims else result


def kept_shape(data: Array, axes: Axes, *, keepdims: bool) -> tuple[int, ...]:
    """Return the shape of a reduction's result."""
    reduced = as_axes(axes, data.ndim)
    return tuple(1 if k in reduced else size for k, size in enumerate(data.shape) if keepdims or k not in reduced)


def sum_along(data: Array, axes: Axes = None, *, keepdims: bool = False, dtype: "np.dtype[Any] | None" = None) -> Array:
    """Add along axes from 0 in the order of the elements; each partial sum is rounded to `dtype`, that of the data."""
    rows = in_rows(data, axes)
    total = _folded(np.add, 0, rows) if dtype in (None, data.dtype) else _rounded_sum(rows, np.dtype(dtype))
    return kept_dims(total, axes, data.ndim, keepdims=keepdims)


def _rounded_sum(rows: Array, dtype: "np.dtype[Any]") -> Array:
    total = np.zeros(rows.shape[:-1], dtype)
    for k in range(rows.shape[-1]):
        total = np.asarray(wide(total) + rows[..., k]).astype(dtype)
    return total


def inner_products(a: Array, b: Array, dtype: "np.dtype[Any]") -> Array:
    """Add the products along the last axis of two arrays that broadcast, in order, and round each sum to `dtype`."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), dtype)
    for k in range(a.shape[-1]):
        total = np.asarray(wide(total) + wide(a[..., k]) * wide(b[..., k])).astype(dtype)
    return total


def product_along(data: Array, axes: Axes = None, *, keepdims: bool = False) -> Array:
    """Multiply along axes from 1 in the order of the elements; each partial product is rounded to the dtype."""
    return kept_dims(_folded(np.multiply, 1, in_rows(data, axes)), axes, data.ndim, keepdims=keepdims)


def mean_along(data: Array, axes: Axes = None, *, keepdims: bool = False) -> Array:
    """Divide the sum by the number of elements; that of integers is rounded towards zero."""
    return quotient(sum_along(data, axes, keepdims=keepdims), np.asarray(count_of(data, axes)).astype(data.dtype))


def _folded(function: np.ufunc, start: int, rows: Array) -> Array:
    if rows.shape[-1] == 0:
        return np.full(rows.shape[:-1], start, rows.dtype)
    rows = rows.copy()
    # Adding to 0 is not idle: it makes 0.0 of -0.0.
    rows[..., 0] = function(rows.dtype.type(start), rows[..., 0])
    return np.asarray(function.accumulate(rows, axis=-1, dtype=rows.dtype)[..., -1])


def quotient(a: Array, b: Array) -> Array:
    """Divide: floats in their dtype, integers rounded towards zero, with what does not fit wrapped around.

    Raises:
        OpValueError: JT011 where an integer is divided by zero.
    """
    if is_float(a):
        return np.asarray(wide(a) / wide(b)).astype(a.dtype)
    x, y = integers(a), integers(b)
    require_divisors(x, y)
    down, rest = np.floor_divide(x, y), np.mod(x, y)
    return np.asarray(down + ((rest != 0) & ((x < 0) != (y < 0)))).astype(a.dtype)


def integers(data: Array) -> Array:
    """Return truth values as the integers 0 and 1, integers as they are."""
    return data.astype(np.int8) if data.dtype == np.bool_ else data


def is_float(data: Array) -> bool:
    """Tell whether the elements are floating-point numbers, of bfloat16 too."""
    return data.dtype.kind == "f" or data.dtype == BFLOAT16


def require_divisors(a: Array, b: Array) -> None:
    """Raise JT011 if an element of integers would be divided by zero."""
    if not is_float(b) and np.broadcast_shapes(a.shape, b.shape).count(0) == 0 and not b.all():
        raise OpValueError("JT011", "an integer is divided by zero", "make sure that no divisor is 0")


def require_shifts(a: Array, b: Array) -> None:
    """Raise JT012 if an element would be shifted by more than its bits, or by less than none."""
    bits = 1 if a.dtype == np.bool_ else a.dtype.itemsize * 8
    amounts = integers(b)
    if np.broadcast_shapes(a.shape, b.shape).count(0) == 0 and ((amounts < 0) | (amounts >= bits)).any():
        raise OpValueError(
            "JT012", f"a shift amount is not in [0, {bits})", "shift by less than the number of bits of the dtype"
        )


def converted(data: Array, dtype: "np.dtype[Any] | str") -> Array:
    """Convert; a float that no integer is near becomes the nearest integer of the dtype, and a NaN becomes 0."""
    target = np.dtype(dtype)
    if target.kind not in "iu" or not is_float(data):
        return data.astype(target)
    limits, numbers = np.iinfo(target), data.astype(np.float64)
    is_above, is_below = numbers >= 2.0 ** (limits.bits - (target.kind == "i")), numbers < float(limits.min)
    inside = np.where(is_above | is_below | np.isnan(numbers), 0.0, numbers).astype(target)
    return np.where(is_above, limits.max, np.where(is_below, limits.min, inside)).astype(target)
