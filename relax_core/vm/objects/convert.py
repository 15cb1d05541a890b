"""Values between the host and the machine: NumPy arrays, Python scalars, tuples and callables."""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from relax_core.ir.expr import PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.vm.context import fail
from relax_core.vm.objects.placed import plain
from relax_core.vm.objects.values import (
    AdtValue,
    Closure,
    DTypeValue,
    Number,
    ObjectValue,
    RefValue,
    ShapeValue,
    Value,
    map_leaves,
)

TENSOR_KINDS: Final = "biuf"
"""What NumPy calls the kinds of dtypes that tensors have, but for bfloat16."""

Call = Callable[[Closure, tuple[Value, ...]], Value]

_ANOTHER: Final = "give it to a machine of the executable that it came from"


class HostClosure:
    """A closure in the hands of the host: calling it runs the program's function. `home` is the executable of that."""

    __slots__ = ("_call", "closure", "home")

    def __init__(self, closure: Closure, call: Call, home: object) -> None:
        self.closure = closure
        self.home = home
        self._call = call

    def __call__(self, *args: Any) -> Any:
        result = self._call(self.closure, tuple(to_value(arg, None, self.home) for arg in args))
        return to_host(result, self._call, self.home)

    def __repr__(self) -> str:
        return "<closure>"


def to_value(given: Any, declared: Type | None = None, home: object = None) -> Value:
    """Return the value that what the host gave is for the machine that runs the executable `home`.

    A tuple of ints is a shape only if that is declared, a Python number a rank-0 tensor only if that is declared.
    """
    match given:
        case np.ndarray():
            array = cast("np.ndarray[Any, Any]", given)
            if array.dtype.kind not in TENSOR_KINDS and array.dtype.name != "bfloat16":
                fail("VM016", f"an array of dtype {array.dtype} is no tensor", "use a dtype such as float32 or int64")
            return array if array.flags.c_contiguous else np.ascontiguousarray(array)
        case Closure() | AdtValue() | RefValue() | ShapeValue() | DTypeValue() | None | str():
            return given
        case HostClosure(closure=closure):
            if given.home is not home:
                fail("VM016", f"the closure of `{closure.name}` is one of another executable", _ANOTHER)
            return closure
        case bool() | int() | float() | np.generic():
            return _number(cast("Number", given), declared)
        case tuple() | list():
            return _sequence(tuple(cast("tuple[Any, ...]", given)), declared, home)
        case ObjectValue():
            return given
        case _:
            return ObjectValue(given)


def _number(given: Number, declared: Type | None) -> Value:
    match declared:
        case TensorType(dtype=dtype):
            return np.array(given, dtype)
        case PrimType(dtype="bool"):
            return bool(given)
        case PrimType(dtype=dtype) if dtype.startswith(("float", "bfloat")):
            return float(given)
        case None if isinstance(given, np.generic):
            return np.asarray(given)
        case _:
            return given.item() if isinstance(given, np.generic) else given


def _sequence(given: tuple[Any, ...], declared: Type | None, home: object) -> Value:
    match declared:
        case ShapeType():
            if not all(isinstance(item, int | np.integer) for item in given):
                fail("VM016", f"a shape holds integers, got {given}")
            return ShapeValue(int(item) for item in given)
        case TupleType(fields=fields) if len(fields) == len(given):
            return tuple(to_value(item, field, home) for item, field in zip(given, fields, strict=True))
        case _:
            return map_leaves(given, lambda item: to_value(item, None, home), into_captures=False) if given else ()


def to_host(value: Value, call: Call, home: object) -> Any:
    """Return what the host gets for a value: plain tuples for shapes, names for dtypes, callables for closures."""
    if type(value) is np.ndarray:
        return value
    return map_leaves(value, lambda leaf: _leaf_to_host(leaf, call, home), into_captures=False)


def _leaf_to_host(value: Value, call: Call, home: object) -> Any:
    match value:
        case ShapeValue():
            return tuple(value)
        case DTypeValue(name=name):
            return name
        case Closure():
            return HostClosure(value, call, home)
        case ObjectValue(content=content):
            return content
        case _:
            return plain(value)


def own_copies(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return `values` with copies of all tensors and references; what shared one shares its copy."""
    references: dict[int, RefValue] = {}
    unfilled: list[RefValue] = []

    def own(leaf: Value) -> Value:
        match leaf:
            case np.ndarray():
                return leaf.copy()
            case RefValue() if id(leaf) not in references:
                references[id(leaf)] = leaf.like(None)
                unfilled.append(leaf)
                return references[id(leaf)]
            case RefValue():
                return references[id(leaf)]
            case _:
                return leaf

    copied = map_leaves(values, own, into_captures=True)
    while unfilled:
        # Not within `own`: references may form chains of any length, and circles.
        leaf = unfilled.pop()
        references[id(leaf)].write(map_leaves(leaf.value, own, into_captures=True))
    return copied
