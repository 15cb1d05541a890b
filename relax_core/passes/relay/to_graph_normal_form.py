"""ToGraphNormalForm: lets go, and their values are shared nodes.

See: tvm/src/relay/transforms/to_graph_normal_form.cc, v0.19
"""

from dataclasses import replace

from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.ir.expr import Function, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.relay import Let
from relax_core.passes.core import NoOptions, Pass, PassContext


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Return `module` without lets, but those that hold an order or a recursion."""
    return to_graph_normal_form(module, ctx)


def to_graph_normal_form(module: IRModule, ctx: PassContext) -> IRModule:
    """Put the value of each let in the place of its variable.

    A let stays if its value may have an effect, which TVM moves to its first use, or is a recursive function.
    """
    effects = effects_of(module)
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function):
            after = _inlined(item.function, effects, ctx)
            if after is not item.function:
                changed.append(replace(item, function=after))
    return module.with_definitions(*changed) if changed else module


def _inlined(function: Function, effects: Effects, ctx: PassContext) -> Function:
    order = list(postorder(function))
    value_of = {node.var: node.value for node in order if isinstance(node, Let) and _may_go(node, effects, ctx)}
    new_of: dict[Node, Node] = {}

    def new(child: Node) -> Node:
        while isinstance(child, Var) and child in value_of:
            child = value_of[child]
        return new_of[child]

    for node in order:
        if isinstance(node, Let) and node.var in value_of:
            new_of[node] = new(node.body)
            ctx.log.replace(node, new_of[node], "inline a let", known=(new_of[node],))
        else:
            new_of[node] = map_children(node, new)
            ctx.log.rebuilt(node, new_of[node])
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


def _may_go(let: Let, effects: Effects, ctx: PassContext) -> bool:
    if isinstance(let.value, Function):
        return not is_recursive(let)
    if effects.is_pure(let.value):
        return True
    ctx.remark(let, "missed", f"%{let.var.name} stays: its value may have an effect, which has its place in the order")
    return False


def is_recursive(let: Let) -> bool:
    """Tell whether the function that a let binds calls itself."""
    return any(node is let.var for node in postorder(let.value))


PASS = Pass(
    name="ToGraphNormalForm",
    summary="Removes lets: their values become shared nodes.",
    run=run,
    dialect="relay",
    see="tvm/src/relay/transforms/to_graph_normal_form.cc",
)
