"""The call graph of a module: which functions refer to which."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from relax_core.check.order import called_globals
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import Intrinsic, StringImm
from relax_core.ir.tir import PrimFunc


def call_graph(module: IRModule) -> Mapping[GlobalVar, tuple[GlobalVar, ...]]:
    """Return for each function the globals that occur in it, as callee or as value, once each."""
    return MappingProxyType({item.var: called_globals(item.function) for item in module})


def reachable(module: IRModule, roots: Iterable[GlobalVar]) -> tuple[GlobalVar, ...]:
    """Return the functions that can be reached from `roots`, these included, in the order of the module.

    What prim funcs call is looked for only if a prim func is not reached otherwise: few call any.
    """
    graph = {var.name: tuple(item.name for item in used) for var, used in call_graph(module).items()}
    found = _reached(graph, [var.name for var in roots])
    prim_funcs = {var.name: function for var, function in module.prim_funcs}
    if not prim_funcs.keys() <= found:
        for name, function in prim_funcs.items():
            graph[name] = _called_in(function)
        found = _reached(graph, list(found))
    return tuple(item.var for item in module if item.var.name in found)


def _reached(graph: Mapping[str, tuple[str, ...]], rest: list[str]) -> set[str]:
    found: set[str] = set()
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest.extend(graph.get(name, ()))
    return found


def _called_in(function: PrimFunc) -> tuple[str, ...]:
    """Return the names of the functions that a prim func calls."""
    found: dict[str, None] = {}
    for item in preorder(function.body):
        match item:
            case Intrinsic(name="global", args=(StringImm(value=name), *_)):
                found[name] = None
            case _:
                pass
    return tuple(found)
