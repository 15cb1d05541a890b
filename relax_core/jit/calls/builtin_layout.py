"""Where CPython, NumPy and ctypes keep what a builtin of `builtin.ll` reads, and the addresses of what it calls.

The places are no promise of these libraries, so they are compared on known objects before they are relied on.
"""

import ctypes
import platform
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

# Positions in NumPy's table of functions, which never change.
_ARRAY_TYPE, _NEW_FROM_DESCR, _ZEROS, _SET_BASE, _TABLE_LENGTH = 2, 94, 183, 282, 300

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400

_CALLED = (
    "PyObject_Vectorcall",
    "PyObject_CallNoArgs",
    "PyObject_CallFunction",
    "PyLong_AsLongLongAndOverflow",
    "PyErr_NoMemory",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "Py_IncRef",
    "Py_DecRef",
)

_GET_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
_GET_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


class _Array(ctypes.Structure):
    """What `%Array` of `builtin.ll` declares."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("type", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("base", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
        ("flags", ctypes.c_int32),
    )


class _Structure(ctypes.Structure):
    """What `%Structure` of `builtin.ll` declares: itself a ctypes structure."""

    _fields_ = (("count", ctypes.c_int64), ("type", ctypes.c_void_p), ("memory", ctypes.c_void_p))


class _Float(ctypes.Structure):
    """What `%Float` of `builtin.ll` declares."""

    _fields_ = (("count", ctypes.c_int64), ("type", ctypes.c_void_p), ("value", ctypes.c_double))


@lru_cache(1)
def symbols() -> Mapping[str, int] | None:
    """Return the addresses that `builtin.ll` leaves open, or `None` if a builtin cannot be trusted here."""
    if platform.python_implementation() != "CPython" or struct.calcsize("P") != ctypes.sizeof(ctypes.c_int64):
        return None
    table = _array_functions()
    if table is None or not all(_is_read_right(array) for array in _known_arrays()):
        return None
    known = _Structure()
    number = 1.5
    if _Structure.from_address(id(known)).memory != ctypes.addressof(known):
        return None
    if _Float.from_address(id(number)).value != number:
        return None
    types = {"int_type": int, "float_type": float, "array_type": np.ndarray, "byte_descr": np.dtype("uint8")}
    objects: dict[str, object] = {**types, "false": False, "none": None}
    called = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _CALLED}
    return {
        **{name: id(item) for name, item in objects.items()},
        **called,
        "new_array": table[_NEW_FROM_DESCR],
        "zero_array": table[_ZEROS],
        "set_base": table[_SET_BASE],
    }


def _array_functions() -> tuple[int, ...] | None:
    """Return NumPy's table of C functions, if it is where NumPy 2 has it."""
    core = cast("Any", getattr(np, "_core", None))
    capsule = getattr(getattr(core, "multiarray", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    get_name = _GET_NAME(("PyCapsule_GetName", ctypes.pythonapi))
    get_pointer = _GET_POINTER(("PyCapsule_GetPointer", ctypes.pythonapi))
    address = get_pointer(capsule, get_name(capsule))
    table = tuple(item or 0 for item in (ctypes.c_void_p * _TABLE_LENGTH).from_address(address))
    return table if table[_ARRAY_TYPE] == id(np.ndarray) and table[_NEW_FROM_DESCR] and table[_ZEROS] else None


def _known_arrays() -> Iterator[np.ndarray[Any, Any]]:
    plain = np.arange(24, dtype="float32").reshape(2, 3, 4)
    yield from (plain, plain[:, ::2], plain.astype("int8"), np.array(1, "bool"), np.zeros((0, 5)))
    fixed = np.ones(3, "int64")
    fixed.flags.writeable = False
    yield fixed


def _is_read_right(array: np.ndarray[Any, Any]) -> bool:
    read = _Array.from_address(id(array))
    flags = array.flags
    told = C_CONTIGUOUS * flags.c_contiguous | ALIGNED * flags.aligned | WRITEABLE * flags.writeable
    return (
        read.type == id(np.ndarray)
        and read.data == array.ctypes.data
        and read.rank == array.ndim
        and tuple(read.dims[: array.ndim]) == array.shape
        and tuple(read.strides[: array.ndim]) == array.strides
        and read.descr == id(array.dtype)
        and read.flags & (C_CONTIGUOUS | ALIGNED | WRITEABLE) == told
    )
