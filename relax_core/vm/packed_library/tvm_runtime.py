"""The functions of TVM's runtime that its passes let programs call; in an order, equal elements stay as they are."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from relax_core.ops.tensors.data_dependent import evaluate_nonzero, evaluate_unique
from relax_core.ops.tensors.sorting import order
from relax_core.vm.objects.values import Array, item_bytes


def sort(data: Array, out: Array, axis: int = -1, is_ascend: Any = 1) -> None:
    """Write the elements of `data` in order along an axis."""
    out[...] = np.take_along_axis(data, order(data, axis, is_descending=not is_ascend), axis)


def argsort(data: Array, out: Array, axis: int = -1, is_ascend: Any = 1) -> None:
    """Write the indices that sort `data` along an axis."""
    out[...] = order(data, axis, is_descending=not is_ascend)


def argsort_nms(data: Array, counts: Array, out: Array, axis: int = -1, is_ascend: Any = 1) -> None:
    """Write such indices, of the first so many elements of each row as `counts` says; the others stay in place."""
    rows, written = np.moveaxis(data, axis, -1), np.moveaxis(out, axis, -1)
    written[...] = np.arange(rows.shape[-1])
    for at, count in np.ndenumerate(counts.reshape(rows.shape[:-1])):
        written[at][:count] = order(rows[at][:count], 0, is_descending=not is_ascend)


def topk(data: Array, *rest: Any) -> None:
    """Write the first `k` elements in order along an axis, their indices, or both; all if `k` is less than 1.

    `rest` are the outputs, k, the axis, "both", "values" or "indices", and whether the smallest come first.
    """
    *outputs, k, axis, wanted, is_ascend = rest
    length = data.shape[axis]
    chosen = np.take(order(data, axis, is_descending=not is_ascend), range(min(k, length) if k > 0 else length), axis)
    results = {"values": np.take_along_axis(data, chosen, axis), "indices": chosen}
    names = ("values", "indices") if wanted == "both" else (wanted,)
    for out, name in zip(outputs, names, strict=True):
        out[...] = results[name]


def create_view(data: Array, shape: tuple[int, ...], dtype: str, offset_bytes: int) -> Array:
    """Return a tensor in the memory of another."""
    size_bytes = math.prod(shape) * item_bytes(dtype)
    start = data.reshape(-1).view(np.uint8)[offset_bytes : offset_bytes + size_bytes]
    return start.view(dtype).reshape(shape)


def ensure_zero_offset(data: Array) -> Array:
    """Return the tensor itself: here none starts within its memory as far as a kernel can see."""
    return data


def unique(data: Array, *options: Any) -> Any:
    """Return each element once; `options` are those of the operator, where the axis may be left out."""
    is_sorted, has_index, has_inverse, has_counts, *axis = options
    return evaluate_unique((data, is_sorted, has_index, has_inverse, has_counts, axis[0] if axis else None))


def nonzero(data: Array) -> Any:
    """Return the places of the elements that are not zero."""
    return evaluate_nonzero((data,))


TVM_RUNTIME: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "relax.run.nonzero": nonzero,
        "relax.run.unique": unique,
        "runtime.TVMTensorCreateView": create_view,
        "tvm.contrib.sort.argsort": argsort,
        "tvm.contrib.sort.argsort_nms": argsort_nms,
        "tvm.contrib.sort.sort": sort,
        "tvm.contrib.sort.topk": topk,
        "vm.builtin.ensure_zero_offset": ensure_zero_offset,
    }
)
