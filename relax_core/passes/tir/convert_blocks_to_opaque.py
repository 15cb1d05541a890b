"""Replace the iteration variables of blocks by the values that they are bound to."""

from dataclasses import replace

from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.tir import Block, PrimFunc
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Make each block opaque: it has no iteration variables, its body is written in those of the loops around it."""

    def convert(node: Node) -> Node | None:
        """Rule: a block of iteration variables -> one of their values."""
        if not isinstance(node, Block) or not node.iter_vars:
            return None
        values = {item.var: item.binding for item in node.iter_vars}
        ctx.remark(node, "applied", f"{node.name or 'the block'} is written in the loops around it")
        # A binding is written in variables of the outside, so that it holds none of `values`.
        return ctx.substitute(replace(node, iter_vars=()), None, values)

    return change_prim_funcs(
        module, ctx, lambda _, function: _under_root(function, ctx.rewrite(function, convert), ctx)
    )


def _under_root(old: PrimFunc, new: PrimFunc, ctx: PassContext) -> PrimFunc:
    """Return `new` with its root block, if the body of `old` is another block: it has none that could be its root."""
    if not isinstance(old.body, Block) or not old.body.iter_vars:
        return new
    return replace(new, body=ctx.derive(Block("root", (), new.body, reads=(), writes=()), old.body))


PASS = Pass(
    "ConvertBlocksToOpaque",
    "Replaces the iteration variables of blocks by the values that they are bound to.",
    run,
    needs=("no init blocks",),
    gives=("opaque blocks",),
    see="tvm/src/s_tir/transform/convert_blocks_to_opaque.cc",
    dialect="tir",
)
