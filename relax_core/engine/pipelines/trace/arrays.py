"""Arrays of a trace: their digests, and dtypes that .npy lacks."""

import hashlib
import io
from typing import Any, Final

import ml_dtypes
import numpy as np

from relax_core.diagnostics import RunError
from relax_core.engine.npy import read_npy
from relax_core.engine.pipelines.entries import Entry, Room, fail, shown
from relax_core.engine.pipelines.pipeline import Array
from relax_core.engine.pipelines.trace.events import ArrayValue

_DIGEST_LENGTH: Final = 32


def digest_of(content: bytes) -> str:
    """Return the name under which a text is kept."""
    return hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]


def array_digest(array: Array) -> str:
    """Return the name under which an array is kept: of its dtype, its shape and its elements in row-major order."""
    head = f"{array.dtype.name} {','.join(map(str, array.shape))} ".encode()
    return digest_of(head + np.ascontiguousarray(array).tobytes())


def array_value(array: Array) -> ArrayValue:
    """Return what an event says of an array that is kept."""
    return ArrayValue(array_digest(array), tuple(map(int, array.shape)), array.dtype.name)


def array_bytes(array: Array) -> bytes:
    """Return an array as .npy; one of a dtype of `ml_dtypes` as unsigned integers of its size."""
    stored = np.ascontiguousarray(array).reshape(array.shape)
    if stored.dtype.kind == "V" or not stored.dtype.isbuiltin:
        stored = stored.view(f"u{stored.dtype.itemsize}")
    buffer = io.BytesIO()
    np.save(buffer, stored, allow_pickle=False)
    return buffer.getvalue()


def read_array(value: ArrayValue, entry: Entry, room: Room) -> Array:
    """Read an array and hold it against what the event says of it.

    Raises:
        CompileError: PL002 if there is no room for it, PL003 if it is damaged or another one.
    """
    content = entry.read(room.array_bytes + 1)
    room.array_bytes -= len(content)
    if room.array_bytes < 0:
        fail("PL002", f"the arrays up to {shown(entry.name)} are too large to be read together")
    try:
        array: Array = read_npy(content)
        dtype: np.dtype[Any] = dtype_of(value.dtype)
    except RunError as error:
        fail("PL003", f"{shown(entry.name)}: {error.diagnostics[0].message}")
    except (TypeError, ValueError, AttributeError):
        fail("PL005", f"{shown(entry.name)} has a dtype that is not known: {shown(value.dtype)}")
    is_stored_so = array.dtype == dtype or (array.dtype == f"u{dtype.itemsize}" and dtype.kind == "V")
    if not is_stored_so or array.shape != value.shape:
        found = f"an array of {array.dtype.name} with the shape {array.shape}"
        fail("PL003", f"{shown(entry.name)} is {found}, not the one that the trace tells of")
    array = array.view(dtype)
    if array_digest(array) != value.array:
        fail("PL003", f"{shown(entry.name)} holds other numbers than when it was recorded")
    array.flags.writeable = False
    return array


def dtype_of(name: str) -> "np.dtype[Any]":
    """Return the dtype with a name of NumPy or `ml_dtypes`.

    Raises:
        TypeError, AttributeError: there is none.
    """
    try:
        return np.dtype(name)
    except TypeError:
        return np.dtype(getattr(ml_dtypes, name))
