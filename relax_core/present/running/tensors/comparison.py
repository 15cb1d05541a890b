"""How far the elements of a tensor are from those of another: absolute, relative, in units in the last place."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from relax_core.present.running.moment_models import Measure, TensorDifference
from relax_core.present.running.tensor import number
from relax_core.present.running.tensors.kinds import Array, is_float, wide
from relax_core.present.running.tensors.statistics import distance

_BANDS = (("0", 0, 0), ("1 to 2", 1, 2), ("3 to 4", 3, 4), ("5 to 8", 5, 8), ("9 to 64", 9, 64))


def measured(array: Array, other: Array, measure: Measure) -> Array:
    """Return how far each element is from that of another tensor of the same shape and dtype.

    It is NaN where one of the two is NaN and the other is not, and 0 where both are NaN or the same infinity.
    """
    if measure == "value":
        return array
    if measure == "ulp":
        return ulps(array, other)
    one, two = wide(array), wide(other)
    with np.errstate(all="ignore"):
        apart = np.abs(one - two) if is_float(array) else _apart(array, other)
        if measure == "relative":
            apart = np.where(apart == 0, 0.0, apart / np.abs(two))
    is_same = (array == other) | (np.isnan(one) & np.isnan(two))
    return np.where(is_same, 0.0, apart)


def _apart(array: Array, other: Array) -> Array:
    """Return the distances of integers or truth values, which is rounded only when it is known."""
    # Unsigned numbers wrap around, so that the difference of the greatest and the least int64 is right as well.
    return (np.maximum(array, other).astype(np.uint64) - np.minimum(array, other).astype(np.uint64)).astype(np.float64)


def ulps(array: Array, other: Array) -> Array:
    """Count the representable numbers between two floats of one dtype, exactly up to 2**53; NaN beside a number."""
    one, two = _in_order(array), _in_order(other)
    apart = (np.maximum(one, two) - np.minimum(one, two)).astype(np.float64)
    is_nan = np.isnan(wide(array)), np.isnan(wide(other))
    return np.where(is_nan[0] & is_nan[1], 0.0, np.where(is_nan[0] | is_nan[1], np.nan, apart))


def _in_order(array: Array) -> npt.NDArray[np.uint64]:
    """Number the floats of a dtype in their order; both zeros have one number."""
    width = 8 * array.dtype.itemsize
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").astype(np.uint64)
    sign = np.uint64(1 << (width - 1))
    magnitude = bits & np.uint64((1 << (width - 1)) - 1)
    return np.where(bits & sign != 0, sign - magnitude, sign + magnitude)


def difference(array: Array, other: Any, time: int) -> TensorDifference:
    """Compare the elements of two tensors: all of them, or of large ones those that the statistics look at."""
    why = not_comparable(array, other)
    if why:
        return TensorDifference(time, why)
    step, shape = distance(array), array.shape
    array, other = array.reshape(-1)[::step], other.reshape(-1)[::step]
    absolute = measured(array, other, "absolute")
    is_one_nan = np.isnan(wide(array)) != np.isnan(wide(other))
    count = int(np.count_nonzero(absolute != 0))
    looked_at = f" looked at, one in {step}," if step > 1 else ""
    words = f"{count:,} of {array.size:,} elements{looked_at} differ"
    if not count:
        return TensorDifference(time, words)
    ranked = np.where(np.isnan(absolute), np.inf, absolute)
    at = tuple(int(item) for item in np.unravel_index(int(ranked.argmax()) * step, shape))
    numbers = absolute[~np.isnan(absolute)]
    rows = [("Largest absolute", number(float(numbers.max())) if numbers.size else "none")]
    relative = measured(array, other, "relative")
    relative = relative[~np.isnan(relative)]
    rows.append(("Largest relative", number(float(relative.max())) if relative.size else "none"))
    bands: tuple[tuple[str, int], ...] = ()
    if is_float(array):
        apart = ulps(array, other)
        numbers = apart[~np.isnan(apart)]
        rows.append(("Largest in ULP", f"{numbers.max():,.0f}" if numbers.size else "none"))
        rows.append(("NaN on one side only", f"{int(is_one_nan.sum()):,}"))
        counted = [(name, int(((apart >= low) & (apart <= high)).sum())) for name, low, high in _BANDS]
        bands = (*counted, ("more than 64", int((apart > 64).sum())))
    return TensorDifference(time, words, tuple(rows), bands, at)


def not_comparable(array: Array, other: Any) -> str:
    """Say why two values cannot be compared element by element; empty if they can."""
    if not isinstance(other, np.ndarray):
        return "Not comparable: the other is no tensor."
    then = cast("Array", other)
    if array.shape != then.shape or array.dtype != then.dtype:
        return f"Not comparable: the other is {then.shape} {then.dtype}."
    return ""
