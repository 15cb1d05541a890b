"""Which elements of a tensor are NaN, infinite, denormal or zero."""

from typing import Any, Final, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LETTERS: Final = ".zdin"
"""Any other number, zero, denormal, infinity, NaN: the rarest last."""


def is_float(array: Array) -> bool:
    """Tell whether elements may be NaN; bfloat16 and the floats of 8 bits are of kind V in NumPy."""
    return array.dtype.kind in "fV"


def wide(array: Array) -> Array:
    """Return the elements as float64, which holds every float of fewer bits exactly."""
    return array.astype(np.float64)


def kinds(array: Array) -> npt.NDArray[np.uint8]:
    """Return for each element the place of its letter in `LETTERS`."""
    found = np.zeros(array.shape, np.uint8)
    if not is_float(array):
        found[array == 0] = 1
        return found
    numbers = array if array.dtype.kind == "f" else array.astype(np.float32)
    found[is_denormal(array)] = 2
    found[numbers == 0] = 1
    found[np.isinf(numbers)] = 3
    found[np.isnan(numbers)] = 4
    return found


def is_denormal(array: Array) -> npt.NDArray[np.bool_]:
    """Tell which elements of a float dtype lie between zero and its least normal number."""
    numbers = np.abs(array if array.dtype.kind == "f" else array.astype(np.float32))
    bounds = cast("Any", ml_dtypes.finfo(array.dtype))
    return (numbers > 0) & (numbers < float(bounds.smallest_normal))


def small_map(found: npt.NDArray[np.uint8], side: int) -> npt.NDArray[np.uint8]:
    """Return a plane in at most `side` by `side` blocks, each with the rarest kind in it."""
    for axis in (0, 1):
        size = found.shape[axis]
        if size > side:
            starts = np.arange(side) * size // side
            found = np.maximum.reduceat(found, starts, axis=axis)
    return found
