"""Texts made of the texts of their parts; the places of nodes are marked in them only when they are asked for."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from typing import TypeVarTuple

from relax_core.ir.node import Node
from relax_core.printer.printed import NodeRange

Parts = TypeVarTuple("Parts")

MAX_DEPTH = 40
"""Parts nested deeper are shown when all around them is, so that nesting costs no Python stack."""
# Control characters occur in no text that is printed: string literals escape them.
_MARK = re.compile("(\1[0-9]+\2|\3)")
_HOLE = re.compile("(\4[0-9]+)\5")
_CLOSING, _FILLED = "\3", "\4"


class Emitter:
    """What the printers of one text share.

    A printer shows a node as a string that it passes through `mark`, and shows what may nest through `nested`.
    """

    __slots__ = ("_depth", "_later")

    def __init__(self) -> None:
        self._depth = 0
        self._later: list[Callable[[], str]] = []

    def mark(self, node: Node, text: str) -> str:
        """Return `text` as the text that shows `node`."""
        return text

    def nested(self, show: Callable[[*Parts], str], *args: *Parts) -> str:
        """Return what `show` does, or a hole that `whole` fills if the nesting is too deep to go on from here."""
        if self._depth >= MAX_DEPTH:
            self._later.append(partial(show, *args))
            return f"\4{len(self._later) - 1}\5"
        self._depth += 1
        text = show(*args)
        self._depth -= 1
        return text

    def whole(self, text: str) -> str:
        """Return `text` with its holes filled, and those in the fillings."""
        if not self._later:
            return text
        self._depth = 0
        # Showing a part may leave holes of its own, which come behind in the list.
        filled = [show() for show in self._later]
        found: list[str] = []
        stack: list[Iterator[str]] = [iter(_HOLE.split(text))]
        while stack:
            for part in stack[-1]:
                if part.startswith(_FILLED):
                    stack.append(iter(_HOLE.split(filled[int(part[1:])])))
                    break
                found.append(part)
            else:
                stack.pop()
        return "".join(found)


class MarkingEmitter(Emitter):
    """Puts marks around the text of every node."""

    __slots__ = ("_nodes",)

    def __init__(self) -> None:
        super().__init__()
        self._nodes: list[Node] = []

    def mark(self, node: Node, text: str) -> str:
        self._nodes.append(node)
        return f"\1{len(self._nodes) - 1}\2{text}\3"

    def unmarked(self, marked: str) -> tuple[str, tuple[NodeRange, ...]]:
        """Return a whole text without its marks, and the ranges of the nodes in the order of their starts."""
        out: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        nodes: list[Node] = []
        open_slots: list[int] = []
        position = 0
        parts = iter(_MARK.split(marked))
        # A text and the mark behind it, in turn; behind the last text there is none.
        for text, mark in zip_longest(parts, parts, fillvalue=""):
            out.append(text)
            position += len(text)
            if mark == _CLOSING:
                ends[open_slots.pop()] = position
            elif mark:
                open_slots.append(len(starts))
                starts.append(position)
                ends.append(position)
                nodes.append(self._nodes[int(mark[1:-1])])
        return "".join(out), tuple(map(NodeRange, starts, ends, nodes))
