"""What the compiler of kernels says of its transformations: those applied, why others were not, and plans."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from relax_core.ir.node import Node
from relax_core.ir.tir import Stmt


@dataclass(frozen=True, slots=True)
class KernelRemark:
    """One transformation at one statement; `reason` says what was done, or what forbade it."""

    kind: Literal["applied", "refused"]
    transform: str
    node: Node
    reason: str


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One transformation as a rewriting of statements: `before` are neighbours in the text, `after` what they become.

    `after` computes the same values as the code that the transformation emits, in the same loops. Of what stands around
    a loop, whatever becomes of the loop itself, it is a function of the statement that the loop became.
    """

    transform: str
    reason: str
    before: tuple[Stmt, ...]
    after: tuple[Stmt, ...] | Callable[[Stmt], Stmt]
