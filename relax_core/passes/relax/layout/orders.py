"""In which order the axes of a tensor are stored, beside the order that the text says."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from relax_core.ir.expr import TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value, simplify
from relax_core.ir.prim import binary, const

_BLOCK = re.compile(r"(\d+)([a-z])")
Layout: TypeAlias = "Order | Layouts | None"
"""The order of a tensor, those of a tuple, or `None` for what has no known rank, and for what is no tensor."""


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layouts of the fields of a tuple."""

    fields: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """The axes of the text, in the order in which they are stored: `(0, 2, 3, 1)` is NHWC for a text in NCHW.

    `packed` are axes that are cut into blocks, and the sizes of these: the places in a block are further axes at the
    end. `((1, 4),)` beside `(0, 1, 2, 3)` is NCHW4c.
    """

    axes: tuple[int, ...]
    packed: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def initial(rank: int) -> "Order":
        """Return the order of the text."""
        return Order(tuple(range(rank)))

    @staticmethod
    def between(text: str, stored: str) -> "Order":
        """Return the order by the names of axes, in the text and as stored, such as NCHW and NHWC or NCHW4c."""
        blocks = _BLOCK.findall(stored)
        packed = tuple((text.index(name.upper()), int(size)) for size, name in blocks)
        return Order(tuple(map(text.index, _BLOCK.sub("", stored))), packed)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.axes)

    def place(self, axis: int) -> int:
        """Return where an axis of the text is stored; it may count from the back."""
        return self.axes.index(axis % self.rank)

    def places(self, axes: Iterable[int]) -> Iterator[int]:
        """Yield where axes of the text are stored, those in their blocks as well."""
        wanted = frozenset(axes)
        yield from (place for place, axis in enumerate(self.axes) if axis in wanted)
        yield from (self.rank + place for place, (axis, _) in enumerate(self.packed) if axis in wanted)

    def cuts(self, axes: Iterable[int]) -> bool:
        """Tell whether one of these axes of the text is cut into blocks."""
        return bool({axis % self.rank for axis in axes} & {axis for axis, _ in self.packed})

    def name(self, text: str) -> str:
        """Return the names of the axes as stored, of those in the text."""
        blocks = (f"{size}{text[axis].lower()}" for axis, size in self.packed)
        return "".join((*(text[axis] for axis in self.axes), *blocks))

    def permutation_to(self, other: "Order") -> tuple[int, ...]:
        """Return the `axes` of the `permute_dims` that brings a tensor of this order into the other one."""
        return tuple(map(self.axes.index, other.axes))

    def index_map_to(self, other: "Order") -> str:
        """Return the `index_map` of the `layout_transform` that brings a tensor of this order into the other one."""
        names = [f"i{place}" for place in range(self.rank + len(self.packed))]
        index_of = {axis: names[place] for place, axis in enumerate(self.axes)}
        sums = {
            axis: f"{index_of[axis]} * {size} + {names[self.rank + place]}"
            for place, (axis, size) in enumerate(self.packed)
        }
        cut = dict(other.packed)
        whole = {axis: f"({sums[axis]})" if axis in sums and axis in cut else index_of[axis] for axis in self.axes}
        outer = (f"{whole[axis]} // {cut[axis]}" if axis in cut else sums.get(axis, whole[axis]) for axis in other.axes)
        inner = (f"{whole[axis]} % {size}" for axis, size in other.packed)
        return f"lambda {', '.join(names)}: ({', '.join((*outer, *inner))})"

    def fits(self, type_: Type | None) -> bool:
        """Tell whether the blocks of a tensor of the text are full; a size that is no number is taken to fill them."""
        dims = type_.dims if isinstance(type_, TensorType) else None
        if dims is None:
            return not self.packed
        sizes = ((constant_value(dims[axis]), size) for axis, size in self.packed)
        return all(not isinstance(number, int) or number % size == 0 for number, size in sizes)

    def extended(self, rank: int) -> "Order":
        """Return the order with further axes in front, as in broadcasting."""
        more = rank - self.rank
        packed = tuple((axis + more, size) for axis, size in self.packed)
        return Order((*range(more), *(axis + more for axis in self.axes)), packed)

    def kept(self, dropped: Iterable[int]) -> "Order":
        """Return the order without some axes of the text, the others counted anew."""
        gone = frozenset(dropped)
        number = {axis: count for count, axis in enumerate(axis for axis in range(self.rank) if axis not in gone)}
        packed = tuple((number[axis], size) for axis, size in self.packed if axis not in gone)
        return Order(tuple(number[axis] for axis in self.axes if axis not in gone), packed)

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
        case TensorType(shape=tuple() as dims), Order(axes=axes, packed=packed):
            cut = dict(packed)
            outer = (simplify(binary("//", dims[k], const(cut[k]))) if k in cut else dims[k] for k in axes)
            shape = (*outer, *(const(size) for _, size in packed))
            return replace(type_, shape=shape, ndim=len(shape))
        case TupleType(fields=fields), Layouts(fields=layouts):
            return TupleType(tuple(map(stored_type, fields, layouts)))
        case _:
            return type_


def text_type(type_: Type, layout: Order) -> Type:
    """Return the type in the text of a tensor as it is stored."""
    match type_:
        case TensorType(shape=tuple() as dims):
            whole = dict(zip(layout.axes, dims, strict=False))
            for axis, size in layout.packed:
                whole[axis] = simplify(binary("*", whole[axis], const(size)))
            return replace(type_, shape=tuple(whole[axis] for axis in range(layout.rank)), ndim=layout.rank)
        case TensorType():
            return replace(type_, ndim=layout.rank)
        case _:
            return type_


def is_packed(layout: Layout) -> bool:
    """Tell whether a tensor, or one in a tuple, is cut into blocks."""
    if isinstance(layout, Layouts):
        return any(map(is_packed, layout.fields))
    return layout is not None and bool(layout.packed)


def fits(type_: Type | None, layout: Layout) -> bool:
    """Tell whether the blocks of a value of the text are full, as far as its sizes are known."""
    match type_, layout:
        case TupleType(fields=fields), Layouts(fields=layouts):
            return all(map(fits, fields, layouts))
        case _, Order():
            return layout.fits(type_)
        case _:
            return True
