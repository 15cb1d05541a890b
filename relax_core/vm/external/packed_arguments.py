"""Check and convert the arguments of a packed function by its schema when it is called."""

from collections.abc import Mapping
from typing import Any, NoReturn, cast

import numpy as np

from relax_core.diagnostics import plural
from relax_core.ir.expr import TensorType
from relax_core.ir.prim import const
from relax_core.ops.packed.accept import default_fact
from relax_core.ops.packed.schema import REQUIRED, SchemaParam, SchemaType
from relax_core.ops.packed.spec import UNKNOWN, Fact, Facts, Item, PackedSpec, broken
from relax_core.vm.context import Context, fail
from relax_core.vm.external.operators import size_bytes
from relax_core.vm.objects.values import Array, DTypeValue, ShapeValue, Value, describe


class _Refused(Exception):
    """A value is not of a schema's type; the message says why."""


def by_schema(spec: PackedSpec, args: tuple[Value, ...]) -> Mapping[str, Any]:
    """Return the arguments by name as the function gets them: Python scalars, tuples, names of dtypes, and tensors.

    A rank-0 tensor becomes the Scalar that it holds, one value the list that it stands for. Scalars and lists are
    copies: what the function does with them, the program does not see.

    Raises:
        RunError: VM040 for a wrong number or kind of arguments, VM041 for a value that is out of its range.
    """
    if len(args) > len(spec.params):
        fail("VM040", f"`{spec.name}` takes {plural(len(spec.params), 'argument')}, got {len(args)}", shown(spec))
    value_of: dict[str, Any] = {}
    for index, param in enumerate(spec.params):
        if index < len(args):
            value_of[param.name] = _argument(spec, param, args[index])
        elif param.default is REQUIRED:
            fail("VM040", f"`{spec.name}` lacks its argument `{param.name}`", shown(spec))
        else:
            value_of[param.name] = default_fact(param)
    facts = known_facts(value_of)
    for limit in spec.limits:
        words = broken(limit, facts)
        if words:
            refuse(spec, words)
    return value_of


def reserve_result(context: Context, spec: PackedSpec, value_of: Mapping[str, Any]) -> None:
    """Count the memory of the result before it is made, as far as it is known; VM006 if it is too much."""
    found = spec.infer(known_facts(value_of)) if spec.infer is not None and not spec.writes else None
    if found is not None:
        context.reserve(size_bytes(found), f"the result of `{spec.name}`")


def known_facts(value_of: Mapping[str, Any]) -> Facts:
    """Return what is known of arguments when they are given: the types of tensors, the values of the rest."""
    return {name: _fact(value) for name, value in value_of.items()}


def refuse(spec: PackedSpec, words: str) -> NoReturn:
    """Stop the program: a value is out of its range."""
    fail("VM041", f"`{spec.name}`: {words}", shown(spec))


def shown(spec: PackedSpec) -> str:
    """Return the hint that shows the schema."""
    return f"its schema: {spec.schema}"


def _argument(spec: PackedSpec, param: SchemaParam, value: Value) -> Any:
    try:
        return converted(param.type, value)
    except _Refused as refused:
        reason = f": {refused}" if str(refused) else ""
        message = f"`{param.name}` of `{spec.name}` must be {param.type}, got {describe(value)}{reason}"
        fail("VM040", message, shown(spec))


def converted(expected: SchemaType, value: Value) -> Any:
    """Return what the function gets for a value; raises `_Refused` if it is not of the schema's type."""
    if value is None:
        if expected.is_optional or expected.base == "any":
            return None
        raise _Refused
    if not expected.is_list:
        return _item(expected, value)
    item = SchemaType(expected.base)
    match value:
        case tuple():
            if not expected.takes(len(value)):
                raise _Refused(f"it has {len(value)} items")
            return tuple(_item(item, part) for part in value)
        case _ if expected.length is not None:
            return (_item(item, value),) * expected.length
        case _:
            raise _Refused


def _item(expected: SchemaType, value: Value) -> Any:
    match expected.base, value:
        case "any", ShapeValue():
            return tuple(value)
        case ("any", _) | ("Tensor", np.ndarray()):
            return value
        case "Scalar", np.ndarray(shape=()):
            return value.item()
        case "Scalar" | "float", bool() if expected.base == "float":
            raise _Refused
        case "Scalar", bool() | int() | float():
            return value
        case "Scalar", np.generic():
            return value.item()
        case "float", int() | float() | np.integer() | np.floating():
            return float(value)
        case "int", int() | np.integer() if not isinstance(value, bool):
            return int(value)
        case "bool", bool() | np.bool_():
            return bool(value)
        # A computed truth value comes out of the shape heap as an integer.
        case "bool", int(number) if number in (0, 1):
            return bool(number)
        case "str", str():
            return value
        case "ScalarType", DTypeValue(name=name):
            return name
        case "ScalarType", str():
            return value
        case _:
            raise _Refused


def _fact(value: object) -> Fact:
    return tuple(map(_known, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else _known(value)


def _known(value: object) -> Item:
    match value:
        case np.ndarray():
            array = cast("Array", value)
            return TensorType(tuple(const(size) for size in array.shape), str(array.dtype))
        case bool() | int() | float() | str() | None:
            return value
        case _:
            return UNKNOWN
