"""Turn dataflow blocks into ordinary binding blocks."""

from collections.abc import Callable

from relax_core.ir.expr import BindingBlock, DataflowBlock, DataflowVar, Expr, Function, GlobalVar, SeqExpr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks


def run(
    module: IRModule,
    _options: NoOptions,
    ctx: PassContext,
    is_meant: Callable[[GlobalVar], bool] = lambda _: True,
) -> IRModule:
    """Replace every `DataflowBlock` by a `BindingBlock` and every `DataflowVar` by a `Var` of the same name.

    Another pass may mean some functions only.
    """
    var_of: dict[Var, Expr] = {}
    for name, function in module.relax_functions:
        for item in nodes_in(function) if is_meant(name) else ():
            if isinstance(item, DataflowVar):
                var_of[item] = ctx.derive(Var(item.name, item.annotation, span=item.span), item)

    def block(node: Node) -> Node | None:
        """Rule: dataflow block -> binding block."""
        if not isinstance(node, DataflowBlock):
            return None
        ctx.remark(node, "applied", f"the dataflow block of {len(node.bindings)} bindings is now an ordinary block")
        return BindingBlock(node.bindings, span=node.span)

    def change(name: GlobalVar, function: Function) -> Function:
        if not is_meant(name):
            return function
        return ctx.rewrite(ctx.substitute(function, var_of), block, join_blocks, kinds=(DataflowBlock, SeqExpr))

    return change_functions(module, ctx, change)


PASS = Pass(
    "ToNonDataflow",
    "Turns dataflow blocks into ordinary blocks: what follows may have side effects.",
    run,
    needs=("normal form",),
    gives=("no dataflow blocks",),
    see="tvm/src/relax/transform/to_non_dataflow.cc",
)
