"""Where lanes are in a program: the statements that they are in, each with which of its parts comes next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from relax_core.ir.node import Node
from relax_core.ir.tir import For, LaunchThread, Stmt
from relax_core.ops.kernels.numbers import Plain
from relax_core.simt.expressions import Expressions
from relax_core.simt.lanes import Array, Mask

Part: TypeAlias = tuple[Stmt, Mask]
"""A statement, and the lanes in which it runs."""


@dataclass(slots=True, eq=False)
class Frame:
    """A statement that was entered. A copy of a stack of frames is a place to go on from."""

    node: Stmt
    mask: Mask
    part: Callable[["Frame", Expressions], Part | None]
    """Returns part number `at`, and sets the variable of a loop; `None` behind the last one. It holds no lanes."""
    at: int = 0
    condition: Node | None = None
    """What decides which lanes take part, if not all of them need to."""
    span: tuple[Plain, Plain, Plain] | None = None
    """Of a loop: its first value, that behind the last one, and the step."""

    def following(self, expressions: Expressions) -> Part | None:
        """Return the next part, for the lanes that compute with `expressions`; `None` if there is none."""
        found = self.part(self, expressions)
        self.at += 1
        return found

    def copied(self) -> "Frame":
        """Return a frame that goes on by itself."""
        return replace(self)


def body_of(node: Stmt, body: Stmt, mask: Mask) -> Frame:
    """Return the frame of a statement with one part."""
    return Frame(node, mask, lambda frame, _: None if frame.at else (body, mask))


def branches(node: Stmt, mask: Mask, parts: Sequence[tuple[Stmt, Array]], condition: Node | None = None) -> Frame:
    """Return the frame of a statement whose parts run one after the other, each for lanes of its own, if it has any."""
    taken = [(body, None if lanes.all() else lanes) for body, lanes in parts if lanes.any()]
    return Frame(node, mask, lambda frame, _: taken[frame.at] if frame.at < len(taken) else None, condition=condition)


def counted(node: For | LaunchThread, mask: Mask, numbers: range) -> Frame:
    """Return the frame of a loop that makes the same iterations in all lanes."""

    def part(frame: Frame, expressions: Expressions) -> Part | None:
        if frame.at == len(numbers):
            return None
        expressions.state.variables[node.var] = numbers[frame.at]
        return node.body, mask

    return Frame(node, mask, part, span=(numbers.start, numbers.stop, numbers.step))
