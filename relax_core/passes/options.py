"""The values of a pass's options, brought into the types that its options declare."""

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from relax_core.ir.node import Node
from relax_core.passes.core import Pass

_CLASSES: Final[Mapping[object, tuple[type, str, str]]] = types.MappingProxyType(
    {
        bool: (bool, "True or False", "True or False"),
        int: (Integral, "an integer", "integers"),
        float: (Real, "a number", "numbers"),
        str: (str, "a string", "strings"),
        bytes: (bytes, "bytes", "bytes"),
        type(None): (type(None), "None", "None"),
    }
)
"""What a value of a declared class is an instance of, and what one and several of them are called."""
_LONGEST: Final = 60


class OptionTypeError(ValueError):
    """A value is of another type than its option declares; the text says which two."""


def option_types(pass_: Pass) -> dict[str, Any]:
    """Return the declared types of a pass's options, none if those of a user's own pass name what is not there."""
    try:
        return get_type_hints(pass_.options)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def option_value(pass_: Pass, name: str, value: object) -> Any:
    """Return `value` as the option `name` holds it: a list as a tuple, a dict as pairs, and one item as a list of it.

    The default is taken as it is, and so is a value whose type is not declared, or declared as a class of the user's.
    `None` leaves an option out that does not take it, as in TVM.

    Raises:
        OptionTypeError: the option declares another type.
    """
    default = next(item.default for item in dataclasses.fields(pass_.options) if item.name == name)
    if value is default:
        return value
    declared = option_types(pass_).get(name, Any)
    try:
        return _as_declared(declared, value)
    except OptionTypeError:
        if value is None and default is not dataclasses.MISSING:
            return default
        message = f"{pass_.name} takes {described(declared)} as {name}, got {_shown(value)}"
        raise OptionTypeError(message) from None


def _as_declared(declared: Any, value: object) -> Any:
    origin, parts = get_origin(declared), get_args(declared)
    if origin is Literal:
        is_taken = any(type(value) is type(item) and value == item for item in parts)
    elif origin in (types.UnionType, Union):
        return _as_one_of(parts, value)
    elif origin is tuple:
        return _as_tuple(parts, value)
    elif origin is Callable or declared is Callable:
        is_taken = callable(value)
    elif isinstance(declared, type) and issubclass(declared, Node):
        is_taken = isinstance(value, declared)
    elif declared in _CLASSES:
        is_taken = isinstance(value, _CLASSES[declared][0]) and (declared is bool or not isinstance(value, bool))
    else:
        is_taken = True
    if not is_taken:
        raise OptionTypeError
    return value


def _as_one_of(choices: tuple[Any, ...], value: object) -> Any:
    for choice in choices:
        try:
            return _as_declared(choice, value)
        except OptionTypeError:
            continue
    raise OptionTypeError


def _as_tuple(parts: tuple[Any, ...], value: object) -> tuple[Any, ...]:
    match value:
        case dict():
            items = tuple(cast("dict[object, object]", value).items())
        case list() | tuple():
            items = tuple(cast("tuple[object, ...]", value))
        case _:
            items = (value,)
    if parts[-1:] == (...,):
        return tuple(_as_declared(parts[0], item) for item in items)
    if len(items) != len(parts):
        raise OptionTypeError
    return tuple(_as_declared(part, item) for part, item in zip(parts, items, strict=True))


def described(declared: Any, *, is_plural: bool = False) -> str:
    """Say what values a declared type has, in the words of a message."""
    origin, parts = get_origin(declared), get_args(declared)
    if declared in _CLASSES:
        _, one, several = _CLASSES[declared]
        return several if is_plural else one
    if origin is Literal:
        return _alternatives(map(repr, parts))
    if isinstance(declared, type) and issubclass(declared, Node):
        return f"{declared.__name__}s" if is_plural else f"a {declared.__name__}"
    if origin in (types.UnionType, Union):
        return _alternatives(described(part, is_plural=is_plural) for part in parts)
    if origin is Callable or declared is Callable:
        return "functions" if is_plural else "a function"
    if origin is tuple and parts[-1:] == (...,):
        return _described_list(parts[0], is_plural=is_plural)
    if origin is tuple:
        items = " and ".join(described(part) for part in parts)
        return f"pairs of {items}" if is_plural else f"a pair of {items}"
    return "values" if is_plural else "a value"


def _described_list(item: Any, *, is_plural: bool) -> str:
    if get_origin(item) is tuple and len(pair := get_args(item)) == 2 and pair[1] is not ...:
        key, value = (described(part, is_plural=True) for part in pair)
        return f"{'dicts' if is_plural else 'a dict'} from {key} to {value}"
    return f"{'lists' if is_plural else 'a list'} of {described(item, is_plural=True)}"


def _alternatives(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _shown(value: object) -> str:
    """Return a literal as it is written, and of another value its type."""
    if not isinstance(value, bool | int | float | str | bytes | list | tuple | dict | None):
        return f"a value of type {type(value).__name__}"
    text = repr(cast("object", value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def required_options(pass_: Pass) -> tuple[str, ...]:
    """Return the names of the options of a pass that have no default."""
    absent = dataclasses.MISSING
    fields = dataclasses.fields(pass_.options)
    return tuple(item.name for item in fields if item.default is absent and item.default_factory is absent)


def options_text(options: Any) -> str:
    """Return the options that differ from their defaults, as pipeline text; "" if none does."""
    shown = [
        f"{item.name}={getattr(options, item.name)!r}"
        for item in dataclasses.fields(options)
        if getattr(options, item.name) != item.default
    ]
    return f"({', '.join(shown)})" if shown else ""
