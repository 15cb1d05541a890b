"""Turn dataflow blocks into ordinary binding blocks."""

from dataclasses import replace

from relax_core.ir.expr import BindingBlock, DataflowBlock, DataflowVar, Expr, Function, GlobalVar, SeqExpr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import change_functions


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace every `DataflowBlock` by a `BindingBlock` and every `DataflowVar` by a `Var` of the same name."""
    var_of: dict[Var, Expr] = {}
    for _, function in module.relax_functions:
        for item in preorder(function):
            if isinstance(item, DataflowVar):
                var_of[item] = ctx.derive(Var(item.name, item.annotation, span=item.span), item)

    def block(node: Node) -> Node | None:
        """Rule: dataflow block -> binding block."""
        if not isinstance(node, DataflowBlock):
            return None
        ctx.remark(node, "applied", f"the dataflow block of {len(node.bindings)} bindings is now an ordinary block")
        return BindingBlock(node.bindings, span=node.span)

    def change(_: GlobalVar, function: Function) -> Function:
        return ctx.rewrite(ctx.substitute(function, var_of), block, join_blocks)

    return change_functions(module, ctx, change)


def join_blocks(node: Node) -> Node | None:
    """Rule: neighbouring ordinary blocks -> one block."""
    if not isinstance(node, SeqExpr):
        return None
    blocks: list[BindingBlock] = []
    for item in node.blocks:
        is_plain = blocks and not isinstance(item, DataflowBlock) and not isinstance(blocks[-1], DataflowBlock)
        if is_plain:
            blocks[-1] = BindingBlock((*blocks[-1].bindings, *item.bindings), span=blocks[-1].span)
        else:
            blocks.append(item)
    return replace(node, blocks=tuple(blocks)) if len(blocks) < len(node.blocks) else None


PASS = Pass(
    "ToNonDataflow",
    "Turns dataflow blocks into ordinary blocks: what follows may have side effects.",
    run,
    needs=("normal form",),
    gives=("no dataflow blocks",),
    see="tvm/src/relax/transform/to_non_dataflow.cc",
)
