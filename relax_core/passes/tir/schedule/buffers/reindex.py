"""Access a buffer through a copy whose dimensions are the iteration variables of a block."""

from dataclasses import dataclass, replace

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, is_number
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferRegion, BufferStore, For, IterVar, Stmt
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.schedule.blocks.compute_location import (
    only_simple,
    only_stores_between,
    stored_axes,
    whole_instances,
)
from relax_core.passes.tir.schedule.nest import Nest, nest_of
from relax_core.passes.tir.schedule.scope import (
    BufferPlace,
    buffer_at,
    changed,
    first_access,
    holder_of,
    top_level,
    with_given,
    with_stmts,
)


@dataclass(frozen=True, slots=True)
class ReindexOptions:
    """A block, and which of the buffers that it accesses: `("read", 0)` or `("write", 0)`."""

    block: str
    buffer: BufferPlace = ("read", 0)
    function: str = ""


@dataclass(frozen=True, slots=True)
class _Access:
    """The one place at which a block accesses `buffer`, and the iteration variables that it depends on."""

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    axes: tuple[IterVar, ...]


def run(module: IRModule, options: ReindexOptions, ctx: PassContext) -> IRModule:
    """Let the block read or write `A_reindex[vi, vj]`, a copy of the elements that it accesses.

    What is read is copied in front of the block's loops, what is written behind them. TVM also copies where an index is
    in range only under a condition of the block, and reads out of the buffer there.
    """
    nest = nest_of(module, options.block, options.function, ctx)
    only_simple(nest, nest.block)
    is_read = options.buffer[0] == "read"
    access = _access(nest, buffer_at(nest, options.buffer), is_read=is_read)
    place = holder_of(nest, nest.block)
    stmt = top_level(nest.function)[place]
    _check(nest, access, stmt, is_read=is_read)
    shape = tuple(axis.extent for axis in access.axes)
    copy = replace(access.buffer, name=f"{access.buffer.name}_reindex", shape=shape, strides=(), elem_offset=None)
    made_stmt = with_given(stmt, {nest.block: _reindexed(nest, access, copy)}, ctx)
    assert made_stmt is not None, "the block stays"
    made = ctx.derive(_copies(access, copy, is_read=is_read), nest.block)
    stmts = list(top_level(nest.function))
    stmts[place : place + 1] = [made, made_stmt] if is_read else [made_stmt, made]
    verb = "reads" if is_read else "writes"
    ctx.remark(nest.block, "applied", f"{nest.block.name} {verb} {copy.name} at its iteration variables")
    return with_stmts(module, nest, stmts, (copy,))


def _access(nest: Nest, buffer: Buffer, *, is_read: bool) -> _Access:
    places = [
        item for item in preorder(nest.block) if isinstance(item, BufferLoad | BufferStore) and item.buffer is buffer
    ]
    stores = [item for item in places if isinstance(item, BufferStore)]
    if not places or (is_read and stores):
        nest.refuse(f"{nest.block.name} does not only read {buffer.name}", nest.block, "write buffer=('write', 0)")
    keys = {tuple(canonical_key(index, wraps=True) for index in item.indices) for item in places}
    variables = {axis.var: axis for axis in nest.block.iter_vars}
    used = {item for index in places[0].indices for item in preorder(index) if isinstance(item, PrimVar)}
    if len(keys) > 1 or any(isinstance(item, BufferLoad) for index in places[0].indices for item in preorder(index)):
        hint = "take a buffer that the block accesses at one place"
        nest.refuse(f"{nest.block.name} accesses several elements of {buffer.name}", places[-1], hint)
    if not used <= variables.keys():
        message = f"an index of {buffer.name} is made of more than the iteration variables of {nest.block.name}"
        nest.refuse(message, places[0], "bind what it is made of to iteration variables")
    ones: dict[PrimVar, PrimExpr] = {
        axis.var: IntImm(0, axis.var.dtype) for axis in nest.block.iter_vars if is_number(axis.extent, 1)
    }
    indices = tuple(tidy(replace_symbols(index, ones)) for index in places[0].indices)
    left = {item for index in indices for item in preorder(index)}
    return _Access(buffer, indices, tuple(axis for axis in nest.block.iter_vars if axis.var in left))


def _check(nest: Nest, access: _Access, stmt: Stmt, *, is_read: bool) -> None:
    """Refuse a copy of elements that do not exist, or that have another value where they are copied."""
    only_stores_between(nest, (stmt,), (access.buffer,))
    name = access.buffer.name
    if is_read:
        store = first_access((stmt,), BufferStore, (access.buffer,), nest.block)
        if store is not None:
            nest.refuse(f"{name} is written in the loops of {nest.block.name}", store, "read what other loops write")
    else:
        whole_instances(nest)
        stored_axes(nest, nest.block, access.buffer)
        other = first_access((stmt,), BufferLoad, (access.buffer,), nest.block) or first_access(
            (stmt,), BufferStore, (access.buffer,), nest.block
        )
        if other is not None:
            nest.refuse(f"{name} is accessed by other statements in the loops of {nest.block.name}", other,
                        "write what other loops read")  # fmt: skip
        if nest.block.init is None and any(
            isinstance(it, BufferLoad) and it.buffer is access.buffer for it in preorder(nest.block)
        ):
            message = f"{nest.block.name} reads {name}, which it writes, and has no init"
            nest.refuse(message, nest.block, "take a reduction before its initial values have a block of their own")
    bounds: Bounds = nest.bounds()
    for axis in access.axes:
        bounds.enter_loop(For(axis.var, IntImm(0, axis.var.dtype), axis.extent, nest.block.body))
    for dimension, index in enumerate(access.indices):
        if not bounds.is_in_range(access.buffer, dimension, index):
            message = f"it is not seen that all elements that would be copied are in {name}"
            nest.refuse(message, nest.block, "take a buffer whose index needs no condition")


def _reindexed(nest: Nest, access: _Access, copy: Buffer) -> Block:
    """Return the block with accesses of the copy."""
    places = tuple(axis.var for axis in access.axes)
    ones = tuple(IntImm(1, var.dtype) for var in places)

    def access_copy(node: Node) -> Node | None:
        match node:
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) if buffer is access.buffer:
                return replace(node, buffer=copy, indices=places)
            case BufferRegion(buffer=buffer) if buffer is access.buffer:
                return BufferRegion(copy, places, ones, span=node.span)
            case _:
                return None

    return changed(nest.block, access_copy, nest.ctx)


def _copies(access: _Access, copy: Buffer, *, is_read: bool) -> Stmt:
    """Return loops with a block that copies what is read to the copy, or the copy to what is written."""
    loops = [PrimVar(f"ax{at}", axis.var.dtype) for at, axis in enumerate(access.axes)]
    variables = tuple(PrimVar(f"v{at}", axis.var.dtype) for at, axis in enumerate(access.axes))
    values: dict[PrimVar, PrimExpr] = {axis.var: var for axis, var in zip(access.axes, variables, strict=True)}
    own = (copy, tuple(variables))
    other = (access.buffer, tuple(replace_symbols(index, values) for index in access.indices))
    (source, place), (target, destination) = (other, own) if is_read else (own, other)
    pairs = list(zip(access.axes, variables, loops, strict=True))
    body: Stmt = Block(
        f"{copy.name}_reindex" if is_read else copy.name,
        tuple(IterVar(var, axis.extent, loop, "spatial") for axis, var, loop in pairs),
        BufferStore(target, destination, BufferLoad(source, place)),
        reads=(_element(source, place),),
        writes=(_element(target, destination),),
    )
    for axis, _, loop in reversed(pairs):
        body = For(loop, IntImm(0, loop.dtype), axis.extent, body)
    return body


def _element(buffer: Buffer, place: tuple[PrimExpr, ...]) -> BufferRegion:
    return BufferRegion(buffer, place, tuple(IntImm(1, getattr(index, "dtype", "int32")) for index in place))


PASS = Pass(
    "Reindex",
    "Schedule: accesses a buffer through a copy whose dimensions are the iteration variables of a block.",
    run,
    ReindexOptions,
    see="tvm/src/s_tir/schedule/primitive/cache_read_write.cc",
    dialect="tir",
)
