"""Write the iterations of a loop one after the other."""

from dataclasses import dataclass, replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm
from relax_core.ir.tir import For, seq, statements
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.copies import copied
from relax_core.passes.tir.sequences import flat, leaves_early

MOST_STATEMENTS = 4096
"""A loop that would become more statements stays a loop: a short text could ask for one that fills the memory."""


@dataclass(frozen=True, slots=True)
class UnrollOptions:
    """Loops of at most `auto_max_extent` iterations are unrolled, too, if there is no loop in them."""

    auto_max_extent: int = 0


def run(module: IRModule, options: UnrollOptions, ctx: PassContext) -> IRModule:
    """Write out each loop `for i in T.unroll(n)` of a known extent: n copies of its body, in which i is a literal.

    TVM counts steps for `auto_max_step` and depths for `auto_max_depth`, and reads `pragma_auto_unroll_max_step`; here
    one option says which serial loops are unrolled unasked. Indices stay sums of literals, as in TVM, until
    StmtSimplify. TVM has no limit on the text that it makes.
    """

    def stays(loop: For, why: str) -> Node | None:
        ctx.remark(loop, "missed", f"{loop.var.name} stays a loop: {why}")
        if loop.kind != "unroll":
            return None
        ctx.remark(loop, "applied", f"{loop.var.name} becomes a serial loop")
        return replace(loop, kind="serial")

    def unroll(node: Node) -> Node | None:
        """Rule: for i in T.unroll(2): S -> S with 0, S with 1."""
        if not isinstance(node, For) or not _is_meant(node, options):
            return None
        if leaves_early(node.body):
            return stays(node, "it has a break or a continue")
        match node.start, node.extent:
            case IntImm(value=start, dtype=dtype), IntImm(value=extent) if node.step is None:
                size = sum(1 for _ in statements(node.body))
                if size * extent > MOST_STATEMENTS:
                    return stays(node, f"it would be {size * extent} statements")
                ctx.remark(node, "applied", f"the {extent} iterations of {node.var.name} are written out")
                return seq([copied(node.body, {node.var: IntImm(start + at, dtype)}) for at in range(extent)])
            case _:
                ctx.remark(node, "missed", f"{node.var.name} stays a loop: how often it runs is not known")
                return None

    return change_prim_funcs(module, ctx, lambda _, function: ctx.rewrite(function, unroll, flat))


def _is_meant(loop: For, options: UnrollOptions) -> bool:
    if loop.kind != "serial":
        return loop.kind == "unroll"
    is_short = isinstance(loop.extent, IntImm) and loop.extent.value <= options.auto_max_extent
    return is_short and not any(isinstance(item, For) for item in statements(loop.body))


PASS = Pass(
    "UnrollLoop",
    "Writes the iterations of `for i in T.unroll(n)` one after the other.",
    run,
    UnrollOptions,
    see="tvm/src/tirx/transform/unroll_loop.cc",
    dialect="tir",
)
