"""Write a buffer through a copy of it in another scope."""

from dataclasses import dataclass

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import Nest, nest_of
from relax_core.passes.tir.schedule.scope import (
    block_of,
    copy_in,
    copy_nest,
    first_access,
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
class CacheWriteOptions:
    """The block, which of the buffers that it writes, and the scope of the copy."""

    block: str
    write_buffer_index: int = 0
    storage_scope: str = "global"
    function: str = ""


def run(module: IRModule, options: CacheWriteOptions, ctx: PassContext) -> IRModule:
    """Let the block write a copy, from which the buffer is filled behind its loops."""
    nest = nest_of(module, options.block, options.function, ctx)
    buffer = _written(nest, options.write_buffer_index)
    only_elements(nest, buffer)
    place = holder_of(nest, nest.block)
    _check(nest, buffer, place)
    copy = copy_in(buffer, options.storage_scope)
    stmts = list(top_level(nest.function))
    stmts[place] = with_buffer(stmts[place], {buffer: copy}, ctx, lambda block: block is nest.block)
    stmts.insert(place + 1, ctx.derive(copy_nest(copy, buffer, f"{buffer.name}_{options.storage_scope}"), nest.block))
    ctx.remark(nest.block, "applied", f"{nest.block.name} writes {copy.name}, which is then copied to {buffer.name}")
    return with_stmts(module, nest, stmts, (copy,))


def _written(nest: Nest, index: int) -> Buffer:
    found = list(dict.fromkeys(it.buffer for it in preorder(nest.block.body) if isinstance(it, BufferStore)))
    return numbered(nest, "writes", found, index)


def _check(nest: Nest, buffer: Buffer, place: int) -> None:
    blocks = {block_of(store, nest.function) for store in writers_of(buffer, nest.function)}
    if blocks != {nest.block} or not writes_all(nest.block, buffer, nest.function):
        hint = "write through a copy before the loops are split"
        nest.refuse(f"it is not seen that {nest.block.name} alone writes all of {buffer.name}", nest.block, hint)
    reader = first_access(top_level(nest.function)[: place + 1], BufferLoad, (buffer,), nest.block)
    if reader is not None:
        message = f"{buffer.name} is read before {nest.block.name} has written all of it"
        nest.refuse(message, reader, "only blocks behind these loops may read it")


PASS = Pass(
    "CacheWrite",
    "Schedule: writes a buffer through a copy in another scope.",
    run,
    CacheWriteOptions,
    see="tvm/src/s_tir/schedule/primitive/cache_read_write.cc",
    dialect="tir",
)
