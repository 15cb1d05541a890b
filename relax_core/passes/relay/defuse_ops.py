"""DefuseOps: calls of fused functions become their operators again.

See: tvm/src/relay/transforms/defuse_ops.cc, v0.19
"""

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Expr, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.relay import Let
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relay.rebuild import change_functions, rebuild


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Put the body of each primitive function that is called where it stands in the place of the call."""

    def change(old: Node, rebuilt: Node) -> Node:
        match rebuilt:
            case Call(op=Function() as function, args=args) if attr(function.attrs, "Primitive"):
                ctx.remark(old, "applied", "the operators of a fused function stand by themselves")
                return _opened(function, args, ctx)
            case Let(var=var, value=Function(attrs=attrs)) if attr(attrs, "Primitive"):
                ctx.remark(old, "missed", f"%{var.name} stays a fused function: it is not called where it stands")
                return rebuilt
            case _:
                return rebuilt

    return change_functions(module, lambda function: rebuild(function, change, ctx), ctx)


def _opened(function: Function, args: tuple[Expr, ...], ctx: PassContext) -> Expr:
    """Return the body of `function` with arguments for its parameters."""
    new_of: dict[Node, Node] = dict(zip(function.params, args, strict=True))
    for node in postorder(function.body):
        if node not in new_of:
            new_of[node] = map_children(node, new_of.__getitem__)
            ctx.log.rebuilt(node, new_of[node])
    result = new_of[function.body]
    assert isinstance(result, Expr), "an expression stays one"
    return result


PASS = Pass(
    "DefuseOps",
    "Puts the operators of fused functions in the place of their calls.",
    run,
    dialect="relay",
    see="tvm/src/relay/transforms/defuse_ops.cc",
    reads_data=False,
)
