"""The paths of a dominator pattern: where they may end, and what lies on them."""

from collections.abc import Callable, Iterator

from relax_core.ir.expr import Expr
from relax_core.pattern.matching.facts import dataflow_inputs, is_source

Fits = Callable[[Expr], bool]


def candidates(child: Expr, fits: Fits) -> Iterator[Expr]:
    """Yield the nodes that paths from `child` upwards may end at, nearest first, each once."""
    seen: set[Expr] = set()
    queue = list(dataflow_inputs(child))
    for node in queue:
        if node not in seen:
            seen.add(node)
            yield node
            if fits(node):
                queue.extend(dataflow_inputs(node))


def nodes_between(child: Expr, parent: Expr, fits: Fits) -> tuple[Expr, ...] | None:
    """Return the nodes on the paths from `parent` to `child`, both left out; `None` if a path leads elsewhere.

    Each input of each node must be the parent, or lead to it over nodes that fit. A variable or literal beside an
    input that leads to the parent, such as the bias that is added to a convolution, is no path of its own.
    """
    leads: dict[Expr, bool] = {parent: True}
    stack: list[tuple[Expr, bool]] = [(node, False) for node in dataflow_inputs(child)]
    while stack:
        node, is_ready = stack.pop()
        if node in leads or is_source(node):
            continue
        if not is_ready:
            if not fits(node):
                return None
            stack.append((node, True))
            stack.extend((item, False) for item in dataflow_inputs(node))
            continue
        if not _leads(node, leads):
            return None
        leads[node] = True
    if not _leads(child, leads):
        return None
    del leads[parent]
    return tuple(leads)


def _leads(node: Expr, leads: dict[Expr, bool]) -> bool:
    """Tell whether some input of `node` leads to the parent, and the others do or are sources."""
    return any(item in leads for item in dataflow_inputs(node))
