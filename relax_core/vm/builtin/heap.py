"""Builtins on the shape heap: the values of the symbolic dimensions and scalars of one call of a function.

A slot is an int64. A truth value lives in it as 0 or 1, a float as the bits of its float64.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from relax_core.vm.context import Context, context_words, fail, place_words
from relax_core.vm.objects.values import Array, DTypeValue, Number, ShapeValue, Value, describe, shape_text

EQUAL_TO_IMMEDIATE: Final = 0
STORE: Final = 1
NO_CHECK: Final = 2
EQUAL_TO_SLOT: Final = 3


def alloc_shape_heap(context: Context, machine: Value, size: int) -> Array:
    """`alloc_shape_heap(%vm, size)`: `size` int64 slots for the symbolic dimensions of this call."""
    context.slot_origins.clear()
    return context.allocate((size,), "int64")


def match_shape(context: Context, value: Value, heap: Array | None, ndim: int, *rest: Any) -> None:
    """`match_shape(value, heap, ndim, *(code, operand), err)`: compare each dimension, or store it in a slot."""
    pairs, err = rest[:-1], rest[-1]
    if heap is not None and STORE in pairs[::2]:
        context.will_write(heap)
    shape = _shape(value, err)
    if len(shape) != ndim:
        declared = context_words(err)["annotation"]
        tail = f" (declared {declared})" if declared else ""
        fail("VM012", f"{place_words(err)} must have {ndim} dimensions{tail}, got {describe(value)}")
    for axis, size in enumerate(shape):
        code, operand = pairs[2 * axis], pairs[2 * axis + 1]
        _match_one(context, heap, (code, operand), size, (f"dimension {axis}", err, shape_text(shape)))


def match_prim_value(context: Context, value: Number, heap: Array | None, code: int, operand: int, err: str) -> None:
    """`match_prim_value(value, heap, code, operand, err)`: the same for one scalar."""
    if heap is not None and code == STORE:
        context.will_write(heap)
    number = value.item() if isinstance(value, np.generic) else value
    about = ("the value", err, "")
    if isinstance(number, float):
        expected = int(_slots(heap)[operand]) if code == EQUAL_TO_SLOT else None
        if expected is not None and expected != bits_of_float(number):
            _differs(about, repr(float_of_bits(expected)), number, "")
        number = bits_of_float(number)
    _match_one(context, heap, (code, operand), int(number), about)


def make_shape(context: Context, heap: Array | None, ndim: int, *pairs: int) -> ShapeValue:
    """`make_shape(heap, ndim, *(code, operand))`: code 0 takes the immediate, 1 the heap's slot."""
    return ShapeValue(_load(heap, pairs[2 * axis], pairs[2 * axis + 1]) for axis in range(ndim))


def make_prim_value(
    context: Context, heap: Array | None, code: int, operand: int, dtype: DTypeValue | None = None
) -> bool | int | float:
    """`make_prim_value(heap, code, operand, dtype)`: a scalar; without a dtype an integer."""
    slot = _load(heap, code, operand)
    match "" if dtype is None else dtype.name:
        case "bool":
            return bool(slot)
        case name if "float" in name:
            return float_of_bits(slot)
        case _:
            return slot


def bits_of_float(value: float) -> int:
    """Return the int64 with the bits of a float64."""
    return int(np.float64(value).view(np.int64))


def float_of_bits(bits: int) -> float:
    """Return the float64 with the bits of an int64."""
    return float(np.int64(bits).view(np.float64))


def _load(heap: Array | None, code: int, operand: int) -> int:
    return int(_slots(heap)[operand]) if code else operand


def _slots(heap: Array | None) -> Array:
    if heap is None:
        fail("VM021", "the function has no symbolic dimensions to read")
    return heap


def _shape(value: Value, err: str) -> tuple[int, ...]:
    match value:
        case np.ndarray():
            return value.shape
        case ShapeValue():
            return value
        case _:
            fail("VM011", f"{place_words(err)} must be a tensor or a shape, got {describe(value)}")


def _match_one(
    context: Context, heap: Array | None, how: tuple[int, int], size: int, about: tuple[str, str, str]
) -> None:
    code, operand = how
    what, err, found = about
    if code == STORE:
        _slots(heap)[operand] = size
        context.slot_origins[operand] = _origin(what, err)
    elif code == EQUAL_TO_IMMEDIATE and size != operand:
        _differs(about, str(operand), size, f"; the whole shape is {found}" if found else "")
    elif code == EQUAL_TO_SLOT and size != (expected := int(_slots(heap)[operand])):
        origin = context.slot_origins.get(operand)
        source = f", the value that {origin} gave" if origin else ", which the other dimensions give"
        _differs(about, f"{expected}{source}", size, "")


def _origin(what: str, err: str) -> str:
    return f"{what} of {place_words(err)}"


def origins_of(calls: Iterable[tuple[str, Sequence[Any]]]) -> dict[int, str]:
    """Return the words for what set each slot of a heap, of the calls that one run of a function has made until then.

    A call is the name of the builtin and its arguments, of which only immediates and constants are looked at.
    """
    found: dict[int, str] = {}
    for call in calls:
        match call:
            case "vm.builtin.alloc_shape_heap", _:
                found.clear()
            case "vm.builtin.match_shape", (_, _, _, *pairs, err):
                for axis, (code, operand) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
                    if code == STORE:
                        found[operand] = _origin(f"dimension {axis}", err)
            case "vm.builtin.match_prim_value", (_, _, code, operand, err) if code == STORE:
                found[operand] = _origin("the value", err)
            case _:
                pass
    return found


def _differs(about: tuple[str, str, str], expected: str, size: float, tail: str) -> None:
    what, err, _ = about
    declared = context_words(err)["annotation"]
    annotation = f" (declared {declared})" if declared else ""
    fail("VM012", f"{what} of {place_words(err)}{annotation} must be {expected}, got {size}{tail}")
