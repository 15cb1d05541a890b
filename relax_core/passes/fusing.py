"""What FuseOps has in common in every dialect."""

from dataclasses import dataclass
from typing import Final

from relax_core.analysis.fusion_groups import Missed
from relax_core.ir.node import Node
from relax_core.passes.core import PassContext

MAX_DEPTH: Final = 256


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """How far fusion goes: `max_depth` limits the values in a function."""

    fuse_opt_level: int = -1
    max_depth: int = MAX_DEPTH

    def __post_init__(self) -> None:
        if self.max_depth < 1:
            raise ValueError("max_depth is at least 1")


def explain_end(ctx: PassContext, end: Node, shown: str, missed: Missed | None) -> None:
    """Say why a group ends with a value, which is `shown` in the remark, although others use it."""
    if missed is not None:
        ctx.remark(end, "missed", f"{shown} is not fused into what uses it: {missed.reason}", missed.because)
