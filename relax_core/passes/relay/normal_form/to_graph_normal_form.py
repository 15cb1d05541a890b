"""ToGraphNormalForm: lets go, and their values are shared nodes.

See: tvm/src/relay/transforms/to_graph_normal_form.cc, v0.19
"""

from collections.abc import Sequence
from dataclasses import replace

from relax_core.analysis.relay_effects import Effects, effects_of
from relax_core.check.infer import infer
from relax_core.ir.expr import Function, TensorType, Type, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.remarks import value_name

_INLINE = "inline a let"
_UNDETERMINED = "RY013"


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Return `module` without lets, but those that hold an order or a recursion."""
    return to_graph_normal_form(module, ctx)


def to_graph_normal_form(module: IRModule, ctx: PassContext) -> IRModule:
    """Put the value of each let in the place of its variable.

    A let stays if its value may have an effect, which TVM moves to its first use, or is a recursive function. If only
    what lets declare says a type of the program, such as that of an empty list, those with such types stay.
    """
    effects = effects_of(module)
    ctx.remark_replacements(_INLINE, lambda item: f"%{value_name(item.before)} goes: its value stands where it is used")
    changed: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function):
            lets = [node for node in postorder(item.function) if isinstance(node, Let)]
            going = [let for let in lets if _may_go(let, effects, ctx)]
            telling = [let for let in going if _may_tell(let.var.annotation)]
            if telling and _is_undetermined(module, item, _inlined(item.function, going, RewriteLog())):
                for let in telling:
                    ctx.remark(let, "missed", f"%{let.var.name} stays: it declares a type that nothing else may say")
                going = [let for let in going if let not in telling]
            after = _inlined(item.function, going, ctx.log)
            if after is not item.function:
                changed.append(replace(item, function=after))
    return module.with_definitions(*changed) if changed else module


def _may_tell(declared: Type | None) -> bool:
    """Tell whether a declaration may be needed: the type is no tensor, or a part of it is none."""
    return declared is not None and not isinstance(declared, TensorType)


def _is_undetermined(module: IRModule, item: Definition, after: Function) -> bool:
    changed = module.with_definitions(replace(item, function=after))
    return any(found.code == _UNDETERMINED for found in infer(changed).diagnostics)


def _inlined(function: Function, lets: Sequence[Let], log: RewriteLog) -> Function:
    order = list(postorder(function))
    value_of = {let.var: let.value for let in lets}
    new_of: dict[Node, Node] = {}

    def new(child: Node) -> Node:
        while isinstance(child, Var) and child in value_of:
            child = value_of[child]
        return new_of[child]

    for node in order:
        if isinstance(node, Let) and node.var in value_of:
            new_of[node] = new(node.body)
            log.replace(node, new_of[node], _INLINE, known=(new_of[node],))
        else:
            new_of[node] = map_children(node, new)
            log.rebuilt(node, new_of[node])
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
    reads_data=False,
)
