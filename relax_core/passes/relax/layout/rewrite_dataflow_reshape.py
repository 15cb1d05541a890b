"""Make a reshape of a prim func that only reshapes, so that nothing is copied."""

from dataclasses import replace

from relax_core.analysis.reshape_prim_func import is_reshape
from relax_core.ir.expr import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    GlobalVar,
    Op,
    ShapeExpr,
    TensorType,
    Tuple,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.relax.operators.calls import op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace call_tir of prim funcs that copy their elements in order, in dataflow blocks.

    The machine gives a reshape the memory of its argument, which nothing may write into afterwards: that is known of
    what only a dataflow block sees. An output of the block is copied.
    """
    reshapes = {var.name for var, function in module.prim_funcs if is_reshape(function)}

    def view(node: Node) -> Node | None:
        """Rule: call_tir(copy in order, x) -> reshape(x, shape)."""
        if not isinstance(node, DataflowBlock):
            return None
        bindings = tuple(_viewed(item, reshapes, ctx) for item in node.bindings)
        return None if bindings == node.bindings else replace(node, bindings=bindings)

    return rewrite_functions(module, ctx, lambda _, __: (view,), (DataflowBlock,))


def _reshape(binding: Binding, reshapes: set[str]) -> tuple[str, Expr] | None:
    """Return the prim func and the reshape for a binding, if its value is one."""
    match binding:
        case VarBinding(
            value=Call(
                op=Op(name="relax.call_tir"),
                args=(GlobalVar(name=name), Tuple(fields=(x, *_)), *_),
                type_args=(TensorType(shape=tuple() as dims),),
            )
        ) if name in reshapes:
            return name, op_call("reshape", x, ShapeExpr(dims))
        case _:
            return None


def _viewed(binding: Binding, reshapes: set[str], ctx: PassContext) -> Binding:
    """Return a binding with a reshape as its value, if that is what it computes and only its block sees it."""
    found = _reshape(binding, reshapes)
    if found is None:
        return binding
    name, value = found
    if not isinstance(binding.var, DataflowVar):
        ctx.remark(binding, "missed", f"@{name} only reshapes, but {binding.var.name} leaves the dataflow block")
        return binding
    ctx.derive(value, binding.value, rule="call_tir of a reshape -> reshape")
    ctx.remark(binding, "applied", f"@{name} only reshapes: {binding.var.name} is a view")
    new = replace(binding, value=value)
    ctx.log.rebuilt(binding, new)
    return new


PASS = Pass(
    "RewriteDataflowReshape",
    "Makes a reshape, which copies nothing, of each call of a prim func that only reshapes.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/rewrite_dataflow_reshape.cc",
)
