"""Tensors in TVM's serialised format, as base64: header, device, dtype, sizes, elements."""

import base64
import binascii
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = 0xDD5E40F096B4A13F
MAX_RANK = 32
_HEADER = struct.Struct("<QQiiiBBH")
_KINDS: Mapping[int, str] = MappingProxyType({0: "int", 1: "uint", 2: "float", 6: "bool"})
"""The codes of DLPack; a bfloat16 has no NumPy dtype."""
_BFLOAT = 4


class MalformedTensor(ValueError):
    """The text is not in TVM's format; the message says why."""


class UnknownDtype(MalformedTensor):
    """It is a tensor whose elements have no NumPy dtype."""


def tensor_of_base64(text: str) -> npt.NDArray[Any]:
    """Decode a tensor; the array is never written.

    Raises:
        MalformedTensor: the text is no tensor.
        UnknownDtype: the elements are vectors, or of a float that NumPy lacks. A bfloat16 is read as float32.
    """
    try:
        raw = base64.b64decode(text, validate=True)
        magic, _, _, _, rank, code, bits, lanes = _HEADER.unpack_from(raw)
        if magic != MAGIC or not 0 <= rank <= MAX_RANK:
            raise MalformedTensor("the tensor has a foreign format")
        shape = struct.unpack_from(f"<{rank}q", raw, _HEADER.size)
        data = np.frombuffer(raw, _stored_dtype(code, bits, lanes), _count(shape), _HEADER.size + 8 * (rank + 1))
        data = data.reshape(shape)
    except MalformedTensor:
        raise
    except (binascii.Error, struct.error, ValueError) as error:
        raise MalformedTensor(f"the tensor cannot be read: {error}") from None
    data = _widened(data) if code == _BFLOAT else data.astype(data.dtype.newbyteorder("="))
    data.flags.writeable = False
    return data


def dtype_of_base64(text: str) -> str:
    """Return the dtype that the header of a tensor says, such as "bfloat16", whose elements are read as float32."""
    try:
        _, _, _, _, _, code, bits, _ = _HEADER.unpack_from(base64.b64decode(text[:64]))
    except (binascii.Error, struct.error, ValueError):
        return ""
    return "bfloat16" if (code, bits) == (_BFLOAT, 16) else _dtype_name(code, bits)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _dtype_name(code: int, bits: int) -> str:
    kind = _KINDS.get(code, "")
    return "bool" if kind == "bool" or (kind == "uint" and bits == 1) else f"{kind}{bits}" if kind else ""


def _stored_dtype(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    name = "uint16" if (code, bits) == (_BFLOAT, 16) else _dtype_name(code, bits)
    try:
        return np.dtype(name if lanes == 1 else "").newbyteorder("<")
    except TypeError:
        raise UnknownDtype(f"there is no dtype for code {code}, {bits} bits, {lanes} lanes") from None


def _widened(halves: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return bfloat16 elements, given by their bits, as float32."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def base64_of_tensor(data: npt.NDArray[Any]) -> str:
    """Write a tensor as TVM saves it."""
    kind = data.dtype.name.rstrip("0123456789")
    code = 1 if kind == "bool" else next(code for code, name in _KINDS.items() if name == kind)
    bits = 1 if kind == "bool" else data.dtype.itemsize * 8
    content = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<")).tobytes()
    head = _HEADER.pack(MAGIC, 0, 1, 0, data.ndim, code, bits, 1)
    sizes = struct.pack(f"<{data.ndim + 1}q", *data.shape, len(content))
    return base64.b64encode(head + sizes + content).decode()
