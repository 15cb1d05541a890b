"""The interface of a transformation of loop nests: a plan, a refusal, or neither."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from relax_core.ir.node import Node
from relax_core.ir.tir import For, Stmt
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop will be emitted: `reason` is the text of the remark, `emit` appends the code.

    The origin of the code is `statement`, if there is one, but for loops that `repeat` makes and what says otherwise.
    `nest` returns the plan as a loop nest, once the code is emitted; it is asked for only where somebody reads it.
    """

    reason: str
    emit: Callable[[], None]
    nest: Callable[[], tuple[Stmt, ...]]
    statement: Node | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """Code around a loop: whichever transformation takes the loop emits it inside the context `enter`.

    `nest` puts the plan around the statement that the loop became.
    """

    reason: str
    enter: Callable[[], AbstractContextManager[None]]
    nest: Callable[[Stmt], Stmt]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a loop of the transformation's kind is left to the naive lowering."""

    reason: str


@dataclass(frozen=True, slots=True)
class Transform:
    """A transformation of a nest of loops.

    `plan` analyses a loop and emits nothing; it returns `None` if the loop is not of its kind. In each of `modes` the
    code computes the same bits as the naive lowering, but that in "fast" results may differ by rounding.
    """

    name: str
    summary: str
    modes: frozenset[Mode]
    plan: Callable[[State, For], Plan | Around | Refusal | None]
