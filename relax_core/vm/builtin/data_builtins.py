"""The builtins on algebraic data and references, which programs that come from Relay use."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from relax_core.vm.context import Context, fail
from relax_core.vm.objects.values import AdtValue, RefValue, Value, describe, show

_SHOWN = 80


def make_adt(context: Context, name: str, tag: int, *fields: Value) -> AdtValue:
    """`make_adt(constructor, tag, *field)`: a value of a data type."""
    return AdtValue(name, tag, fields)


def get_tag(context: Context, value: Value) -> int:
    """`get_tag(value)`: the number of the constructor that made the value."""
    return _data(value).tag


def is_tag(context: Context, tag: int, number: int) -> bool:
    """`is_tag(tag, number)`: whether they are the same."""
    return tag == number


def adt_field(context: Context, value: Value, index: int) -> Value:
    """`adt_field(value, index)`: a field from 0."""
    data = _data(value)
    if not 0 <= index < len(data.fields):
        fail("VM020", f"there is no field {index} in {data.name}, which has {len(data.fields)}")
    return data.fields[index]


def match_failed(context: Context, value: Value) -> None:
    """`match_failed(value)`: stop, no clause took the value."""
    no_clause(value)


def ref_create(context: Context, value: Value) -> RefValue:
    """`ref_create(value)`: a new reference."""
    moment = context.moment
    return RefValue(value, -1 if moment is None else moment)


def ref_read(context: Context, reference: Value) -> Value:
    """`ref_read(reference)`: what it holds."""
    return as_reference(reference).value


def ref_write(context: Context, reference: Value, value: Value) -> tuple[()]:
    """`ref_write(reference, value)`: let it hold another value."""
    as_reference(reference).write(value, context.moment)
    return ()


def no_clause(value: Value) -> NoReturn:
    """Stop with VM022: no clause of a match takes `value`."""
    text = show(value)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    fail("VM022", f"no clause of the match takes {shown}", "add a clause for it, or one with `_`")


def _data(value: Value) -> AdtValue:
    if not isinstance(value, AdtValue):
        fail("VM011", f"expected a value of a data type, got {describe(value)}")
    return value


def as_reference(value: Value) -> RefValue:
    """Return a value that is a reference.

    Raises:
        RunError: VM011, it is none.
    """
    if not isinstance(value, RefValue):
        fail("VM011", f"expected a reference, got {describe(value)}")
    return value


DATA_BUILTINS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "vm.builtin.make_adt": make_adt,
        "vm.builtin.get_tag": get_tag,
        "vm.builtin.is_tag": is_tag,
        "vm.builtin.adt_field": adt_field,
        "vm.builtin.match_failed": match_failed,
        "vm.builtin.ref_create": ref_create,
        "vm.builtin.ref_read": ref_read,
        "vm.builtin.ref_write": ref_write,
    }
)
