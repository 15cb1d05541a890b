"""The access pattern of a prim func, for fusion.

See: tvm/src/relax/analysis/tir_op_pattern_kind.cc
"""

from collections.abc import Iterable, Iterator
from operator import is_

from relax_core.analysis.fusion_graph import Kind
from relax_core.ir.attrs import attr
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, is_number
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, Evaluate, PrimFunc, While

PATTERN = "op_pattern"
"""The attribute that overrides the analysis."""


def prim_func_kind(function: PrimFunc) -> Kind:
    """Return the kind that the attribute `op_pattern` gives, else the join of the kinds of the blocks.

    A prim func with blocks that also stores outside of them, or has other effects, is opaque; so is one whose loads
    depend on elements of tensors, as in TVM. One without blocks is elementwise, as in TVM: to fuse prim funcs is to
    run one after the other, which is right for any. Complexity: linear.
    """
    declared = attr(function.attrs, PATTERN)
    if isinstance(declared, int) and declared in tuple(Kind):
        return Kind(declared)
    blocks = list(_blocks(function.body))
    if any(block is None for block in blocks):
        return Kind.OPAQUE if any(blocks) else Kind.ELEMENTWISE
    outputs = {item.buffer for item in function.buffers}
    kind = Kind.ELEMENTWISE
    for block in filter(None, blocks):
        kind = _with_block(kind, block, outputs)
    return kind


def _blocks(body: Node) -> Iterator[Block | None]:
    """Yield the innermost blocks in order, `None` for a statement that is in none and does something."""
    stack: list[Node] = [body]
    while stack:
        match stack.pop():
            case Block(body=inner) as block if _is_root(block):
                stack.append(inner)
            case Block() as block:
                yield block
            case BufferStore() | While():
                yield None
            case Evaluate(value=value):
                if not isinstance(value, IntImm):
                    yield None
            case PrimExpr():
                pass
            case node:
                stack.extend(reversed(children(node)))


def _is_root(block: Block) -> bool:
    return block.name == "root" or (not block.iter_vars and any(isinstance(item, Block) for item in _inside(block)))


def _inside(block: Block) -> Iterator[Node]:
    return (item for item in preorder(block) if item is not block)


def _with_block(kind: Kind, block: Block, outputs: set[Buffer]) -> Kind:
    """Join the kind of the blocks so far with that of one more block."""
    stores = [item for item in preorder(block.body) if isinstance(item, BufferStore)]
    nested = any(isinstance(item, Block) for item in _inside(block))
    if not stores or nested or any(isinstance(item, While | Evaluate) for item in preorder(block.body)):
        return Kind.OPAQUE
    reduced = tuple(item.var for item in block.iter_vars if item.kind == "reduce")
    if len(stores) > 1:
        return max(kind, Kind.OUT_FUSABLE) if reduced else Kind.OPAQUE
    store = stores[0]
    loads = [item for item in preorder(store) if isinstance(item, BufferLoad)]
    moved = _moves(store, loads)
    if moved is not None:
        # A row is reduced and then written elementwise, as in softmax: nothing may be fused before it.
        is_end = kind is Kind.REDUCE and store.buffer in outputs
        return Kind.OUT_FUSABLE if is_end else max(kind, moved)
    if not reduced:
        return Kind.OPAQUE
    is_pure = not _is_product_sum(store) and all(_is_reduced_alone(load, reduced) for load in loads)
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
