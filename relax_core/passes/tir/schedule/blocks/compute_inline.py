"""Write what a block computes where it is read."""

from dataclasses import dataclass, replace

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferRef, BufferStore
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import Nest, nest_of
from relax_core.passes.tir.schedule.scope import (
    block_of,
    holder_of,
    only_elements,
    outer_variables,
    top_level,
    with_stmts,
    without_buffer,
    writers_of,
)


@dataclass(frozen=True, slots=True)
class ComputeInlineOptions:
    """A block."""

    block: str
    function: str = ""


def run(module: IRModule, options: ComputeInlineOptions, ctx: PassContext) -> IRModule:
    """Replace reads of what the block writes by its expression; the block, its loops and its buffer go.

    What the readers read after that is left to be inferred: their `T.reads` go.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    store, variables = _pattern(nest)
    place = _check(nest, store)
    buffer = store.buffer

    def inline(node: Node) -> Node | None:
        """Rule: a read -> the expression that was written."""
        if isinstance(node, BufferLoad) and node.buffer is buffer:
            return ctx.substitute(store.value, None, dict(zip(variables, node.indices, strict=True)))
        if isinstance(node, Block) and node.reads is not None and any(it.buffer is buffer for it in node.reads):
            return replace(node, reads=None)
        return None

    stmts = [ctx.rewrite(it, inline) for number, it in enumerate(top_level(nest.function)) if number != place]
    ctx.remark(nest.block, "applied", f"{nest.block.name} is written where {buffer.name} was read")

    return without_buffer(with_stmts(module, nest, stmts), nest, buffer)


def _pattern(nest: Nest) -> tuple[BufferStore, tuple[PrimVar, ...]]:
    """Return the store of the block and the variables that it stores at."""
    block = nest.block
    if block.init is not None:
        nest.refuse(
            f"{block.name} has an init: a reduction is no expression", block, "inline blocks that do not reduce"
        )
    store = block.body
    axes = {item.var for item in block.iter_vars if item.kind == "spatial"}
    if not isinstance(store, BufferStore) or block.predicate is not None or block.alloc_buffers or block.matches:
        nest.refuse(f"{block.name} is not one store without a condition", block, "inline it before its loops are split")
    variables = tuple(item for item in store.indices if isinstance(item, PrimVar) and item in axes)
    if len(set(variables)) < len(store.indices) or len(axes) > len(variables):
        message = f"{block.name} does not store at its iteration variables, each once"
        nest.refuse(message, store, "an inlined block is B[vi, vj] = ...")
    return store, variables


def _check(nest: Nest, store: BufferStore) -> int:
    """Refuse a block whose expression has another value where it is read; return which statement it is."""
    block, buffer, function = nest.block, store.buffer, nest.function
    if any(item.buffer is buffer for item in function.buffers):
        nest.refuse(f"{block.name} writes {buffer.name}, which the function returns", block, "inline its producers")
    if len(writers_of(buffer, function)) > 1 or _reads(store.value, buffer):
        nest.refuse(
            f"{buffer.name} is not written by one expression", block, "inline a buffer that one block writes once"
        )
    only_elements(nest, buffer)
    place = holder_of(nest, block)
    own = [item for item in preorder(top_level(function)[place]) if isinstance(item, BufferStore)]
    if own != [store]:
        nest.refuse(f"the loops of {block.name} hold other blocks", block, "inline a block that has loops of its own")
    axes = {item.var for item in block.iter_vars}
    free = (item for item in preorder(store.value) if isinstance(item, PrimVar) and item not in axes)
    bound = next((item for item in free if item not in outer_variables(function)), None)
    if bound is not None:
        message = f"{block.name} uses {bound.name}, which has no value where {buffer.name} is read"
        nest.refuse(message, store, "bind it to an iteration variable")
    memory = memory_of(function)
    sources = {memory.owner(item.buffer) for item in preorder(store.value) if isinstance(item, BufferLoad)}
    for later in top_level(function)[place + 1 :]:
        for item in preorder(later):
            if isinstance(item, BufferStore | BufferRef) and sources and memory.owner(item.buffer) in (*sources, None):
                hint = f"{item.buffer.name} has another value there"
                nest.refuse(f"{item.buffer.name} is written again before {buffer.name} is read", item, hint)
    assert block_of(store, function) is block, "the store is the block's body"
    return place


def _reads(value: PrimExpr, buffer: Buffer) -> bool:
    return any(isinstance(item, BufferLoad) and item.buffer is buffer for item in preorder(value))


PASS = Pass(
    "ComputeInline",
    "Schedule: writes what a block computes where it is read.",
    run,
    ComputeInlineOptions,
    see="tvm/src/s_tir/schedule/primitive/compute_inline.cc",
    dialect="tir",
)
