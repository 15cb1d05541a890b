"""Compute a block where its results are needed."""

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import IntImm
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, IterVar, SeqStmt
from relax_core.passes.core import Pass, PassContext
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
from relax_core.passes.tir.schedule.instances import keeps_order
from relax_core.passes.tir.schedule.nest import Nest, nest_of, only_own_elements
from relax_core.passes.tir.schedule.regions import IndexRange, reads_under
from relax_core.passes.tir.schedule.scope import (
    block_of,
    first_access,
    holder_of,
    innermost_block,
    outer_variables,
    readers_of,
    top_level,
    writers_of,
)


def run(module: IRModule, options: ComputeAtOptions, ctx: PassContext) -> IRModule:
    """Move a block under a loop of the blocks that read what it writes, for what one iteration of that loop reads.

    An element may be computed in several iterations, each time to the same value: what the block reads is not written
    between the two places, and the block reads nothing of its own but partial results of a reduction. The elements that
    are read but not written, out of the range of its iteration variables, stay so by a condition.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    only_simple(nest, nest.block)
    buffer = _produced(nest)
    instances = whole_instances(nest)
    readers = readers_of(buffer, nest.function.body, nest.block)
    if not readers:
        nest.refuse(f"no block reads {buffer.name}", nest.block, "a block moves to one that reads what it writes")
    location = location_of(nest, options.loop, readers, f"reads {buffer.name}")
    _check(nest, buffer, location)
    ranges = _ranges(nest, buffer, location)
    made = with_loops(nest, ranges, location, is_unit_kept=options.preserve_unit_loops)
    body = location.loop.body
    parts = list(body.stmts) if isinstance(body, SeqStmt) else [body]
    at = next(number for number, stmt in enumerate(parts) if any(item in readers for item in preorder(stmt)))
    reductions = [axis for axis in nest.block.iter_vars if axis.kind == "reduce"]
    if not keeps_order(instances, reductions, nest.loops):
        message = "the reduction runs in the order of its iteration variables: floats may differ in the last bits"
        ctx.remark(nest.block, "note", message)
    _note(nest, ranges, location)
    return moved(module, nest, location, [*parts[:at], made, *parts[at:]], innermost_block(made))


def _produced(nest: Nest) -> Buffer:
    """Return the buffer that the block alone writes; refuse others and what it cannot write twice."""
    block, function = nest.block, nest.function
    written = list(dict.fromkeys(item.buffer for item in preorder(block) if isinstance(item, BufferStore)))
    if len(written) != 1:
        hint = "divide it into blocks that write one each"
        nest.refuse(f"{block.name} writes {len(written)} buffers, not one", block, hint)
    (buffer,) = written
    if any(item.buffer is buffer for item in function.buffers):
        hint = "move the blocks that it reads from, or itself with ReverseComputeAt"
        nest.refuse(f"{block.name} writes {buffer.name}, which the function returns", block, hint)
    others = [store for store in writers_of(buffer, function) if block_of(store, function) is not block]
    if others:
        nest.refuse(
            f"{buffer.name} is written by other statements as well", others[0], "move a block that writes alone"
        )
    stored_axes(nest, block, buffer)
    only_own_elements(nest, block, "ComputeAt")
    is_read = any(isinstance(item, BufferLoad) and item.buffer is buffer for item in preorder(block))
    if is_read and block.init is None:
        message = f"{block.name} reads {buffer.name}, which it writes, and has no init"
        nest.refuse(message, block, "move a reduction before its initial values have a block of their own")
    return buffer


def _check(nest: Nest, buffer: Buffer, location: ComputeLocation) -> None:
    """Refuse a way to the place on which a value that the block reads changes."""
    stmts = top_level(nest.function)
    start = holder_of(nest, nest.block)
    if start >= location.number:
        message = (
            f"{location.loop.var.name} does not stand behind the loops of {nest.block.name}, side by side with them"
        )
        nest.refuse(message, location.loop, "a block moves out of loops of its own into later ones")
    between = stmts[start : location.number + 1]
    sources = {item.buffer for item in preorder(nest.block) if isinstance(item, BufferLoad)} - {buffer}
    only_stores_between(nest, between, (buffer, *sources))
    change = first_access(between, BufferStore, sources, nest.block)
    if change is not None:
        name = location.loop.var.name
        message = f"{change.buffer.name}, which {nest.block.name} reads, is written before the end of {name}"
        nest.refuse(message, change, "move a block whose operands keep their values")


def _ranges(nest: Nest, buffer: Buffer, location: ComputeLocation) -> dict[IterVar, IndexRange]:
    """Return which values of the block's iteration variables one iteration of the loop needs, where fewer than all."""
    bounds = nest.bounds()
    for loop in location.loops:
        bounds.enter_loop(loop)
    outside = outer_variables(nest.function) | {loop.var for loop in location.loops}
    found = reads_under(location.loop, buffer, bounds, outside)
    axes = stored_axes(nest, nest.block, buffer)
    pairs = ((axis, given) for axis, given in zip(axes, found, strict=True) if axis is not None and given is not None)
    narrower = ((axis, given) for axis, given in pairs if not _is_all(given, axis))
    return {axis: given for axis, given in narrower if has_no_overflow(given, axis, location, nest)}


def _is_all(given: IndexRange, axis: IterVar) -> bool:
    """Tell whether a loop over a range would run at least as often as one over all values."""
    return isinstance(axis.extent, IntImm) and given.extent >= axis.extent.value


def _note(nest: Nest, ranges: dict[IterVar, IndexRange], location: ComputeLocation) -> None:
    name = location.loop.var.name
    nest.ctx.remark(nest.block, "applied", f"{nest.block.name} computes in each iteration of {name} what is read there")
    whole = [axis.var.name for axis in nest.block.iter_vars if axis.kind == "spatial" and axis not in ranges]
    if whole:
        nest.ctx.remark(nest.block, "note", f"an iteration of {name} takes all values of {', '.join(whole)}")


PASS = Pass(
    "ComputeAt",
    "Schedule: computes a block in a loop of the blocks that read what it writes.",
    run,
    ComputeAtOptions,
    see="tvm/src/s_tir/schedule/primitive/compute_at.cc",
    dialect="tir",
)
