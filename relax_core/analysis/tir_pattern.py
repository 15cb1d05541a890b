"""The access pattern of a prim func, for fusion.

See: tvm/src/relax/analysis/tir_op_pattern_kind.cc
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import is_

from relax_core.analysis.fusion_graph import Kind
from relax_core.ir.attrs import attr
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Binary, PrimExpr, PrimVar, is_number
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, PrimFunc

PATTERN = "op_pattern"
"""The attribute that overrides the analysis."""


def prim_func_kind(function: PrimFunc) -> Kind:
    """Return the kind that the attribute `op_pattern` gives, else the join of the kinds of the blocks.

    As in TVM a prim func is opaque if a block stores nothing, if its loads depend on elements of tensors, or if stores
    with different indices follow each other without a block that begins in between. What stands outside of blocks is
    elementwise otherwise: to fuse prim funcs is to run one after the other, which is right for any. Complexity: linear.
    """
    declared = attr(function.attrs, PATTERN)
    if isinstance(declared, int) and declared in tuple(Kind):
        return Kind(declared)
    outputs = {item.buffer for item in function.buffers}
    kind, accesses = Kind.ELEMENTWISE, _Accesses()
    stack: list[Node | _End] = [function.body]
    while stack:
        match stack.pop():
            case _End(block=block):
                kind = _with_block(kind, block, accesses, outputs)
            case Block(name="root", body=body):
                stack.append(body)
            case Block(body=body) as block:
                accesses = _Accesses()
                stack += (_End(block), body)
            case node if node not in accesses.nodes:
                if not accesses.add(node):
                    kind = Kind.OPAQUE
                stack.extend(reversed(children(node)))
            case _:
                pass
    return kind


@dataclass(frozen=True, slots=True)
class _End:
    """The place behind the body of a block."""

    block: Block


@dataclass(slots=True)
class _Accesses:
    """The loads and stores since the last block began, and the nodes in which they were looked for."""

    loads: list[BufferLoad] = field(default_factory=list[BufferLoad])
    stores: list[BufferStore] = field(default_factory=list[BufferStore])
    nodes: set[Node] = field(default_factory=set[Node])

    def add(self, node: Node) -> bool:
        """Note a node; false if it is a store with other indices than the one before."""
        self.nodes.add(node)
        match node:
            case BufferLoad():
                self.loads.append(node)
            case BufferStore(indices=indices):
                self.stores.append(node)
                return len(self.stores) == 1 or _are_same(indices, self.stores[0].indices)
            case _:
                pass
        return True


def _are_same(a: tuple[PrimExpr, ...], b: tuple[PrimExpr, ...]) -> bool:
    """Tell whether indices are the same variables, as they have to be in TVM: two constants are not the same there."""
    return len(a) == len(b) and all(x is y and isinstance(x, PrimVar) for x, y in zip(a, b, strict=True))


def _with_block(kind: Kind, block: Block, accesses: _Accesses, outputs: set[Buffer]) -> Kind:
    """Join the kind of the blocks so far with that of one more block, in which these accesses are."""
    loads, stores = accesses.loads, accesses.stores
    if not stores:
        return Kind.OPAQUE
    moved = _moves(stores[0], loads)
    if moved is not None:
        # A row is reduced and then written elementwise, as in softmax: nothing may be fused before it.
        is_end = kind is Kind.REDUCE and any(store.buffer in outputs for store in stores)
        return Kind.OUT_FUSABLE if is_end else max(kind, moved)
    reduced = tuple(item.var for item in block.iter_vars if item.kind == "reduce")
    if not reduced:
        return Kind.OPAQUE
    is_pure = not _is_product_sum(stores[0]) and all(_is_reduced_alone(load, reduced) for load in loads)
    return max(kind, Kind.REDUCE if is_pure else Kind.OUT_FUSABLE)


def _moves(store: BufferStore, loads: Iterable[BufferLoad]) -> Kind | None:
    """Return the kind of a store if its indices determine the indices of every load, else `None`."""
    kinds = [_move(store, load) for load in loads]
    found = [kind for kind in kinds if kind is not None]
    if len(found) < len(kinds):
        return None
    widest = max(found, default=Kind.ELEMENTWISE)
    return Kind.ELEMENTWISE if widest is Kind.BROADCAST and Kind.ELEMENTWISE in found else widest


def _move(store: BufferStore, load: BufferLoad) -> Kind | None:
    if len(store.indices) == len(load.indices) and all(
        a is b for a, b in zip(store.indices, load.indices, strict=True)
    ):
        return Kind.ELEMENTWISE
    if _is_broadcast(store, load):
        return Kind.BROADCAST
    given = set(store.indices)
    is_known = all(isinstance(item, PrimVar) for item in given) and not _loads_in(load.indices)
    is_injective = is_known and given.issuperset(_symbols(load.indices))
    return Kind.INJECTIVE if is_injective else None


def _is_broadcast(store: BufferStore, load: BufferLoad) -> bool:
    """Tell whether the indices of a load are those of the store in their order, with some left out."""
    own = iter(store.indices)
    return all(
        (is_number(size, 1) and is_number(index, 0)) or any(index is item for item in own)
        for size, index in zip(load.buffer.shape, load.indices, strict=True)
    )


def _is_product_sum(store: BufferStore) -> bool:
    """Tell whether a store adds a product of two elements to the one it writes, each of which is used again."""
    match store.value:
        case Binary(
            op="+",
            a=BufferLoad(buffer=buffer, indices=indices),
            b=Binary(op="*", a=BufferLoad() as a, b=BufferLoad() as b),
        ):
            is_same = buffer is store.buffer and all(map(is_, indices, store.indices))
            return is_same and all(set(store.indices) - _symbols(load.indices) for load in (a, b))
        case _:
            return False


def _is_reduced_alone(load: BufferLoad, reduced: tuple[PrimVar, ...]) -> bool:
    """Tell whether a variable of the reduction is an index of its own wherever it occurs."""
    return all(index in reduced or not _symbols((index,)).intersection(reduced) for index in load.indices)


def _loads_in(indices: Iterable[PrimExpr]) -> bool:
    return any(isinstance(item, BufferLoad) for index in indices for item in preorder(index))


def _symbols(indices: Iterable[PrimExpr]) -> set[PrimVar]:
    return {item for index in indices for item in preorder(index) if isinstance(item, PrimVar)}
