"""Storages: how many bytes they have, and the tensors that lie in them, which share these bytes.

As in TVM's machine, a storage has the bytes that its shape and dtype take, and a tensor lies where its offset says;
tensors of one storage may overlap, with other dtypes too, and each sees what is written through another. What TVM's
machine leaves to chance is refused: it compares with the size that its pool rounded up, takes a small negative offset
for the end of the address space, and makes tensors at offsets that no kernel takes.
"""

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np

from relax_core.ir.prim import bits_of
from relax_core.vm.context import fail
from relax_core.vm.objects.values import Array, ShapeValue, StorageValue, Value, describe, shape_text

POISON: Final = 0xFF
"""Poisoned memory holds this byte everywhere: NaN in every float dtype, -1 or the greatest number, and true."""
_LARGEST: Final = (1 << 63) - 1
_TENSOR_KINDS: Final = "biuf"
_BITS_PER_BYTE: Final = 8


def storage_bytes(shape: Value, dtype: str) -> int:
    """Return the size of a storage for so many elements; elements of less than a byte are packed.

    Raises:
        RunError: VM054, there is no such storage.
    """
    if not isinstance(shape, ShapeValue):
        fail("VM011", f"the size of a storage is a shape, got {describe(shape)}")
    return _size_bytes(shape, dtype)


@lru_cache(1024)
def _size_bytes(shape: ShapeValue, dtype: str) -> int:
    bits = bits_of(dtype)
    if min(shape, default=0) < 0:
        fail("VM054", f"a storage cannot have the size {shape_text(shape)}", "sizes are not negative")
    if not bits:
        fail("VM054", f"elements of {dtype} have no size, so that a storage of {shape_text(shape)} of them has none")
    size_bytes = -(-math.prod(shape) * bits // _BITS_PER_BYTE)
    if size_bytes > _LARGEST:
        fail(
            "VM054", f"a storage of {shape_text(shape)} {dtype} has {size_bytes:,} bytes, more than an int64 can count"
        )
    return size_bytes


@lru_cache
def storable(dtype: str) -> "np.dtype[Any] | None":
    """Return the dtype of tensors in a storage; `None` if their elements do not take whole bytes or NumPy has none."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        return None
    is_known = found.kind in _TENSOR_KINDS or bool(found.isbuiltin != 1 and found.itemsize)
    bits = bits_of(dtype)
    return found if is_known and bits == found.itemsize * _BITS_PER_BYTE else None


def check_place(storage: Value, offset: Value, shape: Value, dtype: str) -> "np.dtype[Any]":
    """See that a tensor lies within a storage, where its elements can be; return its dtype.

    Raises:
        RunError: VM052 if it lies outside, VM053 if an element would begin between two, VM055 for a dtype that cannot
            be stored, VM011 and VM020 for operands of other kinds.
    """
    if not isinstance(storage, StorageValue):
        fail("VM011", f"expected a storage for a tensor, got {describe(storage)}", "allocate it before the tensor")
    if not isinstance(offset, int) or isinstance(offset, bool) or not isinstance(shape, ShapeValue):
        wrong = describe(shape if isinstance(offset, int) else offset)
        fail("VM011", f"a tensor in a storage has an offset and a shape, got {wrong}")
    return _checked_dtype(storage.size_bytes, offset, shape, dtype)


@lru_cache(1024)
def _checked_dtype(size_bytes: int, offset: int, shape: ShapeValue, dtype: str) -> "np.dtype[Any]":
    if min(shape, default=0) < 0:
        fail("VM020", f"a tensor cannot have the shape {shape_text(shape)}")
    found = storable(dtype)
    if found is None:
        fail("VM055", f"a tensor of {dtype} cannot lie in a storage", "its elements do not take whole bytes")
    words = f"a tensor {shape_text(shape)} {dtype}"
    needed = math.prod(shape) * found.itemsize
    room = f"but the storage has {size_bytes:,} bytes"
    if offset < 0:
        fail("VM052", f"{words} would begin {-offset:,} bytes before its storage", "an offset is not negative")
    if offset + needed > size_bytes:
        hint = "give the storage as many bytes as its tensors reach, or correct the offset"
        fail(
            "VM052", f"{words} at byte {offset:,} needs {needed:,} bytes, up to byte {offset + needed:,}, {room}", hint
        )
    if offset % found.itemsize:
        hint = f"an element of {dtype} begins at a multiple of {found.itemsize} bytes, as kernels expect"
        fail("VM053", f"{words} at byte {offset:,} would begin within an element", hint)
    return found


def tensor_in(memory: Array, offset: int, shape: tuple[int, ...], dtype: "np.dtype[Any]") -> Array:
    """Return the tensor that begins at byte `offset` of the bytes `memory` of a storage, and shares them."""
    return np.ndarray(shape, dtype, memory, offset)
