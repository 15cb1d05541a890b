"""Lay the elements of a buffer out in another way."""

from dataclasses import dataclass, replace

from relax_core.ir.attrs import has_attr
from relax_core.ir.integer.interval import is_integral
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of, is_number
from relax_core.ir.tir import NOTHING, Block, Buffer, BufferLoad, BufferRegion, BufferStore, For, IterVar
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.buffers.index_map import IndexMap, IndexMapError, index_map
from relax_core.passes.tir.schedule.buffers.storage_align import KEY
from relax_core.passes.tir.schedule.instances import instances_of
from relax_core.passes.tir.schedule.nest import Nest, nest_of, replaced
from relax_core.passes.tir.schedule.scope import BufferPlace, allocated, buffer_at, changed, only_elements


@dataclass(frozen=True, slots=True)
class TransformLayoutOptions:
    """A block, which of the buffers that it accesses, and the map, as text: "lambda i, j: (j // 4, i, j % 4)"."""

    block: str
    buffer: BufferPlace = ("write", 0)
    index_map: str = ""
    function: str = ""


def run(module: IRModule, options: TransformLayoutOptions, ctx: PassContext) -> IRModule:
    """Give each element the place that the map says, in a buffer of the shape that this makes.

    The map is a bijection, so that each element has a place of its own and no place is left over: TVM's `pad_value` is
    not known here. It changes the signature for a parameter, whose callers are then wrong; that is refused.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    buffer = buffer_at(nest, options.buffer)
    allocated(nest, buffer)
    only_elements(nest, buffer)
    mapped = _map(nest, buffer, options.index_map)
    made = ctx.derive(replace(buffer, shape=_shape(nest, buffer, mapped)), buffer)
    _check(nest, buffer)

    def put(node: Node) -> Node | None:
        match node:
            case Buffer():
                return made if node is buffer else None
            case BufferLoad(indices=indices) | BufferStore(indices=indices) if node.buffer is made:
                return replace(node, indices=tuple(map(tidy, mapped.apply(indices))))
            case Block(reads=reads, writes=writes) if any(
                it.buffer is made for it in (*(reads or ()), *(writes or ()))
            ):
                return replace(node, reads=_regions(reads, made, mapped), writes=_regions(writes, made, mapped))
            case _:
                return None

    sizes = ", ".join(str(size.value) if isinstance(size, IntImm) else "n" for size in made.shape)
    ctx.remark(nest.block, "applied", f"{buffer.name} has the shape ({sizes})")
    body = changed(nest.function.body, put, ctx)
    return replaced(module, nest, nest.function.body, body, "a buffer -> in another layout")


def _map(nest: Nest, buffer: Buffer, text: str) -> IndexMap:
    try:
        mapped = index_map(text)
        if len(mapped.names) != len(buffer.shape):
            message = f"the map takes {len(mapped.names)} indices, {buffer.name} has {len(buffer.shape)}"
            nest.refuse(message, nest.block, "write index_map='lambda i, j: (j, i)'")
        mapped.apply([IntImm(0, "int32") for _ in mapped.names])
    except IndexMapError as error:
        nest.refuse(str(error), nest.block, "write index_map='lambda i, j: (j // 4, i, j % 4)'")
    return mapped


def _shape(nest: Nest, buffer: Buffer, mapped: IndexMap) -> tuple[PrimExpr, ...]:
    """Return the sizes that the map makes of a buffer; refuse a map that is not seen to be a bijection.

    The dimensions are taken for loops, and the results of the map for iteration variables of a block in them.
    """
    variables = [
        PrimVar(name, getattr(size, "dtype", "int32")) for name, size in zip(mapped.names, buffer.shape, strict=True)
    ]
    loops = tuple(
        For(var, IntImm(0, var.dtype), size, NOTHING) for var, size in zip(variables, buffer.shape, strict=True)
    )
    bounds = nest.bounds()
    for loop in loops:
        bounds.enter_loop(loop)
    sizes: list[PrimExpr] = []
    for result in mapped.apply(variables):
        whole = next((loop.extent for loop in loops if loop.var is result), None)
        sizes.append(IntImm(bounds.interval(result).high + 1, dtype_of(result)) if whole is None else whole)
    axes = tuple(
        IterVar(PrimVar("", dtype_of(result)), size, result, "spatial")
        for result, size in zip(mapped.apply(variables), sizes, strict=True)
    )
    if instances_of(replace(nest, block=Block("", axes, NOTHING), loops=loops)) is None:
        message = f"it is not seen that the map gives each element of {buffer.name} a place, and leaves none over"
        nest.refuse(message, nest.block, "divide dimensions by factors that divide them, and leave no part out")
    return tuple(sizes)


def _check(nest: Nest, buffer: Buffer) -> None:
    """Refuse accesses and marks that are not of single elements in the order of the dimensions."""
    if buffer.strides or buffer.elem_offset is not None:
        nest.refuse(f"{buffer.name} has strides of its own", nest.block, "lay out a buffer before it gets strides")
    for item in preorder(nest.function.body):
        match item:
            case BufferLoad(indices=indices) | BufferStore(indices=indices) if item.buffer is buffer:
                if not all(is_integral(dtype_of(index)) for index in indices):
                    nest.refuse(f"{buffer.name} is accessed by vectors", item, "lay it out before loops are vectorized")
            case Block() if has_attr(item.annotations, KEY) and any(
                isinstance(part, BufferStore) and part.buffer is buffer for part in preorder(item)
            ):
                nest.refuse(f"{item.name} asks for strides of {buffer.name}", item, "lay it out before StorageAlign")
            case _:
                pass


def _regions(
    regions: tuple[BufferRegion, ...] | None, buffer: Buffer, mapped: IndexMap
) -> tuple[BufferRegion, ...] | None:
    """Return regions in the other layout: those of one element; where there are others, all are left to be inferred."""
    made: list[BufferRegion] = []
    for item in regions or ():
        if item.buffer is not buffer:
            made.append(item)
        elif all(is_number(extent, 1) for extent in item.extents):
            starts = tuple(map(tidy, mapped.apply(item.starts)))
            made.append(BufferRegion(buffer, starts, tuple(IntImm(1, dtype_of(start)) for start in starts)))
        else:
            return None
    return None if regions is None else tuple(made)


PASS = Pass(
    "TransformLayout",
    "Schedule: lays the elements of a buffer out in another way.",
    run,
    TransformLayoutOptions,
    see="tvm/src/s_tir/schedule/primitive/layout_transformation.cc",
    dialect="tir",
)
