"""Run-time values: what a register holds, what kind it is, and how the program prints it.

A tensor is an `np.ndarray` (C-contiguous), a shape a `ShapeValue`, a tuple a Python tuple, a scalar on the host a
`bool`, `int`, `float` or `np.generic`, a string a `str`, void `None`. Everything else has a class of its own here or
is an `ObjectValue`. All but tensors and references are immutable.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.analysis.device.devices import Device

Array: TypeAlias = npt.NDArray[Any]
Number: TypeAlias = "bool | int | float | np.generic[Any]"

ValueKind = Literal[
    "tensor",
    "tensor0",
    "shape",
    "tuple",
    "closure",
    "adt",
    "reference",
    "state",
    "prim",
    "dtype",
    "string",
    "object",
    "storage",
    "machine",
    "void",
    "unwritten",
    "not kept",
]


class ShapeValue(tuple[int, ...]):
    """A shape as a value; equal to the tuple of its dimensions."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class DTypeValue:
    """A dtype as a value."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function value: an entry of the function table, and the captures that are appended to a call's arguments.

    `function` and `captures` are for the debugger; the program sees and prints `<closure>` only.
    """

    function: int
    name: str
    captures: "tuple[Value, ...]" = ()

    def __repr__(self) -> str:
        return "<closure>"


@dataclass(frozen=True, slots=True, eq=False)
class AdtValue:
    """A value of an algebraic data type: its constructor by name and by number in the type, and the fields."""

    name: str
    tag: int
    fields: "tuple[Value, ...]" = ()

    def __repr__(self) -> str:
        return show(self)


class RefValue:
    """A mutable reference with its past: what it holds from which event on, the oldest first."""

    __slots__ = ("versions",)

    def __init__(self, value: "Value", event: int = -1) -> None:
        self.versions: list[tuple[int, Value]] = [(event, value)]

    @property
    def value(self) -> "Value":
        """What it holds at the end of the run, or by now."""
        return self.versions[-1][1]

    def write(self, value: "Value", event: int | None = None) -> None:
        """Let it hold `value` from behind `event` on; without one the past is forgotten."""
        if event is None:
            self.versions[:] = [(-1, value)]
        else:
            self.versions.append((event, value))

    def past(self, event: int) -> "Value":
        """Return what it held before `event`."""
        return next((value for written, value in reversed(self.versions) if written < event), self.versions[0][1])

    def like(self, value: "Value") -> "RefValue":
        """Return a reference of the same kind that holds `value` and has no past."""
        return RefValue(value)

    def __repr__(self) -> str:
        return "<reference>"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What an object of the runtime holds at one time: values by name. `words` says it in short."""

    kind: str
    names: "tuple[str, ...]"
    fields: "tuple[Value, ...]"
    words: str = ""

    def __getitem__(self, name: str) -> Any:
        """Return the value of a field."""
        return self.fields[self.names.index(name)]

    def with_field(self, name: str, value: "Value") -> "Snapshot":
        """Return it with another value in a field, which is added behind the others if it is not there."""
        if name not in self.names:
            return Snapshot(self.kind, (*self.names, name), (*self.fields, value), self.words)
        at = self.names.index(name)
        return Snapshot(self.kind, self.names, (*self.fields[:at], value, *self.fields[at + 1 :]), self.words)

    def without(self, name: str) -> "Snapshot":
        """Return it without a field."""
        at = self.names.index(name)
        names, fields = (*self.names[:at], *self.names[at + 1 :]), (*self.fields[:at], *self.fields[at + 1 :])
        return Snapshot(self.kind, names, fields, self.words)


class StateValue(RefValue):
    """An object of the runtime that changes in place, such as a KV cache; it holds a `Snapshot`.

    A snapshot is never changed, so that every time of the past can be shown.
    """

    __slots__ = ()

    @property
    def snapshot(self) -> Snapshot:
        """What it holds by now."""
        held = self.value
        assert isinstance(held, Snapshot), "a state holds snapshots only"
        return held

    def like(self, value: "Value") -> "StateValue":
        """Return a state that holds `value` and has no past."""
        return StateValue(value)

    def __repr__(self) -> str:
        return f"<{self.snapshot.kind}>"


@dataclass(slots=True, eq=False)
class StorageValue:
    """Room for tensors on a device, the default one if it names none. The tensors in it share its bytes.

    The bytes are there from its first tensor on. Generated code makes none for a storage of a single tensor, which has
    memory of its own.
    """

    size_bytes: int
    device: Device | None = None
    memory: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ObjectValue:
    """An object of the host that the machine hands around and does not look into."""

    content: object


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """What stands for an object of the host in a run that was read from a file: the name of its class."""

    class_name: str


def class_of_object(value: ObjectValue) -> str:
    """Return the name of the class of an object of the host."""
    content = value.content
    return content.class_name if isinstance(content, RecordedObject) else type(content).__name__


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A state of a register that is not a value."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True)
class Uninitialised:
    """A tensor at a time before anything was written to it."""

    shape: tuple[int, ...]
    dtype: str


Plain: TypeAlias = ShapeValue | DTypeValue | StorageValue | ObjectValue | Uninitialised | Sentinel | None
Value: TypeAlias = "Array | Number | str | tuple[Value, ...] | Closure | AdtValue | RefValue | Snapshot | Plain"

_SHOWN_LENGTH: Final = 1 << 20
UNWRITTEN: Final = Sentinel("unwritten")
NOT_KEPT: Final = Sentinel("not kept")
MACHINE: Final = Sentinel("machine")


def kind_of(value: Value) -> ValueKind:
    """Tell the kind of a value; `tensor0` is a tensor of rank 0."""
    match value:
        case np.ndarray():
            return "tensor" if value.ndim else "tensor0"
        case bool() | int() | float() | np.generic():
            return "prim"
        case str():
            return "string"
        case ShapeValue():
            return "shape"
        case tuple():
            return "tuple"
        case Closure():
            return "closure"
        case AdtValue():
            return "adt"
        case RefValue() | Snapshot():
            return "state" if isinstance(value, StateValue | Snapshot) else "reference"
        case DTypeValue():
            return "dtype"
        case StorageValue():
            return "storage"
        case Uninitialised():
            return "unwritten"
        case Sentinel():
            return _state_kind(value)
        case None:
            return "void"
        case ObjectValue():
            return "object"


def _state_kind(state: Sentinel) -> ValueKind:
    if state is NOT_KEPT:
        return "not kept"
    if state is MACHINE:
        return "machine"
    return "unwritten"


def dtype_name(value: Value) -> str:
    """Return the dtype of a tensor or scalar, the empty string for other values."""
    match value:
        case np.ndarray() | np.generic():
            return str(value.dtype)
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case Uninitialised(dtype=dtype):
            return dtype
        case _:
            return ""


def describe(value: Value) -> str:
    """Say in a message what a value is, such as `tensor (2, 3) float32`."""
    match value:
        case np.ndarray():
            return f"tensor {shape_text(value.shape)} {value.dtype}"
        case bool() | int() | float() | np.generic():
            return f"scalar {value} {dtype_name(value)}"
        case ShapeValue():
            return f"shape {shape_text(value)}"
        case str():
            return f"string {value!r}"
        case tuple():
            return f"tuple of {len(value)}"
        case DTypeValue(name=name):
            return f"dtype {name}"
        case Closure():
            return "closure"
        case AdtValue(name=name):
            return f"value {name}"
        case RefValue() | Snapshot():
            held = value.value if isinstance(value, RefValue) else value
            return ", ".join(filter(None, (held.kind, held.words))) if isinstance(held, Snapshot) else "reference"
        case Uninitialised(shape=shape, dtype=dtype):
            return f"uninitialised tensor {shape_text(shape)} {dtype}"
        case None:
            return "void"
        case Sentinel(name=name):
            return name
        case StorageValue(size_bytes=size_bytes):
            return f"storage of {size_bytes} bytes"
        case ObjectValue():
            return f"object {class_of_object(value)}"


def show(value: Value) -> str:
    """Return the text that the program prints for a value, `Cons(1, Nil)` for data. A closure is opaque: `<closure>`.

    Tuples that share fields can be large beyond measure; the text ends with `…` when it is too long.
    """
    pieces: list[str] = []
    length = 0
    stack: list[Value | _Text] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, AdtValue) and item.fields:
            stack += (item.fields, _Text(item.name))
            if len(item.fields) == 1:
                stack[-2:] = (_Text(")"), item.fields[0], _Text(f"{item.name}("))
            continue
        if isinstance(item, tuple) and not isinstance(item, ShapeValue):
            stack.append(_Text(",)" if len(item) == 1 else ")"))
            for index in range(len(item) - 1, -1, -1):
                stack += (item[index], _Text(", ")) if index else (item[index],)
            item = _Text("(")
        piece = item.text if isinstance(item, _Text) else _show_leaf(item)
        pieces.append(piece)
        length += len(piece)
        if length > _SHOWN_LENGTH:
            return "".join(pieces) + "…"
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


def _show_leaf(value: Value) -> str:
    match value:
        case ShapeValue():
            return shape_text(value)
        case DTypeValue(name=name):
            return name
        case Closure():
            return "<closure>"
        case AdtValue(name=name):
            return name
        case StateValue(snapshot=held) | (Snapshot() as held):
            return f"<{held.kind}>"
        case RefValue():
            return "<reference>"
        case Uninitialised():
            return "uninitialised"
        case None:
            return "()"
        case Sentinel(name=name):
            return f"<{name}>"
        case StorageValue():
            return "<storage>"
        case ObjectValue():
            return "<object>"
        case _:
            return str(value)


def shape_text(shape: tuple[int, ...]) -> str:
    """Print dimensions as a Python tuple."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def no_memory(shape: tuple[int, ...], dtype: str) -> str:
    """Say that the host has no memory for a tensor."""
    return f"there is no memory for a tensor {shape_text(shape)} {dtype}"


def arrays_in(*values: Value, into_data: bool = True) -> Iterator[Array]:
    """Yield every tensor that can be reached from `values` through tuples and captures; every tuple is entered once.

    Data such as lists can be long, and most of a list was there before: `into_data` says whether it is entered.
    """
    return (item for item in _reached(values, into_data=into_data) if isinstance(item, np.ndarray))


def storages_in(*values: Value) -> Iterator[StorageValue]:
    """Yield every storage that can be reached from `values`, but for those of which only tensors are left."""
    return (item for item in _reached(values, into_data=True) if isinstance(item, StorageValue))


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes from `start` to `stop`, exclusive, of the memory that the array of this identity owns.

    A reference, which has no bytes, is one byte of its own identity.
    """

    memory: int
    start: int
    stop: int

    def overlaps(self, other: "ByteRange") -> bool:
        """Tell whether they share a byte."""
        return self.memory == other.memory and self.start < other.stop and other.start < self.stop

    def covers(self, other: "ByteRange") -> bool:
        """Tell whether all bytes of `other` are among these."""
        return self.memory == other.memory and self.start <= other.start and other.stop <= self.stop


def range_of(array: Array) -> ByteRange:
    """Return the bytes that a contiguous tensor takes of the memory that it lies in."""
    root = root_of(array)
    start = array.ctypes.data - root.ctypes.data if array is not root else 0
    return ByteRange(id(root), start, start + array.nbytes)


def ranges_in(value: Value) -> Iterator[ByteRange]:
    """Yield what may change in `value` outside of data: the bytes of tensors, and references."""
    for item in _reached((value,), into_data=False):
        if isinstance(item, np.ndarray):
            yield range_of(item)
        elif isinstance(item, RefValue):
            yield ByteRange(id(item), 0, 1)


def _reached(values: tuple[Value, ...], *, into_data: bool) -> Iterator[Array | RefValue | StorageValue]:
    stack: list[Value] = list(reversed(values))
    entered: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, np.ndarray | StorageValue):
            yield item
        elif id(item) not in entered:
            is_data = isinstance(item, AdtValue | RefValue)
            if isinstance(item, RefValue):
                yield item
            fields = (item.value,) if isinstance(item, RefValue) else fields_of(item, into_captures=True)
            if fields:
                entered.add(id(item))
                stack.extend(reversed(fields) if into_data or not is_data else ())


def map_leaves(value: Value, leaf: Callable[[Value], Any], *, into_captures: bool) -> Any:
    """Return `value` with `leaf` applied to what is no tuple and no data; the same object if nothing changed.

    Without recursion, and once per object: a program can nest tuples and closures deeply, and share them.
    """
    results: dict[int, Any] = {}
    stack: list[tuple[Value, bool]] = [(value, False)]
    while stack:
        item, is_ready = stack.pop()
        if id(item) in results:
            continue
        fields = fields_of(item, into_captures=into_captures)
        if not fields:
            results[id(item)] = leaf(item)
        elif not is_ready:
            stack.append((item, True))
            stack.extend((field, False) for field in fields)
        else:
            mapped = tuple(results[id(field)] for field in fields)
            is_same = all(new is old for new, old in zip(mapped, fields, strict=True))
            results[id(item)] = item if is_same else _with_fields(item, mapped)
    return results[id(value)]


def fields_of(value: Value, *, into_captures: bool) -> tuple[Value, ...]:
    """Return what a tuple, data, a snapshot or, with `into_captures`, a closure holds."""
    if isinstance(value, tuple) and not isinstance(value, ShapeValue):
        return value
    if isinstance(value, AdtValue | Snapshot):
        return value.fields
    return value.captures if into_captures and isinstance(value, Closure) else ()


def _with_fields(value: Value, fields: tuple[Any, ...]) -> Any:
    match value:
        case Closure(function=function, name=name):
            return Closure(function, name, fields)
        case AdtValue(name=name, tag=tag):
            return AdtValue(name, tag, fields)
        case Snapshot(kind=kind, names=names, words=words):
            return Snapshot(kind, names, fields, words)
        case _:
            return fields


@lru_cache
def item_bytes(dtype: str) -> int:
    """Return the size of an element."""
    return np.dtype(dtype).itemsize


def root_of(array: Array) -> Array:
    """Return the array that owns the memory of `array`, or the outermost one that NumPy knows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
