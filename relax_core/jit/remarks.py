"""What the compiler of kernels says of its transformations: which were applied where, and why others were not."""

from dataclasses import dataclass
from typing import Literal

from relax_core.ir.node import Node


@dataclass(frozen=True, slots=True)
class KernelRemark:
    """One transformation at one statement; `reason` says what was done, or what forbade it."""

    kind: Literal["applied", "refused"]
    transform: str
    node: Node
    reason: str
