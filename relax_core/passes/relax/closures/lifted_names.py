"""The names under which local functions are lifted."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import TypeAlias

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.passes.relax.closures.captures import local_bindings

Path: TypeAlias = tuple[str, ...]
"""The global function that a local one is in, then the variables of the functions around it, and its own."""


def lifted_names(module: IRModule) -> dict[Path, deque[str]]:
    """Choose names for all local functions of `module`, as TVM does; those of one path are in the order of the text.

    A name is the `global_symbol`, or that of the global function and of the variable, such as `main_closure`. Where
    that is taken, or several would have it, the name is the whole path, then the first with a number.
    """
    found = [
        (path, function) for var, outer in module.relax_functions for path, function in _inside((var.name,), outer)
    ]
    taken = set(module.names)
    chosen: dict[int, str] = {}
    for proposals in (
        [_symbol(function) for _, function in found],
        [f"{path[0]}_{path[-1]}" for path, _ in found],
        ["_".join(path) for path, _ in found],
    ):
        counts = Counter(name for index, name in enumerate(proposals) if index not in chosen)
        free = [item for item in enumerate(proposals) if item[0] not in chosen and counts[item[1]] == 1]
        chosen.update((index, name) for index, name in free if name and name not in taken)
        taken.update(chosen.values())
    for index, (path, _) in enumerate(found):
        if index not in chosen:
            numbered = (f"{path[0]}_{path[-1]}_{number}" for number in range(len(taken) + 1))
            chosen[index] = next(name for name in numbered if name not in taken)
            taken.add(chosen[index])
    names: defaultdict[Path, deque[str]] = defaultdict(deque)
    for index, (path, _) in enumerate(found):
        names[path].append(chosen[index])
    return names


def _inside(path: Path, function: Function) -> Iterator[tuple[Path, Function]]:
    """Yield the local functions of a function and of those in it. Recursion follows the nesting of the text."""
    for item in local_bindings(function):
        assert isinstance(item.value, Function), "the binding of a local function"
        inner = (*path, item.var.name)
        yield inner, item.value
        yield from _inside(inner, item.value)


def _symbol(function: Function) -> str:
    symbol = attr(function.attrs, "global_symbol")
    return symbol if isinstance(symbol, str) else ""
