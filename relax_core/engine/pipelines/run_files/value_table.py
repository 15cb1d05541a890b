"""The values of a run as numbered entries of a file: each object once, and memory once however many tensors see it."""

import struct
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from relax_core.analysis.device.devices import Device
from relax_core.bytecode.executable import PoolConstant
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
from relax_core.vm.objects.placed import PlacedArray
from relax_core.vm.objects.values import (
    MACHINE,
    NOT_KEPT,
    UNWRITTEN,
    AdtValue,
    Array,
    Closure,
    DTypeValue,
    ObjectValue,
    RefValue,
    Sentinel,
    ShapeValue,
    Snapshot,
    StateValue,
    StorageValue,
    Uninitialised,
    Value,
    class_of_object,
    fields_of,
    root_of,
)
from relax_core.vm.recording.recorder import NO_WRITE, MemoryLog

STATES: Final = (UNWRITTEN, NOT_KEPT, MACHINE, NO_WRITE)


class ByteColumn:
    """Bytes behind one another."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._size = 0

    def add(self, array: Array) -> int:
        """Add the bytes of an array and return where they begin."""
        part: Array = np.frombuffer(array.tobytes(), np.uint8)
        offset = self._size
        self._parts.append(part)
        self._size += len(part)
        return offset

    def whole(self) -> Array:
        """Return all bytes."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, np.uint8)


class ValueTable:
    """Numbers values and memories in the order in which they are met."""

    def __init__(self, constants: Iterable[PoolConstant], memories: Iterable[MemoryLog], column: ByteColumn) -> None:
        self._values: list[KeptValue] = []
        self._memories: list[KeptMemory] = []
        self._constant_of = {id(item): at for at, item in enumerate(constants) if isinstance(item, np.ndarray)}
        self._log_of = {id(log.root): log for log in memories}
        self._column = column
        self._number_of: dict[object, int] = {}
        self._memory_of: dict[int, int] = {}
        # An identity stays that of its object only as long as somebody holds it.
        self._held: list[object] = []

    @property
    def values(self) -> tuple[KeptValue, ...]:
        """The entries so far."""
        return tuple(self._values)

    @property
    def memories(self) -> tuple[KeptMemory, ...]:
        """The memories so far."""
        return tuple(self._memories)

    def number(self, value: Value) -> int:
        """Return the number of a value; what it holds has numbers behind."""
        known = self._number_of.get(_key(value))
        if known is not None:
            return known
        references: list[tuple[int, RefValue]] = []
        stack: list[Value] = [value]
        while stack:
            item = stack[-1]
            if _key(item) in self._number_of:
                stack.pop()
                continue
            if isinstance(item, RefValue):
                stack.pop()
                references.append((self._add(item, KeptReference((), isinstance(item, StateValue))), item))
                stack += [held for _, held in item.versions]
                continue
            missing = [field for field in fields_of(item, into_captures=True) if _key(field) not in self._number_of]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._add(item, self._kept(item))
        for at, reference in references:
            versions = tuple((event, self._number_of[_key(held)]) for event, held in reference.versions)
            self._values[at] = KeptReference(versions, isinstance(reference, StateValue))
        return self._number_of[_key(value)]

    def memory(self, root: Array) -> int:
        """Return the number of the memory that an array owns."""
        known = self._memory_of.get(id(root))
        if known is not None:
            return known
        constant, log = self._constant_of.get(id(root), -1), self._log_of.get(id(root))
        made = KeptMemory(
            tuple(map(int, root.shape)),
            root.dtype.name,
            self._column.add(root) if constant < 0 else 0,
            constant,
            _device_of(root),
            root.flags.writeable,
            log is not None,
            log.fresh if log is not None else (),
            log.fill if log is not None else 0,
            log.uses if log is not None else 0,
        )
        self._held.append(root)
        self._memory_of[id(root)] = len(self._memories)
        self._memories.append(made)
        return self._memory_of[id(root)]

    def _add(self, value: Value, kept: KeptValue) -> int:
        number = len(self._values)
        self._values.append(kept)
        self._held.append(value)
        self._number_of[_key(value)] = number
        return number

    def _numbers(self, value: Value) -> tuple[int, ...]:
        return tuple(self._number_of[_key(item)] for item in fields_of(value, into_captures=True))

    def _kept(self, value: Value) -> KeptValue:
        match value:
            case np.ndarray():
                return self._tensor(value)
            case Closure(function=function, name=name):
                return KeptClosure(function, name, self._numbers(value))
            case AdtValue(name=name, tag=tag):
                return KeptData(name, tag, self._numbers(value))
            case Snapshot(kind=kind, names=names, words=words):
                return KeptSnapshot(kind, names, self._numbers(value), words)
            case StorageValue(size_bytes=size_bytes, device=device, memory=memory):
                place = None if device is None else KeptDevice(device.kind, device.index, device.scope)
                return KeptStorage(size_bytes, place, -1 if memory is None else self.memory(root_of(memory)))
            case ShapeValue():
                return KeptShape(tuple(map(int, value)))
            case tuple():
                return KeptTuple(self._numbers(value))
            case _:
                return _leaf(value)

    def _tensor(self, array: Array) -> KeptValue:
        root = root_of(array)
        if array is root:
            return KeptTensor(self.memory(root), is_whole=True)
        start = array.ctypes.data - root.ctypes.data if array.nbytes else 0
        shape = tuple(map(int, array.shape))
        return KeptTensor(self.memory(root), start, shape, array.dtype.name, _device_of(array))


def _key(value: Value) -> object:
    """Return what is equal for one object, or for scalars with the same bits."""
    match value:
        case np.generic():
            # A number of NumPy may be a float of Python as well.
            return id(value)
        case bool() | int() | str():
            return type(value), value
        case float():
            return float, struct.pack(">d", value)
        case _:
            return id(value)


def _leaf(value: Value) -> KeptValue:
    match value:
        case bool():
            return KeptFlag(value)
        case np.generic():
            return KeptNumber(value.dtype.name, value.tobytes().hex())
        case int():
            return KeptInteger(str(value))
        case float():
            return KeptFloat(struct.pack(">d", value).hex())
        case str():
            return _text(value)
        case DTypeValue(name=name):
            return KeptDType(name)
        case Uninitialised(shape=shape, dtype=dtype):
            return KeptUnwritten(tuple(map(int, shape)), dtype)
        case Sentinel():
            names: dict[str, Any] = {state.name: state.name for state in STATES}
            return KeptState(names[value.name])
        case None:
            return KeptVoid()
        case _:
            return KeptObject(class_of_object(value) if isinstance(value, ObjectValue) else type(value).__name__)


def _text(text: str) -> KeptText:
    try:
        text.encode()
    except UnicodeEncodeError:
        return KeptText(text.encode("unicode_escape").decode("ascii"), is_escaped=True)
    return KeptText(text)


def _device_of(array: Array) -> KeptDevice | None:
    if not isinstance(array, PlacedArray) or not isinstance(array.place, Device):
        return None
    return KeptDevice(array.place.kind, array.place.index, array.place.scope, array.placed_at)
