"""Run-time values as view models: each distinct value once, as it was at a time."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from relax_core.analysis.device.devices import HOST
from relax_core.analysis.device.virtual_devices import device_table
from relax_core.diagnostics import plural
from relax_core.present.measures import bytes_text, cut
from relax_core.present.models import Kind
from relax_core.present.regions.target_marks import category_of
from relax_core.present.running.run_models import Capture, Closure, Field, Value
from relax_core.present.running.tensor import number, short_text, tensor_model
from relax_core.present.words import dtype_text
from relax_core.vm.objects.nested import memories_near
from relax_core.vm.objects.values import (
    NOT_KEPT,
    AdtValue,
    DTypeValue,
    RefValue,
    ShapeValue,
    Snapshot,
    StateValue,
    StorageValue,
    Uninitialised,
    dtype_name,
    kind_of,
    root_of,
    shape_text,
    show,
)
from relax_core.vm.objects.values import Closure as ClosureValue
from relax_core.vm.objects.values import Value as RunValue
from relax_core.vm.recording.copies import device_of_value
from relax_core.vm.recording.trace import Trace

_LONG_LIMIT = 4_000
_FIELD_LIMIT = 200
_DEPTH_LIMIT = 20
_WITHOUT_MEMORY: Final = frozenset((int, bool, float, str, type(None), ShapeValue, StorageValue))
SHOWN_LEVELS = _DEPTH_LIMIT + 1
"""So deep a change can be seen in what is shown of a value."""
_FAR = "written long before this part of the run: step back to it to see it"

Where = Callable[[Any], str]
"""Names the register that holds an object at the time of interest, such as `main %0`; empty if none does."""


class Values:
    """The table of values of a run; `index` gives the place of a value and adds it if needed."""

    def __init__(self, trace: Trace, line_of_function: Callable[[int], int]) -> None:
        self.table: list[Value] = []
        self._trace = trace
        self._line_of_function = line_of_function
        self._place: dict[Any, int] = {}
        self._equal: dict[Value, int] = {}
        self._kept: list[Any] = []
        self._devices = [str(device) for device in device_table(trace.executable.module)] or [str(HOST)]
        self._birth_of: dict[int, tuple[int, tuple[str, ...]]] = {}

    def note_birth(self, closure: ClosureValue, time: int, where: Where) -> None:
        """Remember when `closure` was made and which registers held its captures then."""
        if id(closure) not in self._birth_of:
            self._birth_of[id(closure)] = (time, tuple(where(item) for item in closure.captures))
            self._kept.append(closure)

    def index(self, raw: Any, time: int, depth: int = 0) -> int:
        """Return the place of `raw`, the object in a register, with tensors as they were at `time`."""
        key = (type(raw).__name__, id(raw), self._version(raw, time))
        place = self._place.get(key)
        if place is None:
            # Identities are keys, so the objects must outlive the table.
            self._kept.append(raw)
            place = self._place[key] = self._add(raw, time, depth)
        return place

    def outline(self, raw: Any, time: int) -> int:
        """Return the place of what stands for `raw` where it is not looked at: tensors and tuples without content."""
        match raw:
            case np.ndarray():
                array = cast("np.ndarray[Any, Any]", raw)
                words = f"{shape_text(array.shape)} {dtype_text(str(array.dtype))}"
                kind: Kind = "tensor" if array.ndim else "tensor0"
                return self._put(Value(kind, words, "…", *self._place_of(raw), summary=_FAR, sizes=array.shape))
            case ShapeValue() | ():
                return self.index(raw, time)
            case tuple():
                count = len(cast("tuple[Any, ...]", raw))
                return self._put(Value("tuple", f"Tuple of {count}", "…", summary=_FAR))
            case _:
                return self.index(raw, time)

    def _version(self, raw: Any, time: int) -> tuple[int, ...]:
        """Count for each tensor in `raw` the changes of its memory before `time`."""
        # Most values are single ones, for which nothing has to be followed.
        if type(raw) in _WITHOUT_MEMORY:
            return ()
        roots = (id(root_of(raw)),) if type(raw) is np.ndarray else memories_near(raw, SHOWN_LEVELS)
        return tuple(bisect_right(self._trace.changes_of(root), time - 1) for root in roots)

    def _add(self, raw: Any, time: int, depth: int) -> int:
        return self._put(self._model(raw, time, depth))

    def _put(self, model: Value) -> int:
        place = self._equal.setdefault(model, len(self.table))
        if place == len(self.table):
            self.table.append(model)
        return place

    def _model(self, raw: Any, time: int, depth: int) -> Value:
        # Lists and nested tuples are as long as they are: what they hold is looked up as far as it is shown.
        is_followed = isinstance(raw, AdtValue | ClosureValue | Snapshot | tuple)
        value = cast("RunValue", raw) if is_followed else self._trace.as_it_was(raw, time)
        match value:
            case np.ndarray():
                return self._tensor(value, raw)
            case ClosureValue():
                assert isinstance(raw, ClosureValue)
                return self._closure(raw, time, depth)
            case ShapeValue():
                text = shape_text(value)
                return Value("shape", "Shape", cut(text, 40), long=text, sizes=tuple(value))
            case tuple():
                return self._tuple(cast("tuple[Any, ...]", raw), time, depth)
            case AdtValue(name=name):
                return self._data(name, value.fields, time, depth)
            case StateValue():
                return self.table[self.index(value.snapshot, time, depth)]
            case Snapshot():
                return self._snapshot(value, time, depth)
            case RefValue():
                held = self.index(value.value, time, depth + 1)
                short = cut(f"ref({self.table[held].short})", 40)
                return Value("object", "Ref", short, summary="a reference", fields=(Field("held", held),))
            case str():
                return Value("string", "String", cut(repr(value), 40), long=_long(value))
            case DTypeValue(name=name):
                return Value("dtype", "DataType", name, long=name)
            case Uninitialised(shape=shape, dtype=dtype):
                words = f"{shape_text(shape)} {dtype_text(dtype)}"
                return Value("unwritten", words, "uninitialised", *self._place_of(raw), "nothing was written to it yet")
            case bool() | int() | float() | np.generic():
                sizes = (value,) if isinstance(value, int) and not isinstance(value, bool) else ()
                return Value("prim", dtype_text(dtype_name(value)), number(value), long=str(value), sizes=sizes)
            case None:
                return Value("void", "Tuple()", "void")
            case _:
                if value is NOT_KEPT:
                    return Value("object", "", "not kept", summary=self._trace.given_up)
                kind = kind_of(value)
                shown: Kind = "unwritten" if kind == "unwritten" else "void" if kind == "void" else "object"
                return Value(shown, "Object", cut(show(value), 40), long=_long(show(value)))

    def _tuple(self, raw: tuple[Any, ...], time: int, depth: int) -> Value:
        fields = raw[:_FIELD_LIMIT] if depth < _DEPTH_LIMIT else ()
        places = tuple(Field(f".{number}", self.index(item, time, depth + 1)) for number, item in enumerate(fields))
        short = f"({', '.join(self.table[field.value].short for field in places)})"
        cut_words = f"first {_FIELD_LIMIT} of " if len(raw) > _FIELD_LIMIT else ""
        summary = f"{cut_words}{plural(len(raw), 'field')}"
        kind = "tuple" if raw else "void"
        type_ = f"Tuple({', '.join(self.table[field.value].type for field in places)})"
        return Value(kind, cut(type_, 40), "void" if not raw else cut(short, 40), summary=summary, fields=places)

    def _data(self, name: str, raw: tuple[Any, ...], time: int, depth: int) -> Value:
        """A value of a data type: its constructor and its fields; a list is cut where its table would be too deep."""
        fields = raw if depth < _DEPTH_LIMIT else ()
        places = tuple(Field(f".{number}", self.index(item, time, depth + 1)) for number, item in enumerate(fields))
        inner = ", ".join(self.table[field.value].short for field in places) or ("…" if raw else "")
        short = f"{name}({inner})" if raw else name
        summary = f"constructor {name}" + (f", {plural(len(raw), 'field')}" if raw else "")
        return Value("adt", name, cut(short, 40), summary=summary, fields=places)

    def _snapshot(self, raw: Snapshot, time: int, depth: int) -> Value:
        """What an object of the runtime holds: its fields by their names."""
        named = zip(raw.names[:_FIELD_LIMIT], raw.fields, strict=False) if depth < _DEPTH_LIMIT else ()
        fields = tuple(Field(name, self.index(item, time, depth + 1)) for name, item in named)
        words = raw.words or plural(len(raw.fields), "field")
        return Value("object", cut(raw.kind, 40), cut(words, 40), summary=f"{raw.kind}, {words}", fields=fields)

    def _closure(self, raw: ClosureValue, time: int, depth: int) -> Value:
        entry = self._trace.executable.functions[raw.function]
        names = entry.param_names[len(entry.param_names) - len(raw.captures) :]
        birth, where = self._birth_of.get(id(raw), (-1, ()))
        captures = (
            tuple(
                Capture(
                    names[number] if number < len(names) else f".{number}",
                    self.index(item, time, depth + 1),
                    where[number] if number < len(where) else "",
                    birth,
                )
                for number, item in enumerate(raw.captures)
            )
            if depth < _DEPTH_LIMIT
            else ()
        )
        model = Closure(raw.name, self._line_of_function(raw.function), captures)
        count = plural(len(raw.captures), "capture")
        short = f"{raw.name} + {count}" if raw.captures else raw.name
        return Value("closure", "Object", cut(short, 40), summary=f"closure, {count}", closure=model)

    def _tensor(self, array: "np.ndarray[Any, Any]", raw: Any) -> Value:
        dtype = str(array.dtype)
        words = f"{shape_text(array.shape)} {dtype_text(dtype)}"
        table = tensor_model(array)
        parts = [dtype]
        if table.minimum:
            parts += [f"min {table.minimum}", f"max {table.maximum}"]
        if array.dtype.kind == "f":
            parts.append(f"{table.nan_count} NaN")
        parts.append(bytes_text(array.nbytes))
        kind: Kind = "tensor" if array.ndim else "tensor0"
        return Value(
            kind, words, short_text(array), *self._place_of(raw), ", ".join(parts), tensor=table, sizes=array.shape
        )

    def _place_of(self, raw: Any) -> tuple[str, str]:
        """Return the device of a tensor and its category: the devices of the module's table come first."""
        device = str(device_of_value(self._trace.executable, raw))
        if device not in self._devices:
            self._devices.append(device)
        return device, category_of(device, tuple(self._devices))


def _long(text: str) -> str:
    return text if len(text) <= _LONG_LIMIT else f"{text[:_LONG_LIMIT]}…"
