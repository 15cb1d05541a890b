"""What operators, fields, items and functions of a condition mean for values of a run; else VM032."""

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.source import Span
from relax_core.vm.conditions.condition_syntax import Expression
from relax_core.vm.objects.values import (
    AdtValue,
    Closure,
    DTypeValue,
    RefValue,
    Snapshot,
    StateValue,
    Uninitialised,
    Value,
    describe,
)

_MAX_SIZE: Final = 1 << 24
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "//": lambda a, b: a // b,
        "%": lambda a, b: a % b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
)
_EQUAL: Final = ("==", "!=")
FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "abs": np.abs,
        "all": np.all,
        "any": np.any,
        "isfinite": lambda x: np.isfinite(x).all(),
        "isinf": lambda x: np.isinf(x).any(),
        "isnan": lambda x: np.isnan(x).any(),
        "max": np.max,
        "mean": np.mean,
        "min": np.min,
        "sum": np.sum,
    }
)
"""Functions of a number or a tensor; of a tensor, `isnan` and `isinf` ask for any element, `isfinite` for all."""
_OF_ANY_VALUE: Final = ("isnan", "isinf")


def fault(message: str, span: Span, hint: str = "") -> NoReturn:
    """Stop: the expression at `span` has no value then."""
    raise RunError((Diagnostic("VM032", message, span, hint),))


def truth(expression: Expression, value: Value) -> bool:
    """Return whether a value counts as true."""
    if isinstance(value, np.ndarray) and value.size != 1:
        hint = "`any(...)` or `all(...)` makes one truth value of it"
        fault(f"a tensor of shape {value.shape} is neither true nor false", expression.span, hint)
    return bool(as_number(expression, value))


def as_number(expression: Expression, value: Value) -> Any:
    """Return a value that can be computed with."""
    match value:
        case bool() | int() | float() | np.generic() | np.ndarray():
            return value
        case Uninitialised():
            fault(f"nothing has been written to the tensor `{expression.span.text}` yet", expression.span)
        case _:
            said = describe(value)
            fault(f"`{expression.span.text}` is {said}, not a number or a tensor", expression.span)


def arithmetic(op: str, a: Any, b: Any, span: Span) -> Any:
    """Apply an operator to numbers and tensors; they broadcast."""
    try:
        if prod(np.broadcast_shapes(np.shape(a), np.shape(b))) > _MAX_SIZE:
            fault(f"a value in a condition has at most {_MAX_SIZE:,} elements", span)
        if op in ("//", "%") and not np.all(b):
            fault("division by zero", span)
        return _ARITHMETIC[op](a, b)
    except ZeroDivisionError:
        fault("division by zero", span)
    except (TypeError, ValueError, OverflowError) as error:
        fault(f"`{op}` has no value here: {error}", span)


def compare(op: str, a: Value, b: Value, span: Span) -> Value:
    """Compare two values: numbers and tensors element by element, texts, and whatever else only for being equal."""
    match _plain(a), _plain(b):
        case (
            (bool() | int() | float() | np.generic() | np.ndarray() as left),
            (bool() | int() | float() | np.generic() | np.ndarray() as right),
        ):
            return arithmetic(op, left, right, span)
        case ((str() as left), (str() as right)):
            return _ARITHMETIC[op](left, right)
        case ((tuple() as left), (tuple() as right)) if op in _EQUAL and _is_flat(left) and _is_flat(right):
            return (tuple(left) == tuple(right)) == (op == "==")
        case ((str() | None as left), right) if op in _EQUAL:
            return (type(left) is type(right)) == (op == "==")
        case left, (str() | None as right) if op in _EQUAL:
            return (type(left) is type(right)) == (op == "==")
        case left, right:
            texts = describe(left), describe(right)
            fault(f"`{op}` does not compare {texts[0]} with {texts[1]}", span)


def _is_flat(values: tuple[Value, ...]) -> bool:
    return all(isinstance(value, bool | int | float | str | np.generic) for value in values)


def _plain(value: Value) -> Value:
    match value:
        case DTypeValue(name=name):
            return name
        case RefValue():
            return value.value
        case _:
            return value


def applied(function: str, arg: Expression, value: Value) -> Value:
    """Apply a function of values to the value of `arg`."""
    match value:
        case str() | tuple() if function == "len":
            return len(value)
        case np.ndarray() if function == "len" and value.ndim:
            return len(value)
        case _ if function == "len":
            fault(f"`{arg.span.text}` has no length, it is {describe(value)}", arg.span)
        case _ if function not in FUNCTIONS:
            known = ", ".join(f"`{name}`" for name in (*FUNCTIONS, "len"))
            fault(f"there is no function `{function}`", arg.span, f"there are {known}")
        case _ if function in _OF_ANY_VALUE and not isinstance(value, bool | int | float | np.generic | np.ndarray):
            return False
        case tuple() if _is_flat(value):
            found = np.asarray(value)
        case _:
            found = as_number(arg, value)
    try:
        return FUNCTIONS[function](found)
    except (TypeError, ValueError) as error:
        fault(f"`{function}` has no value here: {error}", arg.span)


def field(value: Value, name: str, span: Span) -> Value:
    """Return a field of a value, such as the shape of a tensor."""
    match value, name:
        case ((np.ndarray() | Uninitialised()), "shape"):
            return tuple(value.shape)
        case ((np.ndarray() | Uninitialised()), "ndim"):
            return len(value.shape)
        case ((np.ndarray() | Uninitialised()), "size"):
            return prod(value.shape)
        case ((np.ndarray() | np.generic() | Uninitialised()), "dtype"):
            return str(value.dtype)
        case ((AdtValue() | Closure() | DTypeValue()), "name"):
            return value.name
        case ((StateValue(snapshot=held) | (Snapshot() as held)), _) if name in held.names:
            return held[name]
        case RefValue(), "value":
            return value.value
        case _:
            hint = "a tensor has `shape`, `ndim`, `size` and `dtype`; a constructed value and a closure `name`"
            fault(f"{describe(value)} has no `{name}`", span, hint)


def item(value: Value, indices: tuple[Value, ...], span: Span) -> Value:
    """Return an item of a tensor, a shape, a tuple or a constructed value."""
    places = tuple(_place(index, span) for index in indices)
    if not places:
        fault("an index is missing", span)
    try:
        match value:
            case np.ndarray() if len(places) <= value.ndim:
                return value[places]
            case tuple() if len(places) == 1:
                return value[places[0]]
            case AdtValue() if len(places) == 1:
                return value.fields[places[0]]
            case _:
                fault(f"{describe(value)} has no item at {', '.join(map(str, places))}", span)
    except IndexError:
        fault(f"{', '.join(map(str, places))} is out of range: {describe(value)}", span)


def _place(value: Value, span: Span) -> int:
    match value:
        case int():
            return value
        case np.generic() | np.ndarray() if value.ndim == 0 and np.issubdtype(value.dtype, np.integer):
            return int(value.item())
        case _:
            fault(f"an index is a whole number, got {describe(value)}", span)
