"""Read a buffer through a copy of it in another scope."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import Nest, nest_of
from relax_core.passes.tir.schedule.scope import (
    block_of,
    copy_in,
    copy_nest,
    holder_of,
    numbered,
    only_elements,
    top_level,
    with_buffer,
    with_stmts,
    writers_of,
    writes_all,
)


@dataclass(frozen=True, slots=True)
class CacheReadOptions:
    """The block, which of the buffers that it reads, in order of their first access, and the scope of the copy."""

    block: str
    read_buffer_index: int = 0
    storage_scope: str = "global"
    function: str = ""


def run(module: IRModule, options: CacheReadOptions, ctx: PassContext) -> IRModule:
    """Copy a buffer before it is read; all blocks that read it read the copy, as in TVM.

    The whole buffer is copied, where TVM copies the part that is read.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    buffer = _read(nest, options.read_buffer_index)
    only_elements(nest, buffer)
    place = _place(nest, buffer)
    copy = copy_in(buffer, options.storage_scope)
    made = ctx.derive(copy_nest(buffer, copy, f"{buffer.name}_{options.storage_scope}"), nest.block)
    stmts = [
        with_buffer(stmt, {buffer: copy}, ctx, lambda _: True) if number >= place else stmt
        for number, stmt in enumerate(top_level(nest.function))
    ]
    stmts.insert(place, made)
    ctx.remark(nest.block, "applied", f"{buffer.name} is copied to {copy.name}, which is read in its place")
    return with_stmts(module, nest, stmts, (copy,))


def _read(nest: Nest, index: int) -> Buffer:
    """Return a buffer that the block reads: those that it says it reads, or else in the order of its loads."""
    if nest.block.reads is not None:
        found = list(dict.fromkeys(item.buffer for item in nest.block.reads))
    else:
        own = {it.buffer for it in preorder(nest.block.body) if isinstance(it, BufferStore)}
        loads = (it.buffer for it in preorder(nest.block.body) if isinstance(it, BufferLoad))
        found = [item for item in dict.fromkeys(loads) if item not in own]
    return numbered(nest, "reads", found, index)


def _place(nest: Nest, buffer: Buffer) -> int:
    """Return before which statement under the root the copy is made: behind what writes the buffer."""
    stores = writers_of(buffer, nest.function)
    if not stores:
        return 0
    blocks = {block_of(store, nest.function) for store in stores}
    writer = next(iter(blocks))
    if len(blocks) > 1 or not isinstance(writer, Block) or not writes_all(writer, buffer, nest.function):
        hint = "copy before the writer is split, or copy a parameter that is only read"
        nest.refuse(f"it is not seen that one block writes all of {buffer.name} before it is copied", nest.block, hint)
    place, reader = holder_of(nest, writer), holder_of(nest, nest.block)
    if place >= reader:
        nest.refuse(f"{buffer.name} is written and read in the same loops", nest.block, "copy what other loops write")
    return place + 1


PASS = Pass(
    "CacheRead",
    "Schedule: reads a buffer through a copy in another scope.",
    run,
    CacheReadOptions,
    see="tvm/src/s_tir/schedule/primitive/cache_read_write.cc",
    dialect="tir",
)
