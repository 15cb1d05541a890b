"""The values of a run out of the numbered entries of a file, each checked before anything is made of it."""

import math
import struct
from collections.abc import Sequence
from typing import Any, Final, assert_never

import ml_dtypes
import numpy as np

from relax_core.analysis.device.devices import Device
from relax_core.bytecode.executable import Executable
from relax_core.engine.pipelines.run_files.model import (
    KeptClosure,
    KeptData,
    KeptDevice,
    KeptDType,
    KeptFlag,
    KeptFloat,
    KeptInteger,
    KeptMemory,
    KeptNumber,
    KeptObject,
    KeptReference,
    KeptShape,
    KeptSnapshot,
    KeptState,
    KeptStorage,
    KeptTensor,
    KeptText,
    KeptTuple,
    KeptUnwritten,
    KeptValue,
    KeptVoid,
)
from relax_core.engine.pipelines.run_files.value_table import STATES
from relax_core.engine.pipelines.trace.arrays import dtype_of
from relax_core.vm.objects.placed import PlacedArray
from relax_core.vm.objects.values import (
    AdtValue,
    Array,
    Closure,
    DTypeValue,
    ObjectValue,
    RecordedObject,
    RefValue,
    Sentinel,
    ShapeValue,
    Snapshot,
    StateValue,
    StorageValue,
    Uninitialised,
    Value,
    range_of,
)

_BUILT_IN: Final = frozenset(
    (
        "bool",
        *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
        *(f"float{bits}" for bits in (16, 32, 64)),
    )
)
_OF_ML_DTYPES: Final = frozenset(
    name for name in dir(ml_dtypes) if name.startswith(("bfloat", "float")) or name in ("int4", "uint4")
)
_MOST_AXES: Final = 64
_DIGITS: Final = 4_000


class NonsenseError(ValueError):
    """An entry says what no run can have come to."""


def require(holds: "bool | np.bool_", what: str) -> None:
    """Refuse an entry.

    Raises:
        NonsenseError: it does not hold.
    """
    if not holds:
        raise NonsenseError(what)


def dtype_named(name: str) -> "np.dtype[Any]":
    """Return the dtype of a tensor; others, such as that of Python objects, have none here.

    Raises:
        NonsenseError: there is no such dtype.
    """
    if name in _BUILT_IN:
        return np.dtype(name)
    require(name in _OF_ML_DTYPES, f"no tensor has the dtype {name[:40]}")
    return dtype_of(name)


def shape_bytes(shape: Sequence[int], dtype: "np.dtype[Any]") -> int:
    """Return the size of a tensor.

    Raises:
        NonsenseError: it has no such shape.
    """
    is_shape = len(shape) <= _MOST_AXES and all(0 <= size < 1 << 62 for size in shape)
    require(is_shape, "a tensor has a shape that none can have")
    size = math.prod(size for size in shape if size) * dtype.itemsize
    require(size < 1 << 62, "a tensor has a shape that none can have")
    return 0 if 0 in shape else size


class ValueReader:
    """Makes the values and memories of a run; `column` has the bytes of memories."""

    def __init__(self, executable: Executable, memories: Sequence[KeptMemory], column: Array) -> None:
        self._executable = executable
        self._column = column
        self.roots = tuple(map(self._root, memories))
        self.values: list[Value] = []

    def read(self, entries: Sequence[KeptValue], last_event: int) -> None:
        """Make all values.

        Raises:
            NonsenseError: an entry names what is not there.
        """
        for entry in entries:
            self.values.append(self._made(entry))
        for value, entry in zip(self.values, entries, strict=True):
            if isinstance(entry, KeptReference) and isinstance(value, RefValue):
                require(bool(entry.versions), "a reference holds nothing")
                events = [event for event, _ in entry.versions]
                is_ordered = events == sorted(events) and events[0] >= -1 and events[-1] <= last_event
                require(is_ordered, "the past of a reference is out of order")
                value.versions[:] = [(event, self.at(held)) for event, held in entry.versions]
                is_sound = not entry.is_object or all(isinstance(held, Snapshot) for _, held in value.versions)
                require(is_sound, "an object of the runtime holds something else than its fields")

    def at(self, number: int) -> Value:
        """Return the value of a number that an entry names."""
        require(0 <= number < len(self.values), "a value is named that is not there")
        return self.values[number]

    def root(self, number: int) -> Array:
        """Return a memory."""
        require(0 <= number < len(self.roots), "a memory is named that is not there")
        return self.roots[number]

    def bytes_at(self, offset: int, size: int) -> Array:
        """Return bytes of the column, as a copy."""
        require(0 <= offset <= len(self._column) - size, "bytes are named that are not there")
        return self._column[offset : offset + size].copy()

    def _root(self, kept: KeptMemory) -> Array:
        if kept.constant >= 0:
            pool = self._executable.constants
            found = pool[kept.constant] if kept.constant < len(pool) else None
            if not isinstance(found, np.ndarray):
                raise NonsenseError("a constant is named that is not there")
            _check_fresh(kept, found.nbytes)
            return found
        dtype = dtype_named(kept.dtype)
        content = self.bytes_at(kept.offset, shape_bytes(kept.shape, dtype))
        made: Array = (np.ndarray if kept.device is None else PlacedArray)(kept.shape, dtype)
        if isinstance(made, PlacedArray) and kept.device is not None:
            made.place, made.placed_at = _device(kept.device), kept.device.placed_at
        made.reshape(-1).view(np.uint8)[...] = content
        made.flags.writeable = kept.is_writeable
        _check_fresh(kept, made.nbytes)
        return made

    def _made(self, entry: KeptValue) -> Value:
        match entry:
            case KeptState(name=name):
                return next(state for state in STATES if state.name == name)
            case KeptVoid():
                return None
            case KeptTuple(fields=fields):
                return self._fields(fields)
            case KeptClosure(function=function, name=name, captures=captures):
                require(0 <= function < len(self._executable.functions), "a closure of no function")
                return Closure(function, name, self._fields(captures))
            case KeptData(name=name, number=number, fields=fields):
                return AdtValue(name, number, self._fields(fields))
            case KeptReference(is_object=is_object):
                return StateValue(None) if is_object else RefValue(None)
            case KeptSnapshot(what=what, names=names, fields=fields, words=words):
                require(len(names) == len(fields), "an object of the runtime has fields without names")
                return Snapshot(what, names, self._fields(fields), words)
            case KeptStorage(size_bytes=size_bytes, device=device, memory=memory):
                place = None if device is None else _device(device)
                return StorageValue(size_bytes, place, None if memory < 0 else self._bytes_of(memory))
            case KeptTensor():
                return self._tensor(entry)
            case _:
                return _leaf(entry)

    def _fields(self, numbers: Sequence[int]) -> tuple[Value, ...]:
        found = tuple(self.at(number) for number in numbers)
        require(not any(isinstance(item, Sentinel) for item in found), "a tuple holds what is no value")
        return found

    def _bytes_of(self, number: int) -> Array:
        root = self.root(number)
        require(root.dtype == np.uint8 and root.ndim == 1, "the memory of a storage is no row of bytes")
        return root

    def _tensor(self, entry: KeptTensor) -> Array:
        root = self.root(entry.memory)
        if entry.is_whole:
            return root
        dtype = dtype_named(entry.dtype)
        size = shape_bytes(entry.shape, dtype)
        require(0 <= entry.start <= root.nbytes - size, "a tensor lies beyond the end of its memory")
        view: Array = np.ndarray(entry.shape, dtype, root, entry.start)
        view.flags.writeable = root.flags.writeable
        if entry.device is not None:
            view = view.view(PlacedArray)
            view.place, view.placed_at = _device(entry.device), entry.device.placed_at
        require(size == 0 or range_of(view).memory == id(root), "a tensor lies in no memory")
        return view


def _check_fresh(kept: KeptMemory, size: int) -> None:
    is_inside = all(0 <= low < high <= size for low, high in kept.fresh)
    require(is_inside and 0 <= kept.fill < 1 << 8, "a memory has bytes beyond its end")


def _device(kept: KeptDevice) -> Device:
    return Device(kept.device, kept.index, kept.scope)


def _leaf(
    entry: KeptFlag
    | KeptInteger
    | KeptFloat
    | KeptNumber
    | KeptText
    | KeptShape
    | KeptDType
    | KeptObject
    | KeptUnwritten,
) -> Value:
    match entry:
        case KeptFlag(value=value):
            return value
        case KeptInteger(digits=digits):
            require(len(digits) <= _DIGITS and digits.removeprefix("-").isdecimal(), "an integer is none")
            return int(digits)
        case KeptFloat(bits=bits):
            return struct.unpack(">d", _bytes(bits, 8))[0]
        case KeptNumber(dtype=name, content=content):
            dtype = dtype_named(name)
            return np.frombuffer(_bytes(content, dtype.itemsize), dtype)[0]
        case KeptText(text=text, is_escaped=is_escaped):
            return _unescaped(text) if is_escaped else text
        case KeptShape(sizes=sizes):
            return ShapeValue(sizes)
        case KeptDType(name=name):
            return DTypeValue(name)
        case KeptObject(what=what):
            return ObjectValue(RecordedObject(what))
        case KeptUnwritten(shape=shape, dtype=dtype):
            shape_bytes(shape, dtype_named(dtype))
            return Uninitialised(shape, dtype)
        case _:
            assert_never(entry)


def _bytes(text: str, count: int) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    require(len(found) == count, "a number has other bytes than its dtype")
    return found


def _unescaped(text: str) -> str:
    try:
        return text.encode("ascii").decode("unicode_escape")
    except UnicodeError:
        raise NonsenseError("a string has escapes that cannot be read") from None
