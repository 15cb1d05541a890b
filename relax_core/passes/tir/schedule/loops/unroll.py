"""Mark a loop to be unrolled."""

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.loops.kinds import LoopKindChange, LoopOptions, with_kind


def run(module: IRModule, options: LoopOptions, ctx: PassContext) -> IRModule:
    """Mark the loop, which UnrollLoop then writes out."""
    return with_kind(module, options, LoopKindChange("Unroll", "unroll"), ctx)


PASS = Pass(
    "Unroll",
    "Schedule: marks a loop that UnrollLoop writes out.",
    run,
    LoopOptions,
    see="tvm/src/s_tir/schedule/primitive/for_kind.cc",
    dialect="tir",
)
