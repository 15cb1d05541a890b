"""What a prim func that launches threads takes, reads and writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import cast

import numpy as np

from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import IntImm, Intrinsic, PointerVar, PrimExpr, PrimVar, StringImm, scalar_of
from relax_core.ir.tir import (
    Allocate,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRef,
    BufferStore,
    DeclBuffer,
    For,
    LaunchThread,
    PrimFunc,
)
from relax_core.ops.kernels.numbers import numpy_type
from relax_core.simt.units.atomics import ATOMICS
from relax_core.simt.values import Value

THROUGH_POINTERS = ("tvm_load_matrix_sync", "ptx_legacy.ldmatrix", "ptx_ldmatrix", "s_tir.cp_async_raw",
                    "s_tir.cp_async_raw.legacy", "ptx_cp_async", "ptx_legacy.cp_async")  # fmt: skip
"""Calls that read memory, and write none of the launch, that they are given pointers to."""
CALLS = ("call_ffi_kernel", "call_kernel", "call_packed", "call_packed_lowered", "tvm_call_packed",
         "tvm_call_packed_lowered")  # fmt: skip


def with_buffers(function: PrimFunc) -> PrimFunc:
    """Return `function` with a buffer for each pointer among its parameters: the largest one declared there."""
    largest: dict[PrimVar, Buffer] = {}
    for node in preorder(function.body):
        match node:
            case DeclBuffer(buffer=buffer, pointer=PrimVar() as pointer) if pointer in function.params:
                if pointer not in largest or _size(buffer) > _size(largest[pointer]):
                    largest[pointer] = buffer
            case _:
                pass
    added = tuple(
        BufferParam(param, Buffer(param.name, _shape(largest.get(param)), _element(param, largest.get(param))))
        for param in function.params
        if isinstance(param, PointerVar) and function.buffer_of(param) is None
    )
    return replace(function, buffers=(*function.buffers, *added)) if added else function


def _shape(buffer: Buffer | None) -> tuple[PrimExpr, ...]:
    return () if buffer is None else buffer.shape


def _element(param: PointerVar, buffer: Buffer | None) -> str:
    return param.element if buffer is None else buffer.dtype


def _size(buffer: Buffer) -> int:
    return prod(item.value if isinstance(item, IntImm) else 1 for item in buffer.shape)


def sizes_told(shape: Sequence[PrimExpr], found: Sequence[int], known: Mapping[PrimVar, Value]) -> dict[PrimVar, int]:
    """Return the variables that only the extents of a buffer name, by those that its memory has.

    Such as `d` in `d * 2048`: a kernel behind SplitHostDevice is not told what of a size it does not compute with.
    An extent tells of one variable, if it grows with that evenly.
    """
    told: dict[PrimVar, int] = {}
    if len(shape) != len(found):
        return told
    for extent, size in zip(shape, found, strict=True):
        unknown = {node for node in preorder(extent) if isinstance(node, PrimVar)} - known.keys() - told.keys()
        if len(unknown) != 1:
            continue
        (var,) = unknown
        others = {
            item: int(cast("int", value)) for item, value in known.items() if isinstance(value, int | np.integer)
        } | told
        try:
            first, second = (int(evaluate(extent, others | {var: value})) for value in (0, 1))
            value = (size - first) // (second - first)
            if value >= 0 and evaluate(extent, others | {var: value}) == size:
                told[var] = value
        except ArithmeticError:
            continue
    return told


def roots(function: PrimFunc) -> Mapping[Buffer, Node]:
    """Return of each buffer what its memory is named by: a parameter, an allocation, or the buffer itself."""
    found: dict[Buffer, Node] = {item.buffer: item.handle for item in function.buffers}
    for node in preorder(function.body):
        match node:
            case DeclBuffer(buffer=buffer, pointer=BufferRef(buffer=other)):
                found[buffer] = found.get(other, other)
            case DeclBuffer(buffer=buffer, pointer=PrimVar() as pointer):
                found[buffer] = pointer
            case DeclBuffer(buffer=buffer):
                found[buffer] = buffer
            case _:
                pass
    return found


def cell_sizes(function: PrimFunc) -> Mapping[Node, int]:
    """Return the bytes of the smallest element that is seen in each memory."""
    found: dict[Node, int] = {}
    for buffer, root in roots(function).items():
        size = numpy_type(scalar_of(buffer.dtype)).itemsize
        found[root] = min(size, found.get(root, size))
    for node in preorder(function.body):
        if isinstance(node, Allocate):
            size = numpy_type(scalar_of(node.dtype)).itemsize
            found[node.var] = min(size, found.get(node.var, size))
    return found


def accessed(function: PrimFunc, module: IRModule) -> tuple[frozenset[Node], frozenset[Node]]:
    """Return what a function, and the kernels that it calls, may read and may write: parameters and allocations."""
    root_of = roots(function)
    read: set[Node] = set()
    written: set[Node] = set()
    for node in preorder(function.body):
        match node:
            case BufferLoad(buffer=buffer):
                read.add(root_of.get(buffer, buffer))
            case BufferStore(buffer=buffer):
                written.add(root_of.get(buffer, buffer))
            case Intrinsic(name=name, args=(Intrinsic(args=(BufferLoad(buffer=buffer),)), *_)) if name in ATOMICS:
                written.add(root_of.get(buffer, buffer))
            case Intrinsic(name="tvm_store_matrix_sync", args=(_, _, _, _, _, pointer, *_)):
                written.update(_pointed(pointer, root_of))
            case Intrinsic(name=name) if name in THROUGH_POINTERS:
                read.update(_pointed(node, root_of))
            case Intrinsic() if (callee := called(node, module)) is not None:
                reads, writes = accessed(callee, module)
                for param, pointer in zip(callee.params, arguments_of(node), strict=False):
                    root = _root(pointer, root_of)
                    read.update({root} if root is not None and param in reads else ())
                    written.update({root} if root is not None and param in writes else ())
            case _:
                pass
    return frozenset(read), frozenset(written)


def _pointed(node: Node, root_of: Mapping[Buffer, Node]) -> set[Node]:
    """Return the memory that the pointers in an expression point to."""
    found = (_root(item, root_of) for item in preorder(node) if isinstance(item, BufferRef | PointerVar))
    return {item for item in found if item is not None}


def _root(pointer: PrimExpr, root_of: Mapping[Buffer, Node]) -> Node | None:
    match pointer:
        case BufferRef(buffer=buffer):
            return root_of.get(buffer, buffer)
        case PrimVar():
            return pointer
        case _:
            return None


def called(call: Intrinsic, module: IRModule) -> PrimFunc | None:
    """Return the kernel of the module that a call of the host launches."""
    match call:
        case Intrinsic(name=name, args=(StringImm(value=callee), *_)) if name in CALLS:
            found = module.find(callee)
            function = None if found is None else found.function
            return with_buffers(function) if isinstance(function, PrimFunc) else None
        case Intrinsic(name="global", args=(StringImm(value=callee), *_)):
            # So SplitHostDevice calls what it has taken out, until the launch is lowered.
            found = module.find(callee)
            function = None if found is None else found.function
            if not isinstance(function, PrimFunc):
                return None
            is_launch = any(isinstance(node, LaunchThread) for node in preorder(function.body))
            return with_buffers(function) if is_launch else None
        case _:
            return None


def arguments_of(call: Intrinsic) -> tuple[PrimExpr, ...]:
    """Return what a call of the host gives a kernel, and behind it the extents of the launch."""
    return call.args[1:]


def launches(function: PrimFunc, module: IRModule) -> bool:
    """Tell whether a function launches threads, or calls a kernel that does."""
    return any(
        isinstance(node, LaunchThread) or (isinstance(node, Intrinsic) and called(node, module) is not None)
        for node in preorder(function.body)
    )


def is_scheduled(function: PrimFunc) -> bool:
    """Tell whether loops of a function are bound to threads, which no pass has made a launch of yet."""
    return any(isinstance(node, For) and node.kind == "thread_binding" for node in preorder(function.body))


def entries(module: IRModule) -> Iterator[str]:
    """Yield the names of the functions that can be simulated, hosts before the kernels that they call."""
    names, inner = _simulable(module)
    yield from (name for name in names if name not in inner)
    yield from (name for name in names if name in inner)


def hosts(module: IRModule) -> tuple[str, ...]:
    """Return the names of the functions that can be simulated and that no other one of them calls."""
    names, inner = _simulable(module)
    return tuple(name for name in names if name not in inner)


def _simulable(module: IRModule) -> tuple[list[str], set[str]]:
    """Return the functions that can be simulated, in their order, and those that are called by name."""
    names = [var.name for var, function in module.prim_funcs if launches(function, module) or is_scheduled(function)]
    inner = {
        node.args[0].value
        for _, function in module.prim_funcs
        for node in preorder(function.body)
        if isinstance(node, Intrinsic) and called(node, module) is not None and isinstance(node.args[0], StringImm)
    }
    return names, inner
