"""Variables that a match binds: what depends on them belongs to the match and cannot be an input."""

from collections.abc import Iterable

from relax_core.ir.expr import Constant, Function, GlobalVar, MatchCast, Op, Var, VarBinding
from relax_core.ir.node import Node, children, postorder
from relax_core.ir.relay import Let, PatternVar


def bound_by(node: Node) -> tuple[Var, ...]:
    """Return the variables that `node` binds."""
    match node:
        case Function(params=params):
            return params
        case Let(var=var) | PatternVar(var=var) | VarBinding(var=var) | MatchCast(var=var):
            return (var,)
        case _:
            return ()


def bound_inside(described: Iterable[Node]) -> set[Node]:
    """Return the nodes that depend on variables bound in `described`, with the literals and names beside them.

    A scope inside is returned whole, with what depends on its own variables.
    """
    found: set[Node] = set()
    for binder in described:
        if isinstance(binder, Function | Let):
            found |= _computed_from(binder)
    return found


def _computed_from(binder: Function | Let) -> set[Node]:
    order = tuple(postorder(binder.body))
    bound: set[Node] = set(bound_by(binder))
    for node in order:
        bound.update(bound_by(node))
    needs = set(bound)
    for node in order:
        if any(child in needs for child in children(node)):
            needs.add(node)
    found = needs - bound
    return found | {child for node in found for child in children(node) if isinstance(child, Constant | GlobalVar | Op)}
