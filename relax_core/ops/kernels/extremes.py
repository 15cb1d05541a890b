"""The greatest and the least of values as prim funcs take them: `select(a > b, a, b)`, which loses a NaN in `a`.

See: tvm/src/target/llvm/codegen_llvm.cc, MaxNode
"""

from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from relax_core.ops.dtypes import limits
from relax_core.ops.steps import Axes, in_rows, is_float, kept_dims

Array: TypeAlias = npt.NDArray[Any]


def greater_of(a: Any, b: Any) -> Array:
    """Return the greater of the elements of two arrays, that of `b` if either is a NaN."""
    return cast("Array", np.where(np.greater(a, b), a, b))


def lesser_of(a: Any, b: Any) -> Array:
    """Return the lesser of the elements of two arrays, that of `b` if either is a NaN."""
    return cast("Array", np.where(np.less(a, b), a, b))


def greatest_along(data: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Return the greatest element along axes: of those behind the last NaN, or NaN if that is the last element.

    Without a NaN it is no less than the least finite number, from which the search starts: so much is the greatest of
    no elements, and of those that are all minus infinity.
    """
    start = np.asarray(limits(str(data.dtype))[0]).astype(data.dtype)
    return kept_dims(_last_best(in_rows(data, axis), start), axis, data.ndim, keepdims=keepdims)


def least_along(data: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Return the least element along axes, as `greatest_along` does the greatest."""
    start = np.asarray(limits(str(data.dtype))[1]).astype(data.dtype)
    rows = in_rows(data, axis)
    return kept_dims(_last_best(rows, start, is_least=True), axis, data.ndim, keepdims=keepdims)


def _last_best(rows: Array, start: Array, *, is_least: bool = False) -> Array:
    """Return the best of each row and `start`; of zeros with two signs the last."""
    count = rows.shape[-1]
    if count == 0:
        return np.full(rows.shape[:-1], start, rows.dtype)
    function = np.minimum if is_least else np.maximum
    if not is_float(rows):
        return np.asarray(function.reduce(rows, axis=-1))
    is_nan = np.isnan(rows)
    is_behind = np.cumsum(is_nan[..., ::-1], axis=-1)[..., ::-1] == 0
    worst = rows.dtype.type(np.inf if is_least else -np.inf)
    best = function.reduce(np.where(is_behind, rows, worst), axis=-1)
    last = count - 1 - np.argmax((is_behind & (rows == best[..., None]))[..., ::-1], axis=-1)
    found = np.take_along_axis(rows, last[..., None], axis=-1)[..., 0]
    found = np.where(is_nan.any(axis=-1), found, function(found, start))
    return np.where(is_nan[..., -1], rows.dtype.type(np.nan), found).astype(rows.dtype)
