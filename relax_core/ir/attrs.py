"""Attributes of functions, calls and modules: ordered, immutable key-value pairs of plain data."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

AttrValue: TypeAlias = "bool | int | float | str | tuple[AttrValue, ...] | tuple[tuple[str, AttrValue], ...] | None"
Attrs: TypeAlias = tuple[tuple[str, AttrValue], ...]

NO_ATTRS: Attrs = ()


def attrs_of(items: Mapping[str, AttrValue] | Iterable[tuple[str, AttrValue]]) -> Attrs:
    """Make attributes from a mapping or from pairs; a later pair with the same key wins, in the first one's place."""
    return tuple(dict(items).items())


def attr(attrs: Attrs, key: str, default: AttrValue = None) -> AttrValue:
    """Return the value at `key`, or `default`."""
    for name, value in attrs:
        if name == key:
            return value
    return default


def has_attr(attrs: Attrs, key: str) -> bool:
    """Tell whether `key` is there."""
    return any(name == key for name, _ in attrs)


def with_attr(attrs: Attrs, key: str, value: AttrValue) -> Attrs:
    """Return `attrs` with `key` set to `value`; returns `attrs` itself if that is so already."""
    if has_attr(attrs, key) and attr(attrs, key) == value:
        return attrs
    return attrs_of([*attrs, (key, value)])
