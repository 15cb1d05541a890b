"""What a pattern of several bindings says of them: which uses which, sequences of uses, and what collects these.

    with PatternContext() as ctx:
        product = is_op("relax.matmul")(x, wildcard())  # x is used by the product, at index 0
        product >> is_op("relax.nn.relu")(wildcard(), add_constraint=False)

See: tvm/python/tvm/relax/dpl/context.py
"""

from abc import ABC, abstractmethod
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self

ANYWHERE = -1
"""The index of an edge for a use at any place."""


class Linked(ABC):
    """What edges lead from and to; patterns are."""

    __slots__ = ()

    @abstractmethod
    def dup(self) -> Self:
        """Return another pattern for the same, all of whose parts are others, too; no edge leads from or to it."""

    def used_by(self, other: "Linked | PatternSeq", index: int = ANYWHERE) -> "PatternSeq":
        """Say that what this matches is used by what `other` matches, by a call as the argument `index`."""
        return _joined(self, other, index, is_only=False)

    def only_used_by(self, other: "Linked | PatternSeq", index: int = ANYWHERE) -> "PatternSeq":
        """Say that what this matches is used by what `other` matches, and by nothing else."""
        return _joined(self, other, index, is_only=True)

    def __xor__(self, other: "Linked | PatternSeq") -> "PatternSeq":
        return self.used_by(other)

    def __rshift__(self, other: "Linked | PatternSeq") -> "PatternSeq":
        return self.only_used_by(other)

    def fork_to(self, *others: "Linked | PatternSeq") -> None:
        """Say that what this matches is used by what each of `others` matches."""
        for other in others:
            self.used_by(other)

    def same_shape_as(self, *others: "Linked") -> "SameShapeConstraint":
        """Say that all match tensors of one shape, as far as that is proven."""
        made = SameShapeConstraint((self, *others))
        for graph in _OPEN.get()[-1:]:
            graph.same_shapes.append(made)
        return made


@dataclass(frozen=True, slots=True)
class Edge:
    """What `producer` matches is used by what `consumer` matches: as its argument `index`, or anywhere.

    With `is_only` nothing else uses it.
    """

    producer: Linked
    consumer: Linked
    index: int = ANYWHERE
    is_only: bool = False


@dataclass(frozen=True, slots=True)
class SameShapeConstraint:
    """What these match are tensors of one shape."""

    patterns: tuple[Linked, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PatternSeq:
    """A chain of patterns with an edge from each to the next; `seq[0]` is the first of them."""

    patterns: tuple[Linked, ...]
    edges: tuple[Edge, ...] = ()

    def __getitem__(self, index: int) -> Linked:
        return self.patterns[index]

    def dup(self) -> "PatternSeq":
        """Return a chain of other patterns for the same, with edges of the same kinds."""
        made = PatternSeq((self.patterns[0].dup(),))
        for edge, item in zip(self.edges, self.patterns[1:], strict=True):
            made = _joined(made, item.dup(), edge.index, is_only=edge.is_only)
        return made

    def used_by(self, other: "Linked | PatternSeq", index: int = ANYWHERE) -> "PatternSeq":
        """Say that what the last pattern matches is used by what the first one of `other` matches."""
        return _joined(self, other, index, is_only=False)

    def only_used_by(self, other: "Linked | PatternSeq", index: int = ANYWHERE) -> "PatternSeq":
        """Say that what the last pattern matches is used by what the first one of `other` matches, and nothing else."""
        return _joined(self, other, index, is_only=True)

    def __xor__(self, other: "Linked | PatternSeq") -> "PatternSeq":
        return self.used_by(other)

    def __rshift__(self, other: "Linked | PatternSeq") -> "PatternSeq":
        return self.only_used_by(other)


class PatternGraph:
    """Edges and constraints, in the order in which they were said while the graph was open.

    They are said to the innermost graph that is open, and to none if none is. With `incremental` a graph begins with
    what was said to the one that is open where it is made.
    """

    def __init__(self, incremental: bool = False) -> None:  # noqa: FBT001, FBT002  # as in TVM
        outer = _OPEN.get()[-1:] if incremental else ()
        self.edges: list[Edge] = [edge for graph in outer for edge in graph.edges]
        self.same_shapes: list[SameShapeConstraint] = [item for graph in outer for item in graph.same_shapes]

    @classmethod
    def current(cls) -> Self:
        """Return the graph that is open, the innermost one: edges that are said go to it.

        Raises:
            LookupError: none is open.
        """
        found = _OPEN.get()[-1:]
        if not found or not isinstance(found[0], cls):
            raise LookupError(f"no {cls.__name__} is open: open one by `with {cls.__name__}():`")
        return found[0]

    def __enter__(self) -> Self:
        _OPEN.set((*_OPEN.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        opened = _OPEN.get()
        assert opened[-1:] == (self,), "graphs are closed in the reverse order of opening"
        _OPEN.set(opened[:-1])


_OPEN: ContextVar[tuple[PatternGraph, ...]] = ContextVar("open pattern graphs", default=())


def _joined(left: "Linked | PatternSeq", right: "Linked | PatternSeq", index: int, *, is_only: bool) -> PatternSeq:
    first, second = _sequence(left), _sequence(right)
    edge = Edge(first.patterns[-1], second.patterns[0], index, is_only)
    for graph in _OPEN.get()[-1:]:
        graph.edges.append(edge)
    return PatternSeq((*first.patterns, *second.patterns), (*first.edges, edge, *second.edges))


def _sequence(item: "Linked | PatternSeq") -> PatternSeq:
    return item if isinstance(item, PatternSeq) else PatternSeq((item,))
