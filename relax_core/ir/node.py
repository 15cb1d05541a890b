"""Nodes: immutable, compared by identity, traversed through per-class tables."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

from relax_core.source import Span

C = TypeVar("C", bound="type[Any]")
N = TypeVar("N", bound="Node")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(dataclasses.field,))
def node(cls: C) -> C:
    """Make `cls` a node class: a frozen, slotted dataclass that compares by identity.

    A field whose name is in the class's `CHILDREN` holds a node, `None`, or a tuple of nodes.
    """
    return dataclasses.dataclass(frozen=True, slots=True, eq=False)(cls)


@dataclasses.dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Node:
    """The base of all IR nodes.

    Nodes never change and never learn: facts about them are side tables `Mapping[Node, Fact]`.
    `span` is the place in the user's text, or `None` for a node that a pass made.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that hold nodes, in the order of evaluation and scope."""
    span: Span | None = dataclasses.field(default=None, kw_only=True, repr=False)


def children(root: Node) -> tuple[Node, ...]:
    """Return the direct child nodes of `root` in the order of evaluation and scope."""
    names = root.CHILDREN
    if not names:
        return ()
    found: list[Node] = []
    for name in names:
        value: Any = getattr(root, name)
        if isinstance(value, Node):
            found.append(value)
        elif value:
            found += value
    return tuple(found)


def map_children(root: N, change: Callable[[Node], "Node | tuple[Node, ...]"]) -> N:
    """Return `root` with `change` applied to each child, or `root` itself if nothing changed.

    For a child in a tuple field `change` may return a tuple of nodes, which is spliced in.
    """
    changed: dict[str, Any] = {}
    for name in root.CHILDREN:
        value = getattr(root, name)
        if isinstance(value, Node):
            result = change(value)
            if result is not value:
                assert isinstance(result, Node), f"{type(root).__name__}.{name} takes one node"
                changed[name] = result
        elif value:
            items = _map_items(cast("tuple[Node, ...]", value), change)
            if items is not value:
                changed[name] = items
    return dataclasses.replace(root, **changed) if changed else root


def _map_items(items: tuple[Node, ...], change: Callable[[Node], "Node | tuple[Node, ...]"]) -> tuple[Node, ...]:
    result: list[Node] = []
    is_same = True
    for item in items:
        mapped = change(item)
        is_same = is_same and mapped is item
        if isinstance(mapped, tuple):
            result.extend(mapped)
        else:
            result.append(mapped)
    return items if is_same else tuple(result)


def postorder(*roots: Node) -> Iterator[Node]:
    """Yield every node reachable from `roots` once, children before parents, without recursion."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        current, is_done = stack.pop()
        if is_done:
            yield current
        elif current not in seen:
            seen.add(current)
            stack.append((current, True))
            stack += [(child, False) for child in reversed(children(current))]


def preorder(root: Node) -> Iterator[Node]:
    """Yield every node reachable from `root` once, parents before children, without recursion."""
    seen: set[Node] = set()
    stack: list[Node] = [root]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            yield current
            stack += children(current)[::-1]
