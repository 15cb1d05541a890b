"""Prim funcs as bytes: what compiled code is known by, and what another process makes the prim funcs again of.

Nodes stand in a table, each behind its parts, which it names by their numbers; so what is shared stays shared. What
lowering does not read is left out: spans, names of variables and buffers, and the name of a function's symbol.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final, cast

from relax_core.ir import prim, tir
from relax_core.ir.attrs import Attrs
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import FloatImm, PointerVar, PrimVar
from relax_core.ir.tir import Buffer, PrimFunc

Row = list[Any]

_KINDS: Final[Mapping[str, type[Node]]] = MappingProxyType(
    {
        name: value
        for module in (prim, tir)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Node) and value.__module__ == module.__name__
    }
)
_SYMBOL: Final = "global_symbol"
# A number as its bits: the text of a number says neither the sign of NaN nor which NaN it is.
_BITS: Final = struct.Struct("<d"), struct.Struct("<q")


def _place(kind: type[Node], name: str) -> int:
    """Return where a field stands in a row, behind the name of the class."""
    return 1 + [item.name for item in fields(kind) if not item.kw_only].index(name)


_NAME_PLACES: Final[Mapping[type[Node], int]] = MappingProxyType(
    {kind: _place(kind, "name") for kind in (PrimVar, PointerVar, Buffer)}
)
_ATTRS_PLACE: Final = _place(PrimFunc, "attrs")
_VALUE_PLACE: Final = _place(FloatImm, "value")


def rows_of(roots: Sequence[Node]) -> tuple[list[Row], list[int]]:
    """Return the table of all nodes below `roots`, and the numbers of the roots in it."""
    numbers: dict[Node, int] = {}
    rows: list[Row] = []
    for item in postorder(*roots):
        kind = type(item)
        row: Row = [kind.__name__, *item.VALUES(item)]
        for place in item.PLACES:
            value = row[place + 1]
            if isinstance(value, tuple):
                row[place + 1] = [numbers[part] for part in cast("tuple[Node, ...]", value)]
            elif value is not None:
                row[place + 1] = numbers[value]
        if kind in _NAME_PLACES:
            row[_NAME_PLACES[kind]] = ""
        elif kind is PrimFunc:
            attrs: Attrs = row[_ATTRS_PLACE]
            row[_ATTRS_PLACE] = [pair for pair in attrs if pair[0] != _SYMBOL]
        elif kind is FloatImm:
            (row[_VALUE_PLACE],) = _BITS[1].unpack(_BITS[0].pack(row[_VALUE_PLACE]))
        numbers[item] = len(rows)
        rows.append(row)
    return rows, [numbers[root] for root in roots]


def nodes_of(rows: Sequence[Row]) -> list[Node]:
    """Make the nodes of a table again.

    Raises:
        ValueError: it is no such table.
    """
    made: list[Node] = []
    try:
        for name, *values in rows:
            kind = _KINDS[name]
            if kind is FloatImm:
                (values[_VALUE_PLACE - 1],) = _BITS[0].unpack(_BITS[1].pack(values[_VALUE_PLACE - 1]))
            for place, value in enumerate(values):
                if place in kind.PLACES:
                    values[place] = _parts(value, made)
                elif isinstance(value, list):
                    values[place] = _tuple(cast("list[object]", value))
            made.append(kind(*values))
    except (KeyError, IndexError, TypeError, struct.error) as error:
        raise ValueError(f"row {len(made)} is no node: {error}") from None
    return made


def node_at(number: object, made: Sequence[Node]) -> Node:
    """Return the node with this number in a table.

    Raises:
        IndexError: there is none.
    """
    if type(number) is not int or not 0 <= number < len(made):
        raise IndexError(f"{number} is not the number of a node before")
    return made[number]


def to_bytes(value: object) -> bytes | None:
    """Write plain data, `None` if there is something else in it."""
    try:
        return json.dumps(value, separators=(",", ":"), check_circular=False).encode()
    except (TypeError, RecursionError):
        return None


def _parts(value: object, made: Sequence[Node]) -> Node | tuple[Node, ...] | None:
    if isinstance(value, list):
        return tuple(node_at(item, made) for item in cast("list[object]", value))
    return None if value is None else node_at(value, made)


def _tuple(items: list[object]) -> tuple[object, ...]:
    return tuple(_tuple(cast("list[object]", item)) if isinstance(item, list) else item for item in items)
