"""Liveness: after which binding of a list a variable is not used again."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ir.expr import Binding, Function, MatchCast, SeqExpr, Var, VarBinding
from relax_core.ir.node import Node, preorder
from relax_core.ir.substitute import type_nodes, types_in


def used_vars(root: Node) -> tuple[Var, ...]:
    """Return the variables that occur in `root`, types included and definitions left out, in order of first use."""
    found: dict[Var, None] = {}
    defined: set[Var] = set()
    for node in preorder(root):
        match node:
            case VarBinding(var=var) | MatchCast(var=var):
                defined.add(var)
            case Function(params=params):
                defined.update(params)
            case Var():
                found[node] = None
            case _:
                pass
        for type_ in types_in(node):
            found.update((part, None) for part in type_nodes(type_) if isinstance(part, Var))
    return tuple(var for var in found if var not in defined)


def last_uses(sequence: SeqExpr) -> Mapping[Binding, tuple[Var, ...]]:
    """Return for each binding the variables whose last use it is, in the order of their definition.

    A use inside a branch or a local function counts as a use by the binding that holds it. A variable that is never
    used dies at its own binding. Variables of the list's value stay alive, and so do those that are not bound here.
    See: tvm/src/relax/transform/kill_after_last_use.cc
    """
    bindings = [binding for block in sequence.blocks for binding in block.bindings]
    alive = set(used_vars(sequence.body))
    own = {binding.var: place for place, binding in enumerate(bindings) if isinstance(binding, VarBinding | MatchCast)}
    ends: dict[Binding, tuple[Var, ...]] = {}
    for binding in reversed(bindings):
        assert isinstance(binding, VarBinding | MatchCast), "a binding of Relax binds a variable"
        used = {var for var in (*used_vars(binding), binding.var) if var in own and var not in alive}
        alive |= used
        ends[binding] = tuple(sorted(used, key=own.__getitem__))
    return MappingProxyType({binding: ends[binding] for binding in bindings})


def live_after(sequence: SeqExpr) -> Mapping[Binding, tuple[Var, ...]]:
    """Return for each binding the variables of the list that are alive behind it, in the order of their definition."""
    ends = last_uses(sequence)
    alive: dict[Var, None] = {}
    result: dict[Binding, tuple[Var, ...]] = {}
    for binding, dying in ends.items():
        assert isinstance(binding, VarBinding | MatchCast), "a binding of Relax binds a variable"
        alive[binding.var] = None
        for var in dying:
            alive.pop(var, None)
        result[binding] = tuple(alive)
    return MappingProxyType(result)
