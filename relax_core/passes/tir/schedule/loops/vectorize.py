"""Make a loop a vectorized one."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.loops.kinds import LoopKindChange, LoopOptions, with_kind


def run(module: IRModule, options: LoopOptions, ctx: PassContext) -> IRModule:
    """Let the iterations of the loop be lanes of vectors; a loop that reduces is refused."""
    return with_kind(module, options, LoopKindChange("Vectorize", "vectorized"), ctx)


PASS = Pass(
    "Vectorize",
    "Schedule: makes a loop a vectorized one.",
    run,
    LoopOptions,
    see="tvm/src/s_tir/schedule/primitive/for_kind.cc",
    dialect="tir",
)
