"""The greatest and the least of values as prim funcs take them: `select(a > b, a, b)`, which loses a NaN in `a`.

See: tvm/src/target/llvm/codegen_llvm.cc, MaxNode
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Axes: TypeAlias = "int | tuple[int, ...] | None"


def greater_of(a: Any, b: Any) -> Array:
    """Return the greater of the elements of two arrays, that of `b` if either is a NaN."""
    return cast("Array", np.where(np.greater(a, b), a, b))


def lesser_of(a: Any, b: Any) -> Array:
    """Return the lesser of the elements of two arrays, that of `b` if either is a NaN."""
    return cast("Array", np.where(np.less(a, b), a, b))


def greatest_along(data: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Return the greatest element along axes: of those behind the last NaN, or NaN if that is the last element."""
    return _reduced(np.max, -np.inf, data, axis, keepdims=keepdims)


def least_along(data: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Return the least element along axes: of those behind the last NaN, or NaN if that is the last element."""
    return _reduced(np.min, np.inf, data, axis, keepdims=keepdims)


def _reduced(reduce: Callable[..., Any], start: float, data: Array, axis: Axes, *, keepdims: bool) -> Array:
    is_nan = np.not_equal(data, data)
    if not is_nan.any():
        return np.asarray(reduce(data, axis=axis, keepdims=keepdims))
    axes = [k % data.ndim for k in (range(data.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis)]
    last = range(-len(axes), 0)
    moved = np.moveaxis(is_nan, axes, last)
    flat = moved.reshape((*moved.shape[: data.ndim - len(axes)], -1))
    values = np.moveaxis(data, axes, last).reshape(flat.shape)
    is_behind = np.cumsum(flat[..., ::-1], axis=-1)[..., ::-1] == 0
    found = reduce(np.where(is_behind, values, data.dtype.type(start)), axis=-1)
    result = cast("Array", np.where(flat[..., -1], data.dtype.type(np.nan), found))
    return np.expand_dims(result, sorted(axes)) if keepdims else result
