"""Write the initial value of a reduction as a condition in the body of its block."""

from dataclasses import replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, binary
from relax_core.ir.tir import Block, IfThenElse, IterVar, seq
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.sequences import flat


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace `with T.init(): X` by `if vk == 0: X` at the head of the block, for all reduction variables together."""

    def lower(node: Node) -> Node | None:
        """Rule: with T.init(): X -> if vk == 0: X."""
        if not isinstance(node, Block) or node.init is None:
            return None
        starts = [_at_start(item) for item in node.iter_vars if item.kind == "reduce"]
        first = node.init
        if starts:
            condition = starts[0]
            for item in starts[1:]:
                condition = binary("and", condition, item)
            first = IfThenElse(condition, node.init, span=node.init.span)
        else:
            ctx.remark(node, "note", f"{node.name or 'the block'} reduces over nothing: its init always runs")
        names = ", ".join(item.var.name for item in node.iter_vars if item.kind == "reduce")
        ctx.remark(node, "applied", f"{node.name or 'the block'} starts where {names or 'it'} starts")
        return replace(node, init=None, body=seq((first, node.body)))

    return change_prim_funcs(module, ctx, lambda _, function: ctx.rewrite(function, lower, flat))


def _at_start(item: IterVar) -> PrimExpr:
    return binary("==", item.var, item.start or IntImm(0, item.var.dtype))


PASS = Pass(
    "LowerInitBlock",
    "Writes the init of a reduction block as `if vk == 0` in its body.",
    run,
    gives=("no init blocks",),
    see="tvm/src/s_tir/transform/lower_init_block.cc",
    dialect="tir",
)
