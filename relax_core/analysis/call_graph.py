"""The call graph of a module: which functions refer to which."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from relax_core.check.order import called_globals
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import IRModule


def call_graph(module: IRModule) -> Mapping[GlobalVar, tuple[GlobalVar, ...]]:
    """Return for each function the globals that occur in it, as callee or as value, once each."""
    return MappingProxyType({item.var: called_globals(item.function) for item in module})


def reachable(module: IRModule, roots: Iterable[GlobalVar]) -> tuple[GlobalVar, ...]:
    """Return the functions that can be reached from `roots`, these included, in the order of the module."""
    graph = {var.name: used for var, used in call_graph(module).items()}
    found: set[str] = set()
    rest = [var.name for var in roots]
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest.extend(used.name for used in graph.get(name, ()))
    return tuple(item.var for item in module if item.var.name in found)
