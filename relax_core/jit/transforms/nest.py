"""Recognise a perfect loop nest around one block or store, with constant extents and affine, proven accesses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from relax_core.ir.integer.affine import Affine, affine_of_binding
from relax_core.ir.integer.interval import Interval, count_interval, dtype_interval
from relax_core.ir.integer.iter_split import IterSplit, affine_sum, interval_of, splits_of
from relax_core.ir.node import postorder
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, Stmt
from relax_core.jit.lowering.state import State
from relax_core.jit.transforms.loop_nest import Access, Axis, Nest

# The iterations of coalesced loops are counted in 64 bits, with some room above. A nest of more iterations would run
# for years: its loops are left as they are.
MOST_ITERATIONS = 1 << 60
TOO_MANY_ITERATIONS = "its loops have more rounds together than are counted at once"


def read_nest(state: State, loop: For, *, may_start_later: bool = False) -> Nest | str:
    """Return the nest that starts at `loop`, or the reason why there is none.

    With `may_start_later` loops need not start at 0; offsets are normalised to variables that count from 0.
    """
    found = state.position.nests.get((loop, may_start_later))
    if found is None:
        found = state.position.nests[loop, may_start_later] = _read(state, loop, may_start_later=may_start_later)
    return found


def _read(state: State, loop: For, *, may_start_later: bool) -> Nest | str:
    loops, inner = _loops(loop)
    block = inner if isinstance(inner, Block) else None
    if block is not None and (block.predicate is not None or block.matches or block.alloc_buffers):
        return "the block has a predicate or buffers of its own"
    body = inner if block is None else block.body
    init = None if block is None else block.init
    if not isinstance(body, BufferStore) or not isinstance(init, BufferStore | None):
        return "its body is more than one store"
    extents = [state.bounds.constant(item.extent) for item in loops]
    starts = {item.var: state.bounds.constant(item.start) for item in loops}
    if None in extents or any(start is None or (start and not may_start_later) for start in starts.values()):
        return "a loop has no constant extent, or does not start at 0"
    if are_too_many(extents):
        return TOO_MANY_ITERATIONS
    known = {var: Affine(value) for var, value in state.bounds.values.items()}
    known |= {var: Affine(start, {var: 1}) for var, start in starts.items() if start}
    # As in `known`, variables are normalised to count from 0.
    ranges = {item.var: count_interval(extent or 1) for item, extent in zip(loops, extents, strict=True)}
    values: dict[PrimVar, Affine] = {}
    for item in () if block is None else block.iter_vars:
        value = affine_of_binding(item, known, ranges)
        if value is None or item.start is not None:
            return f"the block's variable `{item.var.name}` is no sum of loop variables"
        values[item.var] = value
    reduced = _reduced(block, values)
    axes = tuple(
        Axis(item, max(extent or 0, 0), "reduce" if item.var in reduced else "spatial")
        for item, extent in zip(loops, extents, strict=True)
    )
    accesses = _accesses(state, axes, (body,) if init is None else (init, body), known | values)
    if isinstance(accesses, str):
        return accesses
    return Nest(axes, block, init, body, values, accesses)


def are_too_many(extents: Sequence[int | None]) -> bool:
    """Tell whether loops of these extents have too many iterations to be coalesced; extents of 0 are ignored."""
    return prod(max(extent or 1, 1) for extent in extents) > MOST_ITERATIONS


def _loops(loop: For) -> tuple[list[For], Stmt]:
    loops = [loop]
    while isinstance(inner := loops[-1].body, For):
        loops.append(inner)
    # A loop with a step or bound to a thread ends the nest, whose body is then no store.
    plain = [item for item in loops if item.step is None and item.kind != "thread_binding"]
    return loops, loops[-1].body if len(plain) == len(loops) else loops[-1]


def _reduced(block: Block | None, values: Mapping[PrimVar, Affine]) -> frozenset[PrimVar]:
    """Return the loop variables in the bindings of a block's reduction variables."""
    iter_vars = () if block is None else block.iter_vars
    return frozenset(var for item in iter_vars if item.kind == "reduce" for var in values[item.var].coefficients)


def _accesses(
    state: State, axes: Sequence[Axis], stores: Sequence[BufferStore], known: Mapping[PrimVar, Affine]
) -> "dict[BufferLoad | BufferStore, Access] | str":
    intervals = {axis.var: count_interval(axis.extent) for axis in axes}
    found: dict[BufferLoad | BufferStore, Access] = {}
    for store in stores:
        for node in postorder(store):
            if isinstance(node, BufferLoad | BufferStore):
                access = _access(state, node, known, intervals)
                if isinstance(access, str):
                    return access
                found[node] = access
    return found


def _access(
    state: State, node: BufferLoad | BufferStore, known: Mapping[PrimVar, Affine], intervals: Mapping[PrimVar, Interval]
) -> Access | str:
    storage = state.environment.storage.get(node.buffer)
    name = node.buffer.name
    if node.buffer in state.environment.held:
        return f"an element of `{name}` is in a register"
    if storage is None or len(node.indices) != len(storage.extents):
        return f"`{name}` is no plain buffer of scalars"
    splits: list[IterSplit] = []
    limits = dict(intervals)
    for index, extent, stride in zip(node.indices, storage.extents, storage.strides, strict=True):
        if "%" in extent or "%" in stride:
            return f"the shape of `{name}` is not constant"
        around = {var: state.bounds.interval(var) for var in _variables(index, known) if var not in limits}
        limits.update(around)
        index_splits = splits_of(index, known, limits)
        if index_splits is None:
            return f"an index of `{name}` is no sum of loop variables"
        values = interval_of(index_splits, limits)
        if values is None or values.low < 0 or values.high >= int(extent):
            return f"an index of `{name}` is not proven to be in range"
        if not values.is_within(dtype_interval(dtype_of(index))):
            return f"an index of `{name}` may wrap around"
        splits += [replace(split, scale=split.scale * int(stride)) for split in index_splits]
    offset = affine_sum(splits, limits)
    return (
        f"the elements of `{name}` lie at no sum of loop variables" if offset is None else Access(node, storage, offset)
    )


def _variables(index: PrimExpr, known: Mapping[PrimVar, Affine]) -> set[PrimVar]:
    """Return the integer variables of an index; a known one is expanded to those of its affine form."""
    found: set[PrimVar] = set()
    for item in postorder(index):
        if isinstance(item, PrimVar) and dtype_of(item).startswith(("int", "uint")):
            found |= known[item].coefficients.keys() if item in known else {item}
    return found
