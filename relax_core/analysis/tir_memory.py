"""Alias analysis of a prim func: which parameter or allocation the memory of each buffer belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar, StringImm, dtype_of, lanes_of, scalar_of
from relax_core.ir.tir import (
    Allocate,
    Block,
    Buffer,
    BufferLoad,
    BufferRealize,
    BufferRef,
    BufferStore,
    DeclBuffer,
    LetStmt,
    PrimFunc,
)

# Calls that derive a pointer into the same memory.
DERIVED = ("reinterpret", "handle_add_byte_offset", "ptr_byte_offset", "address_of", "tvm_access_ptr")

ONLY_READ: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "tvm.contrib.sort.argsort": (0,),
        "tvm.contrib.sort.argsort_nms": (0, 1),
        "tvm.contrib.sort.sort": (0,),
        "tvm.contrib.sort.topk": (0,),
    }
)
"""The positions of arrays that a packed function only reads; of any other nothing is known."""


@dataclass(slots=True)
class Memory:
    """What a prim func says about memory.

    `allocated` are the buffers with memory of their own, where `T.allocate` counts as a buffer of its variable's
    name; `allocation_of` maps its variable to that buffer. `views` maps a buffer to the buffer or pointer that it
    is a view of, `pointers` a variable to its value.
    """

    params: frozenset[Buffer] = frozenset()
    allocated: dict[Buffer, None] = field(default_factory=dict[Buffer, None])
    allocation_of: dict[PrimVar, Buffer] = field(default_factory=dict[PrimVar, Buffer])
    views: dict[Buffer, Buffer | PrimExpr] = field(default_factory=dict[Buffer, "Buffer | PrimExpr"])
    pointers: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])

    def owner(self, buffer: Buffer) -> Buffer | None:
        """Return the buffer that owns the memory of `buffer`, itself if it is no view; `None` if unknown."""
        seen: set[Buffer] = set()
        while buffer not in seen:
            seen.add(buffer)
            source = self.views.get(buffer)
            found = self.base(source) if isinstance(source, PrimExpr) else source
            if source is None or found is None:
                return buffer if source is None else None
            buffer = found
        return None

    def base(self, pointer: PrimExpr) -> Buffer | None:
        """Return the buffer that a pointer was derived from; `None` if unknown."""
        seen: set[PrimExpr] = set()
        current: PrimExpr | None = pointer
        while current is not None and current not in seen:
            seen.add(current)
            match current:
                case BufferRef(buffer=buffer) | BufferLoad(buffer=buffer):
                    return buffer
                case PrimVar() if current in self.allocation_of:
                    return self.allocation_of[current]
                case PrimVar():
                    current = self.pointers.get(current)
                case Intrinsic(name="tvm_access_ptr", args=(_, inner, *_)):
                    current = inner
                case Intrinsic(name=name, args=(inner, *_)) if name in DERIVED:
                    current = inner
                case _:
                    return None
        return None


@lru_cache(256)
def memory_of(*functions: PrimFunc) -> Memory:
    """Analyse the memory of a prim func. The result is memoised and must not be changed."""
    memory = Memory(frozenset(item.buffer for function in functions for item in function.buffers))
    for item in postorder(*(function.body for function in functions)):
        match item:
            case Block(alloc_buffers=buffers, matches=matches):
                memory.allocated.update(dict.fromkeys(buffers))
                memory.views.update((match.buffer, match.region.buffer) for match in matches)
            case DeclBuffer(buffer=buffer, pointer=None):
                memory.allocated[buffer] = None
            case DeclBuffer(buffer=buffer, pointer=PrimExpr() as pointer):
                memory.views[buffer] = pointer
            case BufferRealize(region=region) if region.buffer not in memory.params:
                memory.allocated[region.buffer] = None
            case Allocate(var=var) as allocation:
                buffer = memory.allocation_of[var] = _buffer_of(allocation)
                memory.allocated[buffer] = None
            case LetStmt(var=var, value=value) if var.dtype == "handle":
                memory.pointers[var] = value
            case _:
                pass
    return memory


@lru_cache(256)
def written_buffers(function: PrimFunc) -> frozenset[Buffer]:
    """Return the buffers that `function` stores to, by their own names or through a view.

    One whose pointer goes into a call counts as written.
    """
    memory = memory_of(function)
    stored = {item.buffer for item in postorder(function.body) if isinstance(item, BufferStore)}
    return frozenset(memory.owner(item) or item for item in stored | passed_buffers(memory, function)) | stored


def passed_buffers(memory: Memory, function: PrimFunc) -> frozenset[Buffer]:
    """Return the buffers whose pointers are arguments of calls other than those that only derive a pointer."""
    intrinsics = [item for item in postorder(function.body) if isinstance(item, Intrinsic)]
    only_read = {arg for call in intrinsics for arg in _only_read(call)}
    calls = [item for item in intrinsics if item.name not in DERIVED and item not in only_read]
    pointers = [arg for call in calls for arg in call.args if dtype_of(arg) == "handle"]
    bases = [memory.base(pointer) for pointer in pointers]
    return frozenset(base for base in bases if base is not None)


def _only_read(call: Intrinsic) -> Iterator[PrimExpr]:
    match call:
        case Intrinsic(name="call_packed" | "tvm_call_packed", args=(StringImm(value=name), *args)):
            yield from (args[position] for position in ONLY_READ.get(name, ()) if position < len(args))
        case _:
            pass


def _buffer_of(allocation: Allocate) -> Buffer:
    lanes = lanes_of(allocation.dtype)
    last = () if lanes == 1 else (IntImm(lanes, "int32"),)
    shape = (*allocation.extents, *last)
    return Buffer(allocation.var.name, shape, scalar_of(allocation.dtype), scope=allocation.scope, span=allocation.span)


def buffers_of_vectors(memory: Memory) -> Mapping[Buffer, Buffer]:
    """Return, for each declared buffer of vectors, the buffer of scalars with one more dimension for the lanes."""
    found: dict[Buffer, Buffer] = {}
    for buffer in (*memory.params, *memory.allocated, *memory.views):
        lanes = lanes_of(buffer.dtype)
        if lanes > 1:
            shape = (*buffer.shape, IntImm(lanes, "int32"))
            found[buffer] = Buffer(buffer.name, shape, scalar_of(buffer.dtype), scope=buffer.scope, span=buffer.span)
    return found
