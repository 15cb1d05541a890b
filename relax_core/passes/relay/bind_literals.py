"""Put literals that are given to composites in the place of their parameters.

Relax keeps what some operators take, such as the value of `nn.pad`, as attributes; a composite has it as a parameter.
"""

from collections import Counter
from dataclasses import replace
from itertools import chain

from relax_core.ir.attrs import has_attr
from relax_core.ir.expr import Call, Constant, Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.values import with_values
from relax_core.passes.core import PassContext


def bind_literals(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` without the parameters of composites whose one call gives them a tensor literal."""
    changed = [
        replace(item, function=after)
        for item in module.definitions
        if isinstance(item.function, Function) and (after := _bound(item.function, ctx)) is not item.function
    ]
    return module.with_definitions(*changed) if changed else module


def _bound(function: Function, ctx: PassContext) -> Function:
    order = tuple(postorder(function))
    literal_of = _literals(order)
    if not literal_of:
        return function
    new_of: dict[Node, Node] = {}
    for node in order:
        new_of[node] = new = _new(node, new_of, literal_of)
        ctx.log.rebuilt(node, new)
    result = new_of[function]
    assert isinstance(result, Function), "a function stays a function"
    return result


def _literals(order: tuple[Node, ...]) -> dict[Var, Constant]:
    """Return what becomes of the parameters of composites that are called once with literals."""
    called = [
        (node.op, node)
        for node in order
        if isinstance(node, Call) and isinstance(node.op, Function) and has_attr(node.op.attrs, "Composite")
    ]
    uses = Counter(chain.from_iterable(map(children, order))) if called else Counter[Node]()
    found: dict[Var, Constant] = {}
    for composite, call in called:
        if uses[composite] == 1:
            pairs = zip(composite.params, call.args, strict=False)
            found.update({param: arg for param, arg in pairs if isinstance(arg, Constant)})
    return found


def _new(node: Node, new_of: dict[Node, Node], literal_of: dict[Var, Constant]) -> Node:
    match node:
        case Var():
            return literal_of.get(node, node)
        case Function(params=params, body=body) if any(param in literal_of for param in params):
            kept = tuple(param for param in params if param not in literal_of)
            after = replace(node, params=kept)
            return with_values(after, {body: new_of[body]})
        case Call(op=Function(params=params) as callee, args=args) if any(param in literal_of for param in params):
            pairs = zip(params, args, strict=False)
            kept = tuple(arg for param, arg in pairs if param not in literal_of)
            return with_values(replace(node, args=kept), {**{arg: new_of[arg] for arg in kept}, callee: new_of[callee]})
        case _:
            return with_values(node, new_of)
