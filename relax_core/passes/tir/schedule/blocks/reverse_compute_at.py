"""Compute a block where what it reads is made."""

from collections.abc import Sequence
from dataclasses import dataclass

from relax_core.ir.integer.affine import is_onto
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, IterVar, SeqStmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import terms_of
from relax_core.passes.tir.schedule.blocks.compute_location import (
    ComputeAtOptions,
    ComputeLocation,
    has_no_overflow,
    location_of,
    moved,
    only_simple,
    only_stores_between,
    stored_axes,
    whole_instances,
    with_loops,
)
from relax_core.passes.tir.schedule.instances import Instances, at_start, keeps_order
from relax_core.passes.tir.schedule.nest import Nest, block_nest, nest_of, only_own_elements
from relax_core.passes.tir.schedule.regions import IndexRange
from relax_core.passes.tir.schedule.scope import block_of, first_access, holder_of, innermost_block, loops_of, top_level


@dataclass(frozen=True, slots=True)
class MadeRegion:
    """What one iteration of a loop makes: per dimension of `buffer` a range of indices; `None`: all of them.

    `counts` are how many indices all iterations make in that dimension.
    """

    buffer: Buffer
    ranges: tuple[IndexRange | None, ...]
    counts: tuple[PrimExpr | None, ...]


def run(module: IRModule, options: ComputeAtOptions, ctx: PassContext) -> IRModule:
    """Move a block under a loop of the blocks that write what it reads, for what one iteration of that loop makes.

    Each instance of the block runs once, in the iteration that makes the elements that it reads: these are the results
    of iterations of the loop that never come back to them, and are complete at its end; TVM also lets a block run for
    what is not complete, and again. What the block writes is accessed by nothing in between.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    only_simple(nest, nest.block)
    instances = whole_instances(nest)
    writers, location = _writers(nest, options.loop)
    _check(nest, location)
    ranges = _ranges(nest, [_made(nest, store, location) for store in writers], location)
    made = with_loops(nest, ranges, location, is_unit_kept=options.preserve_unit_loops)
    body = location.loop.body
    parts = [*body.stmts, made] if isinstance(body, SeqStmt) else [body, made]
    reductions = [axis for axis in nest.block.iter_vars if axis.kind == "reduce"]
    if not keeps_order(instances, reductions, nest.loops):
        message = "the reduction runs in the order of its iteration variables: floats may differ in the last bits"
        ctx.remark(nest.block, "note", message)
    name = location.loop.var.name
    ctx.remark(nest.block, "applied", f"{nest.block.name} computes in each iteration of {name} from what is made there")
    return moved(module, nest, location, parts, innermost_block(made))


def _writers(nest: Nest, loop: str) -> tuple[list[BufferStore], ComputeLocation]:
    """Return the stores in the loop into what the block reads, and its place; what is written before it is there."""
    own = set(preorder(nest.block))
    sources = {item.buffer for item in own if isinstance(item, BufferLoad)}
    sources -= {item.buffer for item in own if isinstance(item, BufferStore)}
    found = [it for it in preorder(nest.function.body) if isinstance(it, BufferStore) and it.buffer in sources]
    if not found:
        hint = "ComputeAt moves a block to those that read what it writes"
        nest.refuse(f"{nest.block.name} reads nothing that another block writes", nest.block, hint)
    named = [item for item in found if any(it.var.name == loop for it in loops_of(nest, item))]
    latest = max((holder_of(nest, item) for item in named), default=0)
    under = [item for item in named if holder_of(nest, item) == latest]
    location = location_of(nest, loop, under or found, f"writes what {nest.block.name} reads")
    last = holder_of(nest, nest.block)
    other = next((it for it in found if it not in under and location.number <= holder_of(nest, it) <= last), None)
    if other is not None:
        message = f"{other.buffer.name} is written behind or beside the loop {loop}"
        nest.refuse(message, other, f"move the block that writes it under {loop} first")
    return under, location


def _check(nest: Nest, location: ComputeLocation) -> None:
    """Refuse a way to the place on which something sees that the block has run earlier."""
    block, loop = nest.block, location.loop
    stmts = top_level(nest.function)
    end = holder_of(nest, block)
    if end <= location.number:
        message = f"{loop.var.name} does not stand before the loops of {block.name}, side by side with them"
        nest.refuse(message, loop, "a block moves out of loops of its own into earlier ones")
    between = stmts[location.number : end + 1]
    buffers = {item.buffer for item in preorder(block) if isinstance(item, BufferLoad | BufferStore)}
    only_stores_between(nest, between, buffers)
    only_own_elements(nest, block, "ReverseComputeAt")
    written = {item.buffer for item in preorder(block) if isinstance(item, BufferStore)}
    for kind in (BufferStore, BufferLoad):
        access = first_access(between, kind, written, block)
        if access is not None:
            message = (
                f"{access.buffer.name}, which {block.name} writes, is accessed between {loop.var.name} and {block.name}"
            )
            nest.refuse(message, access, "move a block whose results are read behind its loops")
    for buffer in written:
        stored_axes(nest, block, buffer)


def _made(nest: Nest, store: BufferStore, location: ComputeLocation) -> MadeRegion:
    """Return which elements one iteration of the loop makes; refuse those that it may not have made at its end."""
    block = block_of(store, nest.function)
    if block is None:
        nest.refuse(f"{store.buffer.name} is written outside of a block", store, "write it as a block")
    writer = block_nest(nest, block)
    only_simple(writer, block)
    instances = whole_instances(writer)
    axes = stored_axes(writer, block, store.buffer)
    for axis in block.iter_vars:
        outer = next((digit for digit in instances[axis] if digit.loop in location.loops), None)
        if outer is not None and axis not in axes:
            message = f"{store.buffer.name} is complete only behind the loop {outer.loop.var.name}"
            nest.refuse(message, outer.loop, "take a loop outside of the reduction")
    ranges = tuple(None if axis is None else _range(writer, axis, instances, location) for axis in axes)
    return MadeRegion(store.buffer, ranges, tuple(None if axis is None else axis.extent for axis in axes))


def _range(nest: Nest, axis: IterVar, instances: Instances, location: ComputeLocation) -> IndexRange | None:
    """Return the values that an iteration variable takes in one iteration of the loop; `None` for all of them."""
    digits = instances[axis]
    outer, inner = ([d for d in digits if (d.loop in location.loops) == is_outer] for is_outer in (True, False))
    if not outer:
        return None
    extent = 1
    for digit in inner:
        extent *= digit.extent or 0
    if not is_onto([(digit.scale, digit.extent or 0) for digit in inner], extent):
        message = f"the values of {axis.var.name} in one iteration of {location.loop.var.name} are no range"
        nest.refuse(message, location.loop, "take a loop whose iterations make elements that stand side by side")
    terms = terms_of(at_start(axis.binding, [loop for loop in nest.loops if loop not in location.loops]))
    terms.setdefault("", (IntImm(0, axis.var.dtype), 0))
    return IndexRange(terms, extent)


def _ranges(nest: Nest, made: Sequence[MadeRegion], location: ComputeLocation) -> dict[IterVar, IndexRange]:
    """Return which values of the block's iteration variables one iteration of the loop has made the operands of."""
    ties = [_tied(nest, load, item) for item in made for load in _loads(nest, item.buffer)]
    first = ties[0]
    for load_ties in ties[1:]:
        is_same = first.keys() == load_ties.keys()
        if not is_same or not all(first[axis].is_same(load_ties[axis]) for axis in first):
            message = f"{nest.block.name} reads elements that different iterations of {location.loop.var.name} make"
            nest.refuse(message, nest.block, "a block moves that reads one element of each operand")
    lost = next((axis for axis, given in first.items() if not has_no_overflow(given, axis, location, nest)), None)
    if lost is not None:
        message = (
            f"the values of {lost.var.name} in one iteration of {location.loop.var.name} may not fit {lost.var.dtype}"
        )
        nest.refuse(message, nest.block, "take loops that count in the dtype of the iteration variables")
    return first


def _loads(nest: Nest, buffer: Buffer) -> list[BufferLoad]:
    return [item for item in preorder(nest.block) if isinstance(item, BufferLoad) and item.buffer is buffer]


def _tied(nest: Nest, load: BufferLoad, made: MadeRegion) -> dict[IterVar, IndexRange]:
    """Return the iteration variables that a load has as indices where an iteration makes only a range of them.

    The block runs for values in that range, so that each has to be made in some iteration.
    """
    axes = {axis.var: axis for axis in nest.block.iter_vars if axis.kind == "spatial"}
    tied: dict[IterVar, IndexRange] = {}
    for index, given, count in zip(load.indices, made.ranges, made.counts, strict=True):
        if given is None:
            continue
        axis = axes.get(index) if isinstance(index, PrimVar) else None
        if axis is None or axis in tied:
            message = f"{nest.block.name} does not read {made.buffer.name} at its spatial iteration variables"
            nest.refuse(message, load, f"a block moves that reads {made.buffer.name}[vi, vj]")
        if count is None or not _is_at_most(axis.extent, count):
            message = f"{made.buffer.name} is read where it is not seen to be written"
            nest.refuse(message, load, f"let {axis.var.name} take values of the block that writes it")
        tied[axis] = given
    return tied


def _is_at_most(a: PrimExpr, b: PrimExpr) -> bool:
    return a.value <= b.value if isinstance(a, IntImm) and isinstance(b, IntImm) else prove_equal(a, b)


PASS = Pass(
    "ReverseComputeAt",
    "Schedule: computes a block in a loop of the blocks that write what it reads.",
    run,
    ComputeAtOptions,
    see="tvm/src/s_tir/schedule/primitive/compute_at.cc",
    dialect="tir",
)
