"""In which order the axes of a tensor are stored, beside the order that the text says."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from relax_core.ir.expr import TensorType, TupleType, Type

Layout: TypeAlias = "Order | Layouts | None"
"""The order of a tensor, those of a tuple, or `None` for what has no known rank, and for what is no tensor."""


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layouts of the fields of a tuple."""

    fields: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """The axes of the text, in the order in which they are stored: `(0, 2, 3, 1)` is NHWC for a text in NCHW."""

    axes: tuple[int, ...]

    @staticmethod
    def initial(rank: int) -> "Order":
        """Return the order of the text."""
        return Order(tuple(range(rank)))

    @staticmethod
    def between(text: str, stored: str) -> "Order":
        """Return the order by the names of axes, in the text and as stored, such as NCHW and NHWC."""
        return Order(tuple(map(text.index, stored)))

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.axes)

    def place(self, axis: int) -> int:
        """Return where an axis of the text is stored; it may count from the back."""
        return self.axes.index(axis % self.rank)

    def name(self, text: str) -> str:
        """Return the names of the axes as stored, of those in the text."""
        return "".join(text[axis] for axis in self.axes)

    def permutation_to(self, other: "Order") -> tuple[int, ...]:
        """Return the `axes` of the `permute_dims` that brings a tensor of this order into the other one."""
        return tuple(map(self.axes.index, other.axes))

    def extended(self, rank: int) -> "Order":
        """Return the order with further axes in front, as in broadcasting."""
        more = rank - self.rank
        return Order((*range(more), *(axis + more for axis in self.axes)))

    def kept(self, dropped: Iterable[int]) -> "Order":
        """Return the order without some axes of the text, the others counted anew."""
        gone = frozenset(dropped)
        number = {axis: count for count, axis in enumerate(axis for axis in range(self.rank) if axis not in gone)}
        return Order(tuple(number[axis] for axis in self.axes if axis not in gone))

    def with_new(self, added: Iterable[int]) -> "Order":
        """Return the order with axes put in at these places of the result, of the text and as stored alike."""
        places = frozenset(added)
        rank = self.rank + len(places)
        numbers = [axis for axis in range(rank) if axis not in places]
        rest = iter([numbers[axis] for axis in self.axes])
        return Order(tuple(place if place in places else next(rest) for place in range(rank)))


def initial_layout(type_: Type | None) -> Layout:
    """Return the layout that a type of the text says."""
    match type_:
        case TensorType(ndim=int() as rank):
            return Order.initial(rank)
        case TupleType(fields=fields):
            return Layouts(tuple(map(initial_layout, fields)))
        case _:
            return None


def has_unknown_rank(type_: Type | None) -> bool:
    """Tell whether a value is, or holds, a tensor of unknown rank."""
    match type_:
        case TensorType(ndim=rank):
            return rank is None
        case TupleType(fields=fields):
            return any(map(has_unknown_rank, fields))
        case _:
            return False


def stored_type(type_: Type, layout: Layout) -> Type:
    """Return the type of a value of the text as it is stored."""
    match type_, layout:
        case TensorType(shape=tuple() as dims), Order(axes=axes):
            return replace(type_, shape=tuple(dims[axis] for axis in axes))
        case TupleType(fields=fields), Layouts(fields=layouts):
            return TupleType(tuple(map(stored_type, fields, layouts)))
        case _:
            return type_
