"""Give every buffer one dimension."""

from collections.abc import Mapping
from dataclasses import replace

from relax_core.ir.attrs import with_attr
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, Cast, IntImm, Intrinsic, PrimExpr, binary, dtype_of, is_number, lanes_of
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef, BufferStore, DeclBuffer, PrimFunc, Stmt
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import tidy


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """View each buffer of a parameter that is used as a row of elements, allocate rows, and write indices as places.

    A place is computed in the dtype of the sizes, as in TVM: 32 bits do not hold every place of 64-bit sizes.

    Buffers stay as they are, with a remark, where TVM flattens them too and RelaxScope would have to change what the
    text says of their memory: those with an `elem_offset`, and those that are views of a pointer.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _flatten(function, ctx))


def _flatten(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    given = [item.buffer for item in function.buffers]
    own = [item.buffer for item in postorder(function.body) if isinstance(item, DeclBuffer) and item.pointer is None]
    has_layouts = function.is_s_tir is False
    rows = {
        buffer: _row(buffer, has_layouts=has_layouts)
        for buffer in (*given, *own)
        if _is_plain(buffer, ctx, is_given=buffer in given)
    }
    lines = {buffer for buffer in own if len(buffer.shape) == 1 and buffer not in rows}

    def flatten(node: Node) -> Node | None:
        """Rule: A[i, j] -> A[i * n + j]."""
        match node:
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) if buffer in rows:
                return replace(node, buffer=rows[buffer], indices=(_place(buffer, node.indices),))
            case BufferLoad(buffer=buffer, indices=(index,)) | BufferStore(buffer=buffer, indices=(index,)) if (
                buffer in lines and (place := tidy(_widened(index, buffer))) is not index
            ):
                return replace(node, indices=(place,))
            case DeclBuffer(buffer=buffer, pointer=None) if buffer in rows:
                ctx.remark(node, "applied", f"{buffer.name} has one dimension")
                return replace(node, buffer=rows[buffer])
            case BufferRef(buffer=buffer) if buffer in rows and buffer not in given:
                return replace(node, buffer=rows[buffer])
            case _:
                return None

    body = ctx.rewrite(function.body, flatten)
    if not rows:
        return function if body is function.body else replace(function, body=body)
    used = {item.buffer for item in postorder(body) if isinstance(item, BufferLoad | BufferStore)}
    return replace(function, body=_with_views(body, [item for item in given if rows.get(item) in used], rows, ctx))


def _with_views(body: Stmt, given: list[Buffer], rows: Mapping[Buffer, Buffer], ctx: PassContext) -> Stmt:
    for buffer in reversed(given):
        body = ctx.derive(DeclBuffer(rows[buffer], body, BufferRef(buffer, span=buffer.span)), buffer)
        ctx.remark(buffer, "applied", f"{buffer.name} is seen as one row of elements")
    return body


def _is_plain(buffer: Buffer, ctx: PassContext, *, is_given: bool) -> bool:
    if not is_given and len(buffer.shape) == 1 and not buffer.strides:
        return False
    offset = buffer.elem_offset
    why = (
        "its first element is not the first of its memory"
        if offset is not None and not is_number(offset, 0)
        else f"its elements are vectors of {lanes_of(buffer.dtype)}"
        if lanes_of(buffer.dtype) > 1
        else ""
    )
    if why:
        ctx.remark(buffer, "missed", f"{buffer.name} keeps its dimensions: {why}")
    return not why


def _row(buffer: Buffer, *, has_layouts: bool) -> Buffer:
    """Return a buffer of one dimension that holds the elements of `buffer`; where buffers have layouts it has none."""
    sizes = buffer.shape
    if buffer.strides and sizes:
        sizes = (sizes[0], buffer.strides[0])
    count: PrimExpr | None = None
    for size in sizes:
        count = size if count is None else binary("*", count, size)
    attrs = with_attr(buffer.attrs, "layout", "None") if has_layouts else buffer.attrs
    return replace(buffer, shape=(IntImm(1, "int32") if count is None else tidy(count),), strides=(), attrs=attrs)


def _place(buffer: Buffer, indices: tuple[PrimExpr, ...]) -> PrimExpr:
    """Return the place of an element: by its strides, or row by row."""
    if not indices:
        return IntImm(0, "int32")
    indices = tuple(_widened(item, buffer) for item in indices)
    if buffer.strides:
        terms = [_times(index, stride) for index, stride in zip(indices, buffer.strides, strict=True)]
        place = terms[0]
        for term in terms[1:]:
            place = binary("+", place, term)
        return tidy(place)
    is_known = all(isinstance(size, IntImm) for size in buffer.shape[1:])
    place = indices[0] if is_known else tidy(indices[0])
    for index, size in zip(indices[1:], buffer.shape[1:], strict=True):
        step = index if is_known else tidy(index)
        if is_number(place, 0):
            place = step
            continue
        place = _times(place, size)
        place = place if is_number(step, 0) else _plus(place, step)
    return tidy(place) if is_known else place


def _widened(index: PrimExpr, buffer: Buffer) -> PrimExpr:
    """Return an index with 64 bits where the sizes of its buffer have as many."""
    is_wide = any(dtype_of(size) == "int64" for size in buffer.shape)
    return _with_64_bits(index) if is_wide and dtype_of(index) == "int32" else index


def _with_64_bits(expr: PrimExpr) -> PrimExpr:
    match expr:
        case IntImm(value=value):
            return IntImm(value, "int64")
        case Binary(op="+" | "-" | "*" | "//" | "%" as op, a=a, b=b):
            return binary(op, _with_64_bits(a), _with_64_bits(b))
        case _:
            return Cast(expr, "int64")


def _times(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """Multiply an index, which may be a vector of several."""
    match index:
        case Intrinsic(name="Ramp", args=(base, stride, lanes)):
            return replace(index, args=(_times(base, size), _times(stride, size), lanes))
        case Intrinsic(name="Broadcast", args=(value, lanes)):
            return replace(index, args=(_times(value, size), lanes))
        case _:
            return binary("*", index, size)


def _plus(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    match a, b:
        case _, Intrinsic(name="Ramp", args=(base, stride, lanes)) if lanes_of(dtype_of(a)) == 1:
            return replace(b, args=(binary("+", a, base), stride, lanes))
        case _:
            return binary("+", a, b)


PASS = Pass(
    "FlattenBuffer",
    "Gives every buffer one dimension: A[i, j] is A[i * n + j].",
    run,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/flatten_buffer.cc",
    dialect="tir",
)
