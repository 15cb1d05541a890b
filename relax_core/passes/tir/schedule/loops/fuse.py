"""Join loops that stand directly in each other."""

import itertools
from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, binary
from relax_core.ir.tir import For
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.nest import Nest, nest_of, plain_loop, rebound, replaced, uses


@dataclass(frozen=True, slots=True)
class FuseOptions:
    """The loops to join, the outermost first."""

    block: str
    loops: tuple[str, ...] = ()
    function: str = ""


def run(module: IRModule, options: FuseOptions, ctx: PassContext) -> IRModule:
    """Join the loops `i` and `j` into `i_j_fused`, of which they are the quotient and the remainder."""
    nest = nest_of(module, options.block, options.function, ctx)
    loops = [nest.loop(name) for name in options.loops]
    _check(nest, loops)
    name = f"{'_'.join(item.var.name for item in loops)}_fused"
    var = PrimVar(name, loops[0].var.dtype)
    extent: PrimExpr = loops[0].extent
    for loop in loops[1:]:
        extent = binary("*", extent, loop.extent)
    made = For(var, loops[0].start, tidy(extent), loops[-1].body, span=loops[0].span)
    values: dict[PrimVar, PrimExpr] = {}
    below: PrimExpr = IntImm(1, var.dtype)
    for number, loop in reversed(list(enumerate(loops))):
        part: PrimExpr = var if number == 0 else binary("%", var, tidy(binary("*", below, loop.extent)))
        values[loop.var] = part if number == len(loops) - 1 else binary("//", part, below)
        below = tidy(binary("*", below, loop.extent))
    outside = [*nest.loops[: nest.loops.index(loops[0])], made]
    body = rebound(ctx.substitute(loops[-1].body, None, values), nest, outside)
    ctx.remark(loops[0], "applied", f"{', '.join(options.loops)} are joined into {name}")
    fused = For(var, made.start, made.extent, body, span=made.span)
    return replaced(module, nest, loops[0], fused, "loops in each other -> one loop")


def _check(nest: Nest, loops: list[For]) -> None:
    if len(loops) < 2:
        nest.refuse("two loops or more are joined", nest.block, "write loops=['i', 'j']")
    for loop in loops:
        plain_loop(nest, loop, "Fuse")
    for outer, inner in itertools.pairwise(loops):
        if outer.body is not inner:
            message = (
                f"{inner.var.name} is not the only child of {outer.var.name}; Fuse joins a parent with its only child"
            )
            nest.refuse(message, inner, "Reorder brings loops next to each other")
        if uses(outer.var, inner.extent):
            message = f"how often {inner.var.name} runs depends on {outer.var.name}"
            nest.refuse(message, inner, "join loops whose extents do not depend on each other")


PASS = Pass(
    "Fuse",
    "Schedule: joins loops that stand directly in each other.",
    run,
    FuseOptions,
    see="tvm/src/s_tir/schedule/primitive/loop_transformation.cc",
    dialect="tir",
)
