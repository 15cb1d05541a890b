"""Copies of Relay expressions: with variables of their own, at other types."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar, cast

from relax_core.check.relay.solver import rebuilt as with_parts
from relax_core.ir.expr import Expr, Function, FuncType, Type, Var
from relax_core.ir.expr import TypeVar as RelayTypeVar
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.relay import Let, PatternVar
from relax_core.ir.rewriting.substitute import types_in, with_types
from relax_core.passes.core import PassContext

N = TypeVar("N", bound=Node)
NO_TYPES: Mapping[RelayTypeVar, Type] = MappingProxyType({})


def copied(root: N, vars: Mapping[Var, Expr], ctx: PassContext, types: Mapping[RelayTypeVar, Type] = NO_TYPES) -> N:
    """Return a copy of `root` in which `vars` and type variables are replaced, and each bound variable is another.

    Every node but the leaves is a new one, as the copy may have other types.
    """
    bound = bound_vars(root)
    new_of: dict[Node, Node] = {}
    for node in postorder(root):
        if isinstance(node, Var) and node in vars:
            new_of[node] = vars[node]
            continue
        made = map_children(node, new_of.__getitem__)
        made = with_types(made, lambda type_: at_types(type_, types))
        if made is node and (node.CHILDREN or node in bound):
            made = replace(node)
        ctx.log.rebuilt(node, made)
        new_of[node] = made
    return cast("N", new_of[root])


def bound_vars(root: Node) -> frozenset[Var]:
    """Return the variables that parameters, lets and patterns below `root` bind."""
    found: set[Var] = set()
    for node in postorder(root):
        match node:
            case Function(params=params):
                found.update(params)
            case Let(var=var) | PatternVar(var=var):
                found.add(var)
            case _:
                pass
    return frozenset(found)


def at_types(type_: Type, types: Mapping[RelayTypeVar, Type]) -> Type:
    """Return `type_` with other types for its free type variables."""
    if isinstance(type_, FuncType) and any(var in types for var in type_.type_params):
        types = {var: given for var, given in types.items() if var not in type_.type_params}
    if not types:
        return type_
    if isinstance(type_, RelayTypeVar):
        return types.get(type_, type_)
    return with_parts(type_, lambda item: at_types(item, types))


def renewed(type_: Type) -> Type:
    """Return `type_` with type variables of its own wherever a type of functions binds some."""
    if isinstance(type_, FuncType) and type_.type_params:
        fresh = {var: RelayTypeVar(var.name) for var in type_.type_params}
        bare = replace(type_, type_params=())
        made = renewed(at_types(bare, fresh))
        assert isinstance(made, FuncType), "a type of functions stays one"
        return replace(made, type_params=tuple(fresh.values()))
    return with_parts(type_, renewed)


def free_type_vars(root: Node, *more: Type) -> tuple[RelayTypeVar, ...]:
    """Return the type variables in the types below `root`, and in `more`, that nothing there binds, by first use."""
    used: dict[RelayTypeVar, None] = {}
    bound: set[RelayTypeVar] = set()
    for type_ in more:
        used.update(dict.fromkeys(_type_vars(type_)))
    for node in postorder(root):
        if isinstance(node, Function):
            bound.update(node.type_params)
        for type_ in types_in(node):
            used.update(dict.fromkeys(_type_vars(type_)))
    return tuple(item for item in used if item not in bound)


def _type_vars(type_: Type) -> list[RelayTypeVar]:
    found: list[RelayTypeVar] = []

    def visit(item: Type) -> Type:
        if isinstance(item, RelayTypeVar):
            found.append(item)
            return item
        inner = len(found)
        with_parts(item, visit)
        if isinstance(item, FuncType):
            found[inner:] = [var for var in found[inner:] if var not in item.type_params]
        return item

    visit(type_)
    return found
