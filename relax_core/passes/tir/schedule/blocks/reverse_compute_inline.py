"""Write what a block computes where its operand is made."""

from collections.abc import Mapping
from dataclasses import replace

from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar, dtype_of
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.blocks.compute_inline import ComputeInlineOptions
from relax_core.passes.tir.schedule.blocks.compute_location import (
    only_simple,
    only_stores_between,
    stored_axes,
    whole_instances,
)
from relax_core.passes.tir.schedule.nest import Nest, block_nest, nest_of, only_own_elements
from relax_core.passes.tir.schedule.scope import (
    block_of,
    first_access,
    holder_of,
    top_level,
    with_given,
    with_stmts,
    without_buffer,
    writers_of,
)


def run(module: IRModule, options: ComputeInlineOptions, ctx: PassContext) -> IRModule:
    """Let the block that makes the only operand of this one write its result instead; this one and the buffer go.

    Each instance of the one is an instance of the other, which makes the element that it reads, so that it computes the
    same value, earlier: what else it reads keeps its values in between, and nothing accesses what it writes.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    store = _only_store(nest)
    whole_instances(nest)
    producer, made, loads = _producer(nest, store)
    _check(nest, producer, made.buffer)
    values = _values(nest, made, loads)
    block = _inlined(nest, producer.block, made, store, values)
    given: dict[Node, Stmt | None] = {producer.block: block, nest.block: None}
    stmts = [with_given(stmt, given, ctx) for stmt in top_level(nest.function)]
    ctx.remark(
        nest.block,
        "applied",
        f"{producer.block.name} writes {store.buffer.name}, for which it computed {made.buffer.name}",
    )
    result = with_stmts(module, nest, [stmt for stmt in stmts if stmt is not None])
    return without_buffer(result, nest, made.buffer)


def _only_store(nest: Nest) -> BufferStore:
    block = nest.block
    only_simple(nest, block)
    store = block.body
    if (
        block.init is not None
        or not isinstance(store, BufferStore)
        or any(it.kind != "spatial" for it in block.iter_vars)
    ):
        nest.refuse(f"{block.name} is not one store", block, "inline a block that does not reduce")
    stored_axes(nest, block, store.buffer)
    only_own_elements(nest, block, "ReverseComputeInline")
    return store


def _producer(nest: Nest, store: BufferStore) -> tuple[Nest, BufferStore, tuple[BufferLoad, ...]]:
    """Return the block that makes the operand, its store, and the loads of the operand."""
    function, block = nest.function, nest.block
    loads = [item for item in preorder(store.value) if isinstance(item, BufferLoad)]
    outside = {item.buffer for item in function.buffers}
    made = [it for it in dict.fromkeys(load.buffer for load in loads) if it not in outside and writers_of(it, function)]
    if len(made) != 1:
        names = ", ".join(item.name for item in made) or "none"
        hint = "inline a block with one operand that another block computes"
        nest.refuse(f"{block.name} reads {len(made)} buffers that blocks compute: {names}", block, hint)
    (buffer,) = made
    stores = list(writers_of(buffer, function))
    owner = block_of(stores[0], function)
    if len(stores) > 1 or owner is None or owner.init is not None or owner.body is not stores[0]:
        hint = "the result of a reduction is complete only behind its loops: take ReverseComputeAt"
        nest.refuse(f"{buffer.name} is not written by one store without an init", stores[0], hint)
    if any(axis.kind != "spatial" for axis in owner.iter_vars) or dtype_of(stores[0].value) != buffer.dtype:
        nest.refuse(f"{buffer.name} does not hold what {owner.name} computes at once", owner, "take ReverseComputeAt")
    others = first_access((function.body,), BufferLoad, (buffer,), block)
    if others is not None:
        nest.refuse(f"{buffer.name} is read elsewhere as well", others, f"{block.name} has to be its only reader")
    return block_nest(nest, owner), stores[0], tuple(load for load in loads if load.buffer is buffer)


def _check(nest: Nest, producer: Nest, buffer: Buffer) -> None:
    """Refuse blocks between which something sees that the result is there, or changes what it is computed from."""
    only_simple(producer, producer.block)
    whole_instances(producer)
    stored_axes(producer, producer.block, buffer)
    start, end = holder_of(nest, producer.block), holder_of(nest, nest.block)
    if start >= end:
        message = f"the loops of {producer.block.name} do not stand before those of {nest.block.name}"
        nest.refuse(message, producer.block, "inline it before it moves into the same loops")
    between = top_level(nest.function)[start : end + 1]
    reads = {item.buffer for item in preorder(nest.block) if isinstance(item, BufferLoad)} - {buffer}
    writes = {item.buffer for item in preorder(nest.block) if isinstance(item, BufferStore)}
    only_stores_between(nest, between, (buffer, *reads, *writes))
    for kind, buffers in ((BufferStore, reads | writes), (BufferLoad, writes)):
        access = first_access(between, kind, buffers, nest.block)
        if access is not None:
            what = "written" if kind is BufferStore else "read"
            message = f"{access.buffer.name} is {what} between {producer.block.name} and {nest.block.name}"
            nest.refuse(message, access, "inline a block past loops that have nothing to do with it")


def _values(nest: Nest, made: BufferStore, loads: tuple[BufferLoad, ...]) -> dict[PrimVar, PrimExpr]:
    """Return what the iteration variables of the block are where its operand is made."""
    axes = {axis.var: axis for axis in nest.block.iter_vars}
    values: dict[PrimVar, PrimExpr] = {}
    for load in loads:
        found = [index for index in load.indices if isinstance(index, PrimVar) and index in axes]
        is_each = len(set(found)) == len(axes) == len(load.indices)
        if not is_each or (values and list(values) != found):
            message = f"{nest.block.name} does not read {load.buffer.name} at all of its iteration variables, each once"
            nest.refuse(message, load, f"an inlined block reads {load.buffer.name}[vi, vj]")
        values = dict(zip(found, made.indices, strict=True))
    return values


def _inlined(
    nest: Nest, owner: Block, made: BufferStore, store: BufferStore, values: Mapping[PrimVar, PrimExpr]
) -> Block:
    """Return the block that makes the operand as one that writes the result."""
    extents = {axis.var: axis.extent for axis in owner.iter_vars}
    for axis in nest.block.iter_vars:
        index = values[axis.var]
        extent = extents.get(index) if isinstance(index, PrimVar) else None
        if extent is None or not prove_equal(axis.extent, extent):
            message = f"{nest.block.name} and {owner.name} do not run for the same values of {axis.var.name}"
            nest.refuse(message, nest.block, "inline a block that reads all that is made")

    def take(node: Node) -> Node | None:
        return made.value if isinstance(node, BufferLoad) and node.buffer is made.buffer else None

    changed = nest.ctx.substitute(store, None, dict(values))
    body = rewrite(changed, take, log=RewriteLog())
    writes = nest.block.writes
    regions = None if writes is None else tuple(nest.ctx.substitute(item, None, dict(values)) for item in writes)
    return nest.ctx.derive(replace(owner, body=body, reads=None, writes=regions), owner, nest.block)


PASS = Pass(
    "ReverseComputeInline",
    "Schedule: writes what a block computes where its operand is made.",
    run,
    ComputeInlineOptions,
    see="tvm/src/s_tir/schedule/primitive/compute_inline.cc",
    dialect="tir",
)
