"""Reshape once instead of several times, and not at all to the shape that is there."""

from collections.abc import Mapping
from dataclasses import replace

from relax_core.ir.equality import same_type
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, Type, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.redundancy import without_redundancy


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Let a reshape of a reshape begin with what the first one began with, and drop those that change nothing."""
    type_of = ctx.types(module)
    return without_redundancy(module, change_functions(module, ctx, lambda _, item: _changed(item, type_of, ctx)), ctx)


def _changed(function: Function, type_of: Mapping[Node, Type], ctx: PassContext) -> Function:
    source_of: dict[Expr, Expr] = {}
    for item in preorder(function):
        match item:
            case VarBinding(var=var, value=Call(op=Op(name="relax.reshape"), args=(x, _))):
                source_of[var] = source_of.get(x, x)
            case _:
                pass

    def shorten(node: Node) -> Node | None:
        """Rule: reshape(reshape(x, a), b) -> reshape(x, b); reshape(x, shape of x) -> x."""
        match node:
            case VarBinding(var=var, value=Call(op=Op(name="relax.reshape"), args=(x, shape)) as call):
                source = source_of[var]
                if same_type(type_of.get(source), type_of.get(var)):
                    ctx.remark(node, "applied", f"{var.name} has the shape of {_name(source)}: it is not reshaped")
                    return replace(node, value=source)
                if source is x:
                    words = f"{var.name} stays: {_name(x)} has another shape, and is not reshaped itself"
                    ctx.remark(node, "missed", words, (x,))
                    return None
                ctx.remark(node, "applied", f"{var.name} is reshaped from {_name(source)} directly", (x,))
                return replace(node, value=replace(call, args=(source, shape)))
            case _:
                return None

    return ctx.rewrite(function, shorten)


def _name(value: Expr) -> str:
    return value.name if isinstance(value, Var | GlobalVar) else "a constant"


PASS = Pass(
    "RemoveRedundantReshape",
    "Joins reshapes in a row, and drops those that change nothing.",
    run,
    needs=("normal form",),
    see="tvm/python/tvm/relax/transform/remove_redundant_reshape.py",
)
