"""A text with the range of every node in it, and the writer that makes it without recursion."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from relax_core.ir.node import Node

INDENT = "    "


@dataclass(frozen=True, slots=True)
class NodeRange:
    """The half-open range of code points `[start, end)` that shows `node`."""

    start: int
    end: int
    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class Printed:
    """A text and the ranges of its nodes, in the order of their starts, outer ones first.

    A node that is shown in several places, such as a variable, has several ranges; its definition comes first.
    """

    text: str
    ranges: tuple[NodeRange, ...]

    def range_of(self, node: Node) -> NodeRange | None:
        """Return the first range of `node`."""
        return next((item for item in self.ranges if item.node is node), None)

    def nodes_at(self, offset: int) -> tuple[Node, ...]:
        """Return the nodes whose range covers `offset`, the innermost first."""
        return tuple(item.node for item in reversed(self.ranges) if item.start <= offset < item.end)


class Layout(Enum):
    """What a part does to the layout: a line break, deeper, back."""

    NEWLINE = "newline"
    BLANK = "blank"
    DEEPER = "deeper"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Piece:
    """The parts that show `node`."""

    node: Node
    parts: "Iterable[Part]"


Part: TypeAlias = "str | Layout | Piece | Iterator[Part]"


def write(parts: Iterable[Part]) -> Printed:
    """Write parts one after the other; iterators are run as they are met, so nesting costs no Python stack."""
    out: list[str] = []
    ranges: list[NodeRange | None] = []
    position = 0
    depth = 0
    # An open piece is its slot in `ranges`, its start and its node.
    stack: list[tuple[Iterator[Part], tuple[int, int, Node] | None]] = [(iter(parts), None)]
    while stack:
        iterator, opened = stack[-1]
        part = next(iterator, None)
        match part:
            case None:
                stack.pop()
                if opened is not None:
                    slot, start, node = opened
                    ranges[slot] = NodeRange(start, position, node)
            case str():
                out.append(part)
                position += len(part)
            case Piece(node=node, parts=inner):
                stack.append((iter(inner), (len(ranges), position, node)))
                ranges.append(None)
            case Layout.DEEPER:
                depth += 1
            case Layout.BACK:
                depth -= 1
            case Layout.NEWLINE | Layout.BLANK:
                line = "\n" + INDENT * depth if part is Layout.NEWLINE else "\n"
                out.append(line)
                position += len(line)
            case _:
                stack.append((part, None))
    return Printed("".join(out), tuple(item for item in ranges if item is not None))


def joined(items: Iterable[Part], separator: str = ", ") -> Iterator[Part]:
    """Yield items with a separator between them."""
    is_first = True
    for item in items:
        if not is_first:
            yield separator
        is_first = False
        yield item


def plain_text(parts: Iterable[Part]) -> str:
    """Return the text of parts alone."""
    return write(parts).text
