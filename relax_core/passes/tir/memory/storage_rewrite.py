"""Let buffers whose lives do not overlap share memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from relax_core.analysis.tir_memory import memory_of
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children, postorder, preorder
from relax_core.ir.prim import IntImm, PrimVar, bits_of
from relax_core.ir.tir import Buffer, BufferRef, DeclBuffer, For, LaunchThread, PrimFunc, Stmt, statements
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import bounds_of
from relax_core.passes.tir.memory.in_place import writes_over
from relax_core.passes.tir.memory.initialised import first_foreign_load
from relax_core.passes.tir.memory.lifetimes import Lifetime, lifetimes_of
from relax_core.passes.tir.memory.regions import enter_scopes

LARGEST_RATIO = 16
"""Memory that is so many times larger or smaller than what a buffer needs is not taken for it, as in TVM."""
REGISTER_BITS = 32
"""So little memory becomes a register, which shares with none."""


@dataclass(slots=True)
class Storage:
    """Memory, the buffers that lie in it one after the other, and when the last of them is done."""

    owner: Stmt | None
    is_shared: bool = True
    members: list[Lifetime] = field(default_factory=list[Lifetime])

    @property
    def end(self) -> int:
        """When the memory is free."""
        return self.members[-1].end

    @property
    def is_uniform(self) -> bool:
        """Tell whether all buffers in it have one dtype and one shape."""
        first = self.members[0].buffer
        return all(_is_alike(item.buffer, first) for item in self.members)

    @property
    def bits(self) -> int | None:
        """The size of the memory; `None` if it is not known."""
        sizes = [_bits(item.buffer) for item in self.members]
        known = [size for size in sizes if size is not None]
        return max(known) if len(known) == len(sizes) else None

    def buffer(self) -> Buffer:
        """Return the buffer that is allocated: the first one, or a row of its elements that all others fit in."""
        first = self.members[0].buffer
        if self.is_uniform:
            return first
        bits = self.bits
        assert bits is not None, "only memory of known size is shared by buffers that are not alike"
        return replace(first, shape=(IntImm(-(-bits // bits_of(first.dtype)), "int32"),), span=None)


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Allocate at the start of the function, or of the parallel loop, and let buffers follow each other in memory.

    A buffer follows another one of its scope whose last use is before its first one, or in the same loop if that writes
    each element over the one that it reads for it. Both must be proven to read nothing but what they wrote since they
    were allocated, so that nothing that one left is seen by the other, or by a later iteration. Buffers of the memory
    of which a pointer is taken, or that have views, stay apart; so do those of up to 32 bits, those of symbolic sizes
    but for equal ones, and, where there are threads, those that several of them may see. TVM does not ask who wrote
    what is read, and lets a loop that runs several times over a buffer write over what it reads. It also lets buffers
    hold vectors, which is left out.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _rewritten(function, ctx))


def _rewritten(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    lives = [item for item in lifetimes_of(function, memory_of(function)) if _is_movable(item, function)]
    unused = {item.buffer for item in lives if not item.is_used}
    for item in lives:
        if not item.is_used:
            ctx.remark(item.declaration, "applied", f"{item.buffer.name} is not allocated: nothing reads or writes it")
    used = sorted((item for item in lives if item.is_used), key=lambda item: item.start)
    storages = _storages(function, used, ctx)
    if not lives:
        return function
    return _with_storages(function, storages, unused, ctx)


def _is_movable(life: Lifetime, function: PrimFunc) -> bool:
    """Tell whether an allocation may stand at the start of the function: its size is known there."""
    buffer = life.buffer
    if life.is_whole or life.declaration.is_scalar or buffer.strides or buffer.elem_offset is not None:
        return False
    if buffer.scope != "local" and any(map(_has_threads, statements(function.body))):
        return False
    known = {*function.params, *(part for item in function.buffers for part in preorder(item.buffer))}
    sizes = (part for size in buffer.shape for part in preorder(size))
    return all(item in known for item in sizes if isinstance(item, PrimVar))


def _has_threads(stmt: Stmt) -> bool:
    return isinstance(stmt, LaunchThread) or (isinstance(stmt, For) and stmt.kind == "thread_binding")


def _storages(function: PrimFunc, lives: Sequence[Lifetime], ctx: PassContext) -> list[Storage]:
    """Assign memory in the order of first uses."""
    storages: list[Storage] = []
    for life in lives:
        name = life.buffer.name
        load = _foreign(function, life)
        if load is not None:
            message = f"{name} shares no memory: it may be read where nothing was written since its allocation"
            ctx.remark(life.declaration, "missed", message, (load,))
        found = _place_for(life, storages) if load is None else None
        if found is None:
            found = Storage(life.owner, is_shared=load is None)
            storages.append(found)
        else:
            last = found.members[-1]
            how = "which it is written over" if last.end > life.start else "which is not used any more"
            ctx.remark(life.declaration, "applied", f"{name} lies in the memory of {last.buffer.name}, {how}")
        found.members.append(life)
    return storages


def _foreign(function: PrimFunc, life: Lifetime) -> Node | None:
    bounds = bounds_of(function)
    enter_scopes(bounds, life.path)
    return first_foreign_load(life.declaration.body, life.buffer, bounds)


def _place_for(life: Lifetime, storages: Sequence[Storage]) -> Storage | None:
    """Return the memory for a buffer: of what it is written over, or else the one whose size is nearest."""
    bits = _bits(life.buffer)
    open_ = [item for item in storages if item.is_shared and _is_place(item, life)]
    for item in open_:
        last = item.members[-1]
        is_alike = item.is_uniform and _is_alike(last.buffer, life.buffer)
        if is_alike and last.end > life.start and _takes_over(last, life):
            return item
    free = [item for item in open_ if item.end < life.start]
    if bits is None:
        return next((item for item in free if item.is_uniform and _is_alike(item.members[0].buffer, life.buffer)), None)
    if bits <= REGISTER_BITS:
        return None
    sized = [(size, item) for item in free if (size := item.bits) is not None]
    larger = [(size, item.end, item) for size, item in sized if bits <= size <= bits * LARGEST_RATIO]
    smaller = [(-size, -item.end, item) for size, item in sized if bits <= size * LARGEST_RATIO and size < bits]
    nearest = min(larger or smaller, key=lambda item: item[:2], default=None)
    return None if nearest is None else nearest[2]


def _is_place(storage: Storage, life: Lifetime) -> bool:
    """Tell whether a buffer may lie in memory at all: of one kind, and of the same threads."""
    return storage.owner is life.owner and storage.members[0].buffer.scope == life.buffer.scope


def _takes_over(last: Lifetime, life: Lifetime) -> bool:
    """Tell whether the statement that reads `last` for the last time is the first of `life`, and writes over it."""
    if last.last is None or last.last is not life.first or last.level != life.level:
        return False
    return last.start < life.start and writes_over(last.last, last.buffer, life.buffer)


def _is_alike(a: Buffer, b: Buffer) -> bool:
    has_sizes = len(a.shape) == len(b.shape) and all(map(prove_equal, a.shape, b.shape))
    return has_sizes and a.dtype == b.dtype and a.attrs == b.attrs


def _bits(buffer: Buffer) -> int | None:
    """Return the size of a buffer, `None` if it is not known."""
    sizes = [constant_value(size) for size in buffer.shape]
    known = [size for size in sizes if size is not None]
    return prod(known) * bits_of(buffer.dtype) if len(known) == len(sizes) else None


def _with_storages(
    function: PrimFunc, storages: Sequence[Storage], unused: Collection[Buffer], ctx: PassContext
) -> PrimFunc:
    """Return the function with the allocations of `storages`, and views of them in the place of the buffers' own."""
    memory_of_buffer: dict[Buffer, Buffer] = {}
    made: dict[Stmt | None, list[Buffer]] = {}
    for storage in storages:
        buffer = storage.buffer()
        memory_of_buffer |= {item.buffer: buffer for item in storage.members}
        made.setdefault(storage.owner, []).append(buffer)
        ctx.derive(buffer, *(item.declaration for item in storage.members))
        place = "the function" if storage.owner is None else "the parallel loop"
        words = f"{buffer.name} is allocated at the start of {place}"
        ctx.remark(storage.members[0].declaration, "applied", words)
    memo: dict[Node, Node] = {}
    for current in postorder(function.body):
        new = map_children(current, memo.__getitem__)
        match current, new:
            case DeclBuffer(buffer=buffer, pointer=None), DeclBuffer(body=body) if buffer in unused:
                new = body
            case DeclBuffer(buffer=buffer, pointer=None), DeclBuffer(body=body) if buffer in memory_of_buffer:
                memory = memory_of_buffer[buffer]
                new = body if memory is buffer else ctx.derive(DeclBuffer(buffer, body, BufferRef(memory)), current)
            case ((For() | LaunchThread()), (For(body=body) | LaunchThread(body=body))) if current in made:
                new = replace(new, body=_allocated(made[current], body, current, ctx))
            case _:
                pass
        ctx.log.rebuilt(current, new)
        memo[current] = new
    body = memo[function.body]
    assert isinstance(body, Stmt), "a statement stays one"
    return replace(function, body=_allocated(made.get(None, ()), body, function, ctx))


def _allocated(buffers: Sequence[Buffer], body: Stmt, place: Node, ctx: PassContext) -> Stmt:
    for buffer in reversed(buffers):
        body = ctx.derive(DeclBuffer(buffer, body), place)
    return body


PASS = Pass(
    "StorageRewrite",
    "Lets buffers whose lives do not overlap share memory.",
    run,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/storage_rewrite.cc",
    dialect="tir",
)
