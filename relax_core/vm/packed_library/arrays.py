"""What the library's functions share: dtypes that meet, axes, and results that go into a given tensor."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from relax_core.vm.objects.values import Array

Scalar: TypeAlias = bool | int | float


class ArgumentError(ValueError):
    """The arguments of a packed function do not fit each other; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call by the names of the schema; their types were checked against it."""

    value_of: Mapping[str, Any]

    def tensor(self, name: str) -> Array:
        """Return a tensor."""
        return cast("Array", self.value_of[name])

    def optional_tensor(self, name: str) -> Array | None:
        """Return a tensor, or `None`."""
        return cast("Array | None", self.value_of[name])

    def tensors(self, name: str) -> tuple[Array, ...]:
        """Return a list of tensors."""
        return cast("tuple[Array, ...]", self.value_of[name])

    def number(self, name: str) -> Scalar:
        """Return a Scalar."""
        return cast("Scalar", self.value_of[name])

    def optional_number(self, name: str) -> Scalar | None:
        """Return a Scalar, or `None`."""
        return cast("Scalar | None", self.value_of[name])

    def integer(self, name: str) -> int:
        """Return an int."""
        return cast("int", self.value_of[name])

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a list of ints, the empty one for none."""
        return cast("tuple[int, ...]", self.value_of[name] or ())

    def flag(self, name: str) -> bool:
        """Return a truth value."""
        return cast("bool", self.value_of[name])

    def flags(self, name: str) -> tuple[bool, ...]:
        """Return a list of truth values."""
        return cast("tuple[bool, ...]", self.value_of[name])

    def text(self, name: str) -> str:
        """Return a string."""
        return cast("str", self.value_of[name])

    def dtype(self) -> str | None:
        """Return the name of the dtype that is asked for."""
        return cast("str | None", self.value_of["dtype"])

    def axes(self, array: Array) -> tuple[int, ...]:
        """Return the axes `dim` from 0; none or an empty list stands for all."""
        rank = array.ndim
        return tuple(axis % rank for axis in self.integers("dim") if rank) or tuple(range(rank))


def promoted(*given: Array | Scalar) -> np.dtype[Any]:
    """Return the dtype in which arrays and scalars meet.

    Floats go before integers, and integers before bool; within a kind, arrays with axes go before arrays of rank 0,
    and these before scalars. A scalar float among integers gives float32.

    See: pytorch/c10/core/ScalarType.h, pytorch/aten/src/ATen/native/TypeProperties.cpp
    """
    ranked: list[tuple[int, int, np.dtype[Any]]] = []
    for item in given:
        if isinstance(item, np.ndarray):
            ranked.append((_kind(item.dtype), 2 if item.ndim else 1, item.dtype))
        else:
            dtype = "bool" if isinstance(item, bool) else "int64" if isinstance(item, int) else "float32"
            ranked.append((_kind(np.dtype(dtype)), 0, np.dtype(dtype)))
    kind = max(item[0] for item in ranked)
    weight = max(item[1] for item in ranked if item[0] == kind)
    return np.result_type(*(dtype for *key, dtype in ranked if key == [kind, weight]))


def _kind(dtype: np.dtype[Any]) -> int:
    return 0 if dtype.kind == "b" else 1 if dtype.kind in "iu" else 2


def fitting(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    """Return a scalar that a tensor of `dtype` can hold; a float is cut off for integers.

    Raises:
        ArgumentError: an integer dtype cannot hold the value.
    """
    if dtype.kind not in "iu":
        return value
    bounds = np.iinfo(dtype)
    if not math.isfinite(value) or not int(bounds.min) <= int(value) <= int(bounds.max):
        raise ArgumentError(f"a tensor of {dtype} cannot hold {value}")
    return int(value)


def is_float(array: Array) -> bool:
    """Tell whether the elements are floating-point numbers."""
    return _kind(array.dtype) == 2


def need_float(array: Array, what: str) -> None:
    """Refuse integers where PyTorch has no implementation for them."""
    if not is_float(array):
        raise ArgumentError(f"{what} is a tensor of floating-point numbers, got {array.dtype}")


def write(out: Array, value: Array, name: str = "out") -> None:
    """Put a result into the tensor that was given for it."""
    if out.shape != value.shape:
        raise ArgumentError(f"the result has the shape {value.shape}, {name} has the shape {out.shape}")
    if _kind(value.dtype) > _kind(out.dtype):
        raise ArgumentError(f"a result of {value.dtype} does not go into {name} of {out.dtype}")
    out[...] = value.astype(out.dtype)


def cast_to(array: Array, dtype: str | None) -> Array:
    """Return an array in another dtype, the same one if none is named."""
    return array if dtype is None else array.astype(dtype)


def broadcast_shape(*arrays: Array) -> tuple[int, ...]:
    """Return the shape to which arrays are broadcast."""
    try:
        return np.broadcast_shapes(*(item.shape for item in arrays))
    except ValueError:
        shapes = ", ".join(str(item.shape) for item in arrays)
        raise ArgumentError(f"the shapes {shapes} cannot be broadcast") from None


def wide(array: Array) -> Array:
    """Return float16 and bfloat16 in float32, in which PyTorch computes with them; others as they are."""
    return array.astype(np.float32) if is_float(array) and array.dtype.itemsize < 4 else array
