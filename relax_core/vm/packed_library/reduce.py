"""Functions over axes: sums, norms, softmax, the largest elements, the different ones."""

import math

import numpy as np

from relax_core.vm.objects.values import Array
from relax_core.vm.packed_library.arrays import ArgumentError, Given, cast_to, is_float, need_float, wide


def softmax(given: Given) -> Array:
    """Return exp(x) over its sum along the axes; along none, every element is by itself."""
    x, dim = cast_to(given.tensor("self"), given.dtype()), given.integers("dim")
    need_float(x, "self")
    axes = tuple(axis % max(x.ndim, 1) for axis in dim) if x.ndim else ()
    if x.size == 0:
        return x.copy()
    y = wide(x)
    powers = np.exp(y - y.max(axes, keepdims=True))
    return np.asarray(powers / powers.sum(axes, keepdims=True)).astype(x.dtype)


def total(given: Given) -> Array:
    """Return the sum; that of integers is int64."""
    x = _summed(given)
    return np.asarray(wide(x).sum(given.axes(x), keepdims=given.flag("keepdim"))).astype(x.dtype)


def _summed(given: Given) -> Array:
    self = given.tensor("self")
    return cast_to(self, given.dtype() or (None if is_float(self) else "int64"))


def mean(given: Given) -> Array:
    """Return the mean; of no elements it is NaN."""
    x = cast_to(given.tensor("self"), given.dtype())
    need_float(x, "self")
    axes, keepdim = given.axes(x), given.flag("keepdim")
    count = math.prod(x.shape[axis] for axis in axes)
    sums = np.asarray(wide(x).sum(axes, keepdims=keepdim))
    return np.asarray(sums / count if count else np.full(sums.shape, math.nan)).astype(x.dtype)


def is_any(given: Given) -> Array:
    """Tell whether an element is not zero."""
    self = given.tensor("self")
    return np.asarray((self != 0).any(given.axes(self), keepdims=given.flag("keepdim")))


def norm(given: Given) -> Array:
    """Return the p-norm: 0 counts what is not zero, infinities take the largest or smallest magnitude."""
    self, p, keepdim = given.tensor("self"), given.optional_number("p"), given.flag("keepdim")
    need_float(self, "self")
    axes, order = given.axes(self), 2 if p is None else p
    size = np.abs(wide(self))
    if math.isinf(order):
        if not size.size:
            raise ArgumentError("an infinite norm of no elements is undefined")
        found = size.max(axes, keepdims=keepdim) if order > 0 else size.min(axes, keepdims=keepdim)
    elif order == 0:
        found = (size != 0).sum(axes, keepdims=keepdim)
    else:
        found = (size**order).sum(axes, keepdims=keepdim) ** (1 / order)
    return np.asarray(found).astype(self.dtype)


def cumsum(given: Given) -> Array:
    """Return the running sum; that of integers is int64."""
    x = _summed(given)
    return x.copy() if x.ndim == 0 else np.cumsum(wide(x), given.integer("dim")).astype(x.dtype)


def unique(given: Given) -> "Array | tuple[Array, ...]":
    """Return the different elements in order, whether or not that is asked for, and what else is asked for."""
    self = given.tensor("self")
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True)
    extra = ((inverse.reshape(self.shape),) if given.flag("return_inverse") else ()) + (
        (counts,) if given.flag("return_counts") else ()
    )
    return (values, *(item.astype(np.int64) for item in extra)) if extra else values


def topk(given: Given) -> tuple[Array, Array]:
    """Return the k largest or smallest elements along an axis in order, and their positions; NaN is the largest."""
    self, k, dim = given.tensor("self"), given.integer("k"), given.integer("dim")
    x = self.reshape(1) if self.ndim == 0 else self
    if k > x.shape[dim]:
        raise ArgumentError(f"k is at most the size {x.shape[dim]} of the axis {dim}, got {k}")
    if not self.ndim and k != 1:
        raise ArgumentError(f"k is 1 for a tensor of rank 0, got {k}")
    order = np.argsort(x, dim, kind="stable")
    if given.flag("largest"):
        last = np.flip(x, dim)
        order = np.flip(x.shape[dim] - 1 - np.argsort(last, dim, kind="stable"), dim)
    taken = np.take(order, np.arange(k), dim)
    values = np.take_along_axis(x, taken, dim)
    shape = values.shape if self.ndim else ()
    return values.reshape(shape), taken.astype(np.int64).reshape(shape)
