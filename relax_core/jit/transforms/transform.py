"""What a transformation of a nest of loops is, and how it answers for one loop."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from relax_core.ir.node import Node
from relax_core.ir.tir import For
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop is going to be emitted: `reason` is what the remark says, `emit` writes the code.

    All but the loops that it writes with `repeat` stems from `statement`, if there is one, where it does not say else.
    """

    reason: str
    emit: Callable[[], None]
    statement: Node | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """What is done before a loop and behind it, which is emitted within `enter` by whatever takes it."""

    reason: str
    enter: Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a loop that looks like the transformation's is left to the naive lowering."""

    reason: str


@dataclass(frozen=True, slots=True)
class Transform:
    """A transformation of a nest of loops.

    `plan` looks at a loop and emits nothing: `None` if the loop is not of its kind at all. Its code computes the
    same values, bit for bit, as the naive lowering in each of `modes`; in "fast" it may differ by rounding.
    """

    name: str
    summary: str
    modes: frozenset[Mode]
    plan: Callable[[State, For], Plan | Around | Refusal | None]
