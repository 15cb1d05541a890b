"""Put a loop that runs once around a block or a loop."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm, PrimVar
from relax_core.ir.tir import For
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import nest_of, replaced


@dataclass(frozen=True, slots=True)
class AddUnitLoopOptions:
    """A block, or a loop of it, which the new loop is put around."""

    block: str
    loop: str = ""
    function: str = ""


def run(module: IRModule, options: AddUnitLoopOptions, ctx: PassContext) -> IRModule:
    """Put a loop `u` around the block, or around its loop if one is named, so that there is one to bind."""
    nest = nest_of(module, options.block, options.function, ctx)
    inner = nest.loop(options.loop) if options.loop else nest.block
    names = {loop.var.name for loop in nest.loops}
    name = next(name for n in range(len(names) + 1) if (name := f"u_{n}" if n else "u") not in names)
    made = For(PrimVar(name, "int32"), IntImm(0, "int32"), IntImm(1, "int32"), inner)
    ctx.remark(inner, "applied", f"{name} runs once around {options.loop or options.block}")
    return replaced(module, nest, inner, ctx.derive(made, inner), "a statement -> in a loop that runs once")


PASS = Pass(
    "AddUnitLoop",
    "Schedule: puts a loop that runs once around a block or a loop.",
    run,
    AddUnitLoopOptions,
    see="tvm/src/s_tir/schedule/primitive/loop_transformation.cc",
    dialect="tir",
)
