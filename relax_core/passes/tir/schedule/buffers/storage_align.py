"""Ask for rows of a buffer that begin at other places."""

from dataclasses import dataclass, replace

from relax_core.ir.attrs import AttrValue, attr, with_attr
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.schedule.nest import nest_of, replaced
from relax_core.passes.tir.schedule.scope import allocated, written

KEY = "buffer_dim_align"
"""The annotation of a block: per buffer that it writes and dimension, the factor and the offset of the stride."""


@dataclass(frozen=True, slots=True)
class StorageAlignOptions:
    """A block, which of the buffers that it writes, a dimension, and the stride that it gets: `k * factor + offset`."""

    block: str
    buffer_index: int = 0
    axis: int = 0
    factor: int = 0
    offset: int = 0
    function: str = ""


def run(module: IRModule, options: StorageAlignOptions, ctx: PassContext) -> IRModule:
    """Mark the block: CompactBufferAllocation gives the dimension the stride; nothing else reads the mark.

    A second one for the same dimension takes the place of the first.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    buffer = written(nest, options.buffer_index)
    allocated(nest, buffer)
    rank = len(buffer.shape)
    if not -rank <= options.axis < rank:
        nest.refuse(f"{buffer.name} has no dimension {options.axis}", nest.block, f"numbers from {-rank} to {rank - 1}")
    if options.factor < 1:
        hint = "write factor=32, offset=8"
        nest.refuse(f"a stride is a multiple of a positive factor, got {options.factor}", nest.block, hint)
    axis = options.axis % rank
    entry: AttrValue = (options.buffer_index, axis, options.factor, options.offset)
    known = attr(nest.block.annotations, KEY)
    entries = [*known] if isinstance(known, tuple) else []
    at = next((n for n, item in enumerate(entries) if isinstance(item, tuple) and item[:2] == entry[:2]), len(entries))
    entries[at : at + 1] = [entry]
    made = replace(nest.block, annotations=with_attr(nest.block.annotations, KEY, tuple(entries)))
    stride = f"a multiple of {options.factor}" + (f" and {options.offset}" if options.offset else "")
    ctx.remark(nest.block, "applied", f"the stride of dimension {axis} of {buffer.name} is to be {stride}")
    return replaced(module, nest, nest.block, made, "a block -> with a mark for the strides of what it writes")


PASS = Pass(
    "StorageAlign",
    "Schedule: asks for rows of a buffer that begin at other places, so that threads do not meet in a bank.",
    run,
    StorageAlignOptions,
    see="tvm/src/s_tir/schedule/primitive/block_annotate.cc",
    dialect="tir",
)
