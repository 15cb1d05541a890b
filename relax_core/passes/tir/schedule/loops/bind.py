"""Bind a loop to the threads of a GPU."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.loops.kinds import LoopKindChange, LoopOptions, with_kind
from relax_core.passes.tir.schedule.nest import REFUSED

TAGS = (*(f"{kind}Idx.{axis}" for kind in ("block", "thread") for axis in "xyz"), "vthread", "vthread.x", "vthread.y",
        "vthread.z")  # fmt: skip


@dataclass(frozen=True, slots=True)
class BindOptions:
    """A loop of a block, and the tag of the threads: "blockIdx.x"."""

    block: str
    loop: str
    thread: str = ""
    function: str = ""


def run(module: IRModule, options: BindOptions, ctx: PassContext) -> IRModule:
    """Bind the loop to threads; a loop that reduces only to those of one block, which can add up together."""
    if options.thread not in TAGS:
        ctx.fail(
            REFUSED, f"there are no threads {options.thread or 'without a tag'}", module, f"tags: {', '.join(TAGS)}"
        )
    loop = LoopOptions(options.block, options.loop, options.function)
    return with_kind(module, loop, LoopKindChange("Bind", "thread_binding", options.thread), ctx)


PASS = Pass(
    "Bind",
    "Schedule: binds a loop to the threads of a GPU.",
    run,
    BindOptions,
    see="tvm/src/s_tir/schedule/primitive/for_kind.cc",
    dialect="tir",
)
