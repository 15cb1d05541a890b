"""A text with the range of every node in it, and the writer that makes it without recursion."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias, cast

from relax_core.frontend.collector import collector_held
from relax_core.ir.node import Node

INDENT = "    "


class NodeRange(NamedTuple):
    """The half-open range of code points `[start, end)` that shows `node`."""

    start: int
    end: int
    node: Node


class Printed:
    """A text and the ranges of its nodes, in the order of their starts, outer ones first.

    A node that is shown in several places, such as a variable, has several ranges; its definition comes first. What
    `find` gives is found when the ranges are asked for, and kept until they are dropped.
    """

    __slots__ = ("_find", "_ranges", "text")

    def __init__(
        self,
        text: str,
        ranges: tuple[NodeRange, ...] = (),
        find: Callable[[], tuple[NodeRange, ...]] | None = None,
    ) -> None:
        self.text = text
        self._ranges = ranges if find is None else None
        self._find = find

    @property
    def ranges(self) -> tuple[NodeRange, ...]:
        """Where the nodes are."""
        if self._ranges is None:
            assert self._find is not None
            self._ranges = self._find()
        return self._ranges

    def drop_ranges(self) -> None:
        """Drop the ranges, several times as large as the text, if they can be found again."""
        if self._find is not None:
            self._ranges = None

    def range_of(self, node: Node) -> NodeRange | None:
        """Return the first range of `node`."""
        return next((item for item in self.ranges if item.node is node), None)


class Layout(Enum):
    """What a part does to the layout: a line break, deeper, back."""

    NEWLINE = "newline"
    DEEPER = "deeper"
    BACK = "back"


class Piece:
    """The parts that show `node`."""

    __slots__ = ("node", "parts")

    def __init__(self, node: Node, parts: "Iterable[Part]") -> None:
        self.node = node
        self.parts = parts


@dataclass(frozen=True, slots=True)
class Ready:
    """Parts that have been written before: their text, and their ranges from its start."""

    text: str
    ranges: tuple[NodeRange, ...]


Part: TypeAlias = "str | Layout | Piece | Ready | Iterator[Part]"


def write(parts: Iterable[Part], *, indent: str = INDENT) -> Printed:
    """Write parts one after the other; iterators are run as they are met, so nesting costs no Python stack."""
    with collector_held():
        return _written(parts, indent)


def _written(parts: Iterable[Part], indent: str) -> Printed:
    out: list[str] = []
    ranges: list[NodeRange] = []
    position = 0
    depth = 0
    # An open piece is its slot in `ranges`, its start and its node.
    stack: list[tuple[Iterator[Part], int, int, Node | None]] = []
    iterator = iter(parts)
    slot, start = 0, 0
    node: Node | None = None
    while True:
        for part in iterator:
            # The order of the tests is that of frequency; what is nothing else is an iterator.
            if type(part) is str:
                out.append(part)
                position += len(part)
            elif type(part) is Piece:
                inner: Iterable[Part] = part.parts
                only = cast("tuple[Part, ...]", inner)[0] if type(inner) is tuple and len(inner) == 1 else None
                if type(only) is str:
                    out.append(only)
                    ranges.append(_new(NodeRange, (position, position := position + len(only), part.node)))
                    continue
                stack.append((iterator, slot, start, node))
                iterator, slot, start, node = iter(part.parts), len(ranges), position, part.node
                ranges.append(_OPEN)
                break
            elif type(part) is Ready:
                for first, last, shown in part.ranges:
                    ranges.append(_new(NodeRange, (position + first, position + last, shown)))
                out.append(part.text)
                position += len(part.text)
            elif type(part) is Layout:
                if part is Layout.DEEPER or part is Layout.BACK:
                    depth += 1 if part is Layout.DEEPER else -1
                else:
                    line = "\n" + indent * depth
                    out.append(line)
                    position += len(line)
            else:
                stack.append((iterator, slot, start, node))
                iterator, node = cast("Iterator[Part]", part), None
                break
        else:
            if node is not None:
                ranges[slot] = _new(NodeRange, (start, position, node))
            if not stack:
                return Printed("".join(out), tuple(ranges))
            iterator, slot, start, node = stack.pop()


_new = cast("Callable[[type[NodeRange], tuple[int, int, Node]], NodeRange]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]  # generic
"""Makes a range in half the time that the constructor of the class takes; there are a dozen to a line."""
_OPEN = NodeRange(0, 0, Node())


def joined(items: Iterable[Part]) -> Iterator[Part]:
    """Yield items with commas between them; each item is asked for when those before it are written."""
    is_first = True
    for item in items:
        if not is_first:
            yield ", "
        is_first = False
        yield item
