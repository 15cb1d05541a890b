"""Definitions and uses of variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import Function, MatchCast, Var, VarBinding
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.substitute import type_nodes, types_in

Definer: TypeAlias = VarBinding | MatchCast | Function


@dataclass(frozen=True, slots=True)
class Uses:
    """Where variables are defined and used.

    `definition_of` gives the binding, or the function whose parameter it is. `users_of` gives the nodes that hold
    an occurrence, once for each, in the order of the text; an occurrence in a type counts, the definition does not.
    """

    definition_of: Mapping[Var, Definer]
    users_of: Mapping[Var, tuple[Node, ...]]

    def count(self, var: Var) -> int:
        """Return the number of occurrences of `var` besides its definition."""
        return len(self.users_of.get(var, ()))


def uses(root: Node) -> Uses:
    """Return the definitions and uses in `root`. Complexity: linear."""
    definition_of: dict[Var, Definer] = {}
    users_of: dict[Var, list[Node]] = {}
    for node in preorder(root):
        for var in _occurrences(node, definition_of):
            users_of.setdefault(var, []).append(node)
    frozen = {var: tuple(users) for var, users in users_of.items()}
    return Uses(MappingProxyType(definition_of), MappingProxyType(frozen))


def _occurrences(node: Node, definition_of: dict[Var, Definer]) -> list[Var]:
    """Note what `node` defines, and return the variables that it uses itself."""
    found = [part for type_ in types_in(node) for part in type_nodes(type_) if isinstance(part, Var)]
    match node:
        case Function(params=params, body=body):
            definition_of.update(dict.fromkeys(params, node))
            direct: tuple[Node, ...] = (body,)
        case VarBinding(var=var, value=value) | MatchCast(var=var, value=value):
            definition_of[var] = node
            direct = (value,)
        case _:
            direct = children(node)
    return [*(part for part in direct if isinstance(part, Var)), *found]
