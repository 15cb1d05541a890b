"""Loops whose iterations accumulate loop-invariant values, on which LLVM's vectoriser takes exponential time."""

from collections.abc import Iterator

from relax_core.ir.node import Node, children, postorder
from relax_core.ir.prim import LetExpr, PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, For, IterVar, LetStmt, statements


def repeats_itself(loop: For) -> bool:
    """Tell whether inner loops accumulate values that are invariant in `loop`.

    The vectoriser follows each use of a uniform value: a chain of `k` selects, to which an inner loop of `k`
    iterations is unrolled, takes it 2**k steps.
    """
    inner = {item for part in statements(loop.body) if isinstance(part, For) for item in statements(part.body)}
    stores = [item for item in statements(loop.body) if isinstance(item, BufferStore)]
    updating = {item for item in stores if _updates(item)}
    started = {item.buffer for item in stores if item not in updating}
    updates = [item for item in stores if item in updating and item in inner and item.buffer in started]
    if not updates:
        return False
    nodes = [*postorder(loop.body)]
    varying: set[Node] = {loop.var}
    while True:
        found = {var for item in nodes for var, value in _bound(item) if varying.intersection(postorder(value))}
        if found <= varying:
            break
        varying |= found
    return any(not varying.intersection(_combined_with(store)) for store in updates)


def _updates(store: BufferStore) -> bool:
    """Tell whether a store is an update: its value reads the buffer that it stores to."""
    return any(_is_load_of(store.buffer, item) for item in postorder(store.value))


def _is_load_of(buffer: Buffer, node: Node) -> bool:
    return isinstance(node, BufferLoad) and node.buffer is buffer


def _bound(node: Node) -> tuple[tuple[PrimVar, PrimExpr], ...]:
    match node:
        case IterVar(var=var, binding=value) | LetStmt(var=var, value=value) | LetExpr(var=var, value=value):
            return ((var, value),)
        case For(var=var, start=start, extent=extent):
            return (var, start), (var, extent)
        case _:
            return ()


def _combined_with(store: BufferStore) -> Iterator[Node]:
    """Yield the nodes of an update's value, the load of the element itself left out."""
    stack: list[Node] = [store.value]
    while stack:
        item = stack.pop()
        if not _is_load_of(store.buffer, item):
            yield item
            stack += children(item)
