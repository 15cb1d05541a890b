"""Nodes: immutable, compared by identity, traversed through per-class tables."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, TypeVar, cast, dataclass_transform, get_origin

from relax_core.ir.slots import set_by_slots
from relax_core.source import Span

C = TypeVar("C", bound="type[Any]")
N = TypeVar("N", bound="Node")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(dataclasses.field,))
def node(cls: C) -> C:
    """Make `cls` a node class: a frozen, slotted dataclass that compares by identity.

    A field whose name is in the class's `CHILDREN` holds a node, `None`, or a tuple of nodes.
    """
    made = _slotted(cls)
    fields = {item.name: item for item in dataclasses.fields(made) if not item.kw_only}
    places = tuple(fields)
    made.PARTS = staticmethod(_parts_getter([fields[name] for name in made.CHILDREN]))
    made.VALUES = staticmethod(_tuple_getter(places))
    made.SHOWN = tuple(item.name for item in dataclasses.fields(made) if item.repr)
    made.PLACES = tuple(places.index(name) for name in made.CHILDREN)
    if places[:2] == made.CHILDREN and [_is_many(fields[name]) for name in made.CHILDREN] == [False, True]:
        made.WITH_CHILDREN = staticmethod(_head_changer(made, _tuple_getter(places[2:])))
    return made


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(dataclasses.field,))
def _slotted(cls: C) -> C:
    """Make `cls` a slotted dataclass. What freezes and prints a node stands in `Node`, once for all classes.

    With `frozen=True` and `repr=True` dataclasses would compile three functions for each of them, and a process that
    checks a text spent a tenth of its time on that.
    """
    is_base = cls.__base__ is object
    make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, weakref_slot=is_base)
    return set_by_slots(make(cls))


def _no_parts(_: Any) -> tuple[()]:
    return ()


def _with_children(root: Any, parts: "Sequence[Node | tuple[Node, ...]]") -> Any:
    """Return `root` with `parts` in the place of its children, one for each."""
    values = [*root.VALUES(root)]
    at = 0
    for place in root.PLACES:
        value = values[place]
        if isinstance(value, tuple):
            end = at + len(cast("tuple[Node, ...]", value))
            values[place] = _spliced(parts[at:end])
            at = end
        elif value is not None:
            assert isinstance(parts[at], Node), f"{type(root).__name__} takes one node in {root.CHILDREN}"
            values[place] = parts[at]
            at += 1
    return type(root)(*values, span=root.span)


def _head_changer(
    cls: Callable[..., Any], get_rest: Callable[[Any], tuple[Any, ...]]
) -> "Callable[[Any, Sequence[Node | tuple[Node, ...]]], Any]":
    """Return `_with_children` for a class whose fields are a node, a tuple of nodes, and others."""
    return lambda root, parts: cls(parts[0], _spliced(parts[1:]), *get_rest(root), span=root.span)


def _spliced(parts: "Sequence[Node | tuple[Node, ...]]") -> "tuple[Node, ...]":
    if tuple not in map(type, parts):
        return cast("tuple[Node, ...]", tuple(parts))
    made: list[Node] = []
    for item in parts:
        made += item if isinstance(item, tuple) else (item,)
    return tuple(made)


_NO_PARTS = staticmethod(_no_parts)
_WITH_CHILDREN = staticmethod(_with_children)


@_slotted
class Node:
    """The base of all IR nodes.

    Nodes never change and never learn: facts about them are side tables `Mapping[Node, Fact]`.
    `span` is the place in the user's text, or `None` for a node that a pass made.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that hold nodes, in the order of evaluation and scope."""
    PARTS: "ClassVar[staticmethod[[Any], tuple[Node, ...]]]" = _NO_PARTS
    """Gives what the fields named in `CHILDREN` hold, in one tuple; `node` makes it for each class."""
    VALUES: "ClassVar[staticmethod[[Any], tuple[Any, ...]]]" = _NO_PARTS
    """Gives the values of all fields but `span`, in the order in which the class takes them."""
    PLACES: ClassVar[tuple[int, ...]] = ()
    """Where the fields named in `CHILDREN` stand among `VALUES`."""
    SHOWN: ClassVar[tuple[str, ...]] = ()
    """The fields that `repr` shows."""
    WITH_CHILDREN: "ClassVar[staticmethod[[Any, Sequence[Node | tuple[Node, ...]]], Any]]" = _WITH_CHILDREN
    """Makes a node with other children, one for each; for a child in a tuple there may be a tuple."""
    span: Span | None = dataclasses.field(default=None, kw_only=True, repr=False)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, item.name) for item in dataclasses.fields(self))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for item, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, item.name, value)

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.SHOWN)
        return f"{type(self).__qualname__}({', '.join(shown)})"


def _parts_getter(fields: "Sequence[dataclasses.Field[Any]]") -> "Callable[[Any], tuple[Node, ...]]":
    """Return the function that gives the child nodes of a class, a short one for the common shapes of classes.

    It is called for every node of every traversal.
    """
    names = tuple(item.name for item in fields)
    match [_is_many(item) for item in fields]:
        case [True]:
            return attrgetter(*names)
        case [False, True]:
            return _one_and_many(*map(attrgetter, names))
        case kinds if not any(kind is not False for kind in kinds):
            return _tuple_getter(names)
        case _:
            return lambda root: _parts_by_value(root, names)


def _one_and_many(get_one: Callable[[Any], Any], get_many: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda root: (get_one(root), *get_many(root))


def _tuple_getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that gives the fields called `names` in a tuple; `attrgetter` makes none of one field."""
    match names:
        case ():
            return _no_parts
        case (name,):
            return _in_tuple(attrgetter(name))
        case _:
            return attrgetter(*names)


def _in_tuple(get: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda root: (get(root),)


def _is_many(field: "dataclasses.Field[Any]") -> bool | None:
    """Tell whether a field holds a tuple of nodes or one node; `None` if its type alone does not say."""
    if get_origin(field.type) is tuple:
        return True
    return False if isinstance(field.type, type) and issubclass(field.type, Node) else None


def _parts_by_value(root: "Node", names: tuple[str, ...]) -> "tuple[Node, ...]":
    found: list[Node] = []
    for name in names:
        value: Any = getattr(root, name)
        if isinstance(value, Node):
            found.append(value)
        elif value:
            found += value
    return tuple(found)


def children(root: Node) -> tuple[Node, ...]:
    """Return the direct child nodes of `root` in the order of evaluation and scope."""
    return root.PARTS(root)


def map_children(root: N, change: Callable[[Node], "Node | tuple[Node, ...]"]) -> N:
    """Return `root` with `change` applied to each child, or `root` itself if nothing changed.

    For a child in a tuple field `change` may return a tuple of nodes, which is spliced in.
    """
    before = root.PARTS(root)
    after = tuple(map(change, before))
    # Nodes compare by identity.
    return root if after == before else root.WITH_CHILDREN(root, after)


def postorder(*roots: Node) -> Iterator[Node]:
    """Yield every node reachable from `roots` once, children before parents, without recursion."""
    seen: set[Node] = set()
    # `None` says that what is under it on the stack has had its children.
    stack: list[Node | None] = [*reversed(roots)]
    while stack:
        current = stack.pop()
        if current is None:
            yield cast("Node", stack.pop())
        elif current not in seen:
            seen.add(current)
            parts = current.PARTS(current)
            if parts:
                stack += (current, None)
                stack += parts[::-1]
            else:
                yield current


def outside(root: Node, kind: type[Node]) -> Iterator[Node]:
    """Yield the nodes that `preorder` does, but for what stands in a node of `kind`: it is yielded, not entered."""
    seen: set[Node] = set()
    stack: list[Node] = [root]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            yield current
            if not isinstance(current, kind):
                stack += current.PARTS(current)[::-1]


@lru_cache(maxsize=2)
def nodes_in(root: Node) -> tuple[Node, ...]:
    """Return what `preorder` yields, kept for the latest roots: analyses in a row ask for the nodes of one function."""
    return tuple(preorder(root))


def preorder(root: Node) -> Iterator[Node]:
    """Yield every node reachable from `root` once, parents before children, without recursion."""
    seen: set[Node] = set()
    stack: list[Node] = [root]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            yield current
            stack += current.PARTS(current)[::-1]
