"""The order in which functions are typed: callees before callers, groups of mutual recursion together."""

from collections.abc import Callable, Mapping

from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.module import BaseFunc, IRModule
from relax_core.ir.node import preorder


def called_globals(function: BaseFunc) -> tuple[GlobalVar, ...]:
    """Return the globals that occur in `function`, as callee or as value, in order of first occurrence."""
    if not isinstance(function, Function):
        return ()
    return tuple(part for part in preorder(function.body) if isinstance(part, GlobalVar))


def components(
    module: IRModule, called: Callable[[BaseFunc], tuple[GlobalVar, ...]] = called_globals
) -> tuple[tuple[GlobalVar, ...], ...]:
    """Return the strongly connected components of the call graph, callees first (Tarjan 1972, iterative).

    `called` returns the globals that occur in a function.
    """
    if len(module.definitions) == 1:
        # A function alone is a component, whether it calls itself or not.
        return ((module.definitions[0].var,),)
    definition_of = {item.var.name: item.var for item in module}
    callees = {
        item.var: tuple(definition_of[used.name] for used in called(item.function) if used.name in definition_of)
        for item in module
    }
    return _Components(callees).run()


class _Components:
    def __init__(self, callees: Mapping[GlobalVar, tuple[GlobalVar, ...]]) -> None:
        self._callees = callees
        self._index: dict[GlobalVar, int] = {}
        self._low: dict[GlobalVar, int] = {}
        self._open: dict[GlobalVar, None] = {}
        self._found: list[tuple[GlobalVar, ...]] = []

    def run(self) -> tuple[tuple[GlobalVar, ...], ...]:
        for root in self._callees:
            if root not in self._index:
                self._visit(root)
        return tuple(self._found)

    def _visit(self, root: GlobalVar) -> None:
        self._enter(root)
        stack = [(root, iter(self._callees[root]))]
        while stack:
            current, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                self._leave(current)
                if stack:
                    parent = stack[-1][0]
                    self._low[parent] = min(self._low[parent], self._low[current])
            elif following not in self._index:
                self._enter(following)
                stack.append((following, iter(self._callees[following])))
            elif following in self._open:
                self._low[current] = min(self._low[current], self._index[following])

    def _enter(self, var: GlobalVar) -> None:
        self._index[var] = self._low[var] = len(self._index)
        self._open[var] = None

    def _leave(self, var: GlobalVar) -> None:
        if self._low[var] != self._index[var]:
            return
        names = list(self._open)
        group = names[names.index(var) :]
        for item in group:
            del self._open[item]
        self._found.append(tuple(group))
