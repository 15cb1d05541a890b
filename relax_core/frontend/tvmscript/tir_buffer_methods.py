"""Read what a buffer is asked for: `A.vload([0])`, `A.access_ptr("r")`, `A.offset_of([1, 2])`, `A.shape`."""

import ast
from collections.abc import Mapping
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir_arguments import given
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.ir.prim import (
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimList,
    StringImm,
    binary,
    bits_of,
    const,
    dtype_of,
    lanes_of,
    vector_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef

_ACCESS: Mapping[str, int] = MappingProxyType({"r": 1, "w": 2, "rw": 3, "wr": 3})
BITS_OF_A_BYTE = 8


def read_attribute(reader: TirReader, buffer: Buffer, attr: str, node: ast.Attribute) -> PrimExpr:
    """Read `A.data`, `A.shape`, `A.elem_offset` ..."""
    span = reader.context.span(node)
    offset = buffer.elem_offset or IntImm(0, "int32", span=span)
    match attr:
        case "data":
            return BufferRef(buffer, span=span)
        case "dtype":
            return StringImm(buffer.dtype, span=span)
        case "elem_offset":
            return offset
        case "byte_offset":
            return _times(offset, max(bits_of(buffer.dtype) // BITS_OF_A_BYTE, 1))
        case "data_alignment" | "offset_factor":
            key, default = ("align", 64) if attr == "data_alignment" else ("offset_factor", 1)
            value = dict(buffer.attrs).get(key, default)
            return IntImm(value if isinstance(value, int) else default, "int32", span=span)
        case "shape" | "strides":
            return PrimList(buffer.shape if attr == "shape" else buffer.strides, span=span)
        case _:
            hint = "a buffer has data, shape, strides, elem_offset, byte_offset, data_alignment and dtype"
            raise reader.context.unsupported(node, f"`{source_of(node)}`", hint)


def read_item(reader: TirReader, buffer: Buffer, node: ast.Subscript) -> PrimExpr | None:
    """Read `A.shape[0]`, `A.strides[-1]`, `A.offset_of([1, 2])[0]`; `None` for another subscript."""
    match node.value:
        case ast.Attribute(attr="shape" | "strides" as attr):
            values = buffer.shape if attr == "shape" else buffer.strides
        case ast.Call(func=ast.Attribute(attr="offset_of" | "elem_offset_of" | "byte_offset_of" as attr)) as call:
            made = read_method(reader, buffer, attr, call)
            values = made.items if isinstance(made, PrimList) else (made,)
        case _:
            return None
    match node.slice:
        case ast.Constant(value=int(index)) if 0 <= index < len(values):
            return values[index]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))) if 0 < index <= len(values):
            return values[-index]
        case _:
            raise reader.context.fail("PA009", node, f"`{buffer.name}` has {len(values)} {attr}")


def read_method(reader: TirReader, buffer: Buffer, method: str, node: ast.Call) -> PrimExpr:
    """Read a call of a method that gives a scalar or a list of them."""
    context = reader.context
    match method:
        case "access_ptr":
            return _access_pointer(reader, buffer, node)
        case "vload":
            return _vload(reader, buffer, node)
        case "ptr_to":
            load = BufferLoad(buffer, _indices(reader, buffer, node), span=context.span(node))
            return Intrinsic("address_of", (load,), "handle", span=context.span(node))
        case "offset_of" | "elem_offset_of" | "byte_offset_of":
            offset = _offset(buffer, _indices(reader, buffer, node))
            if method == "byte_offset_of":
                offset = _times(offset, max(bits_of(buffer.dtype) // BITS_OF_A_BYTE, 1))
            return PrimList((offset,), span=context.span(node))
        case "scope":
            return StringImm(buffer.scope, span=context.span(node))
        case "is_scalar":
            is_one = all(isinstance(dim, IntImm) and dim.value == 1 for dim in buffer.shape)
            return IntImm(int(is_one), "bool", span=context.span(node))
        case _:
            raise context.unsupported(node, f"`{source_of(node)}`", f"there is no method `{method}` of buffers here")


def _indices(reader: TirReader, buffer: Buffer, node: ast.Call) -> tuple[PrimExpr, ...]:
    match [*node.args, *(item.value for item in node.keywords)]:
        case [ast.List(elts=items) | ast.Tuple(elts=items), *_] if len(items) == len(buffer.shape):
            return tuple(reader.read(item) for item in items)
        case _:
            hint = f"write {buffer.name}.{node.func.attr if isinstance(node.func, ast.Attribute) else ''}([i, j])"
            raise reader.context.fail("PA006", node, f"`{buffer.name}` has {len(buffer.shape)} dimensions", hint)


def _vload(reader: TirReader, buffer: Buffer, node: ast.Call) -> PrimExpr:
    context = reader.context
    values = given(context, node, "begin dtype predicate", 1)
    begin = values["begin"]
    items = begin.elts if isinstance(begin, ast.List | ast.Tuple) else [begin]
    indices = [reader.read(item) for item in items]
    lanes = lanes_of(reader.dtype(values["dtype"])) if "dtype" in values else 1
    if lanes > 1 and indices:
        dtype = dtype_of(indices[-1])
        args = (indices[-1], const(1, dtype), const(lanes, "int32"))
        indices[-1] = Intrinsic("Ramp", args, vector_of(dtype, lanes), span=context.span(node))
    loaded = BufferLoad(buffer, tuple(indices), span=context.span(node))
    if "predicate" not in values:
        return loaded
    # 0.25 writes so what 0.27 writes as T.masked_load.
    dtype = dtype_of(loaded)
    parts = (StringImm(dtype), BufferRef(buffer, is_pointer=False), *indices, reader.read(values["predicate"]))
    return Intrinsic("masked_load", parts, dtype, span=context.span(node))


def _access_pointer(reader: TirReader, buffer: Buffer, node: ast.Call) -> PrimExpr:
    """`A.access_ptr("r")` is the call of `T.tvm_access_ptr` that it stands for."""
    values = given(reader.context, node, "access_mask ptr_type content_lanes offset extent", 1)
    match values["access_mask"]:
        case ast.Constant(value=str(text)) if text in _ACCESS:
            mask: PrimExpr = const(_ACCESS[text], "int32")
        case other:
            mask = reader.read(other)
    offset = reader.read(values["offset"]) if "offset" in values else const(0, "int32")
    extent = reader.read(values["extent"]) if "extent" in values else _size(buffer)
    span = reader.context.span(node)
    type_ = Intrinsic("type_annotation", (StringImm(buffer.dtype),), buffer.dtype, span=span)
    return Intrinsic("tvm_access_ptr", (type_, BufferRef(buffer, span=span), offset, extent, mask), "handle", span=span)


def _size(buffer: Buffer) -> PrimExpr:
    size: PrimExpr = const(1, "int32")
    for dim in buffer.shape:
        size = _product(size, dim)
    return size


def _offset(buffer: Buffer, indices: tuple[PrimExpr, ...]) -> PrimExpr:
    """Return how many elements lie before the one at `indices`."""
    total = buffer.elem_offset or const(0, "int32")
    strides = list(buffer.strides)
    if not strides:
        stride: PrimExpr = const(1, "int32")
        for dim in reversed(buffer.shape):
            strides.insert(0, stride)
            stride = _product(stride, dim)
    for index, step in zip(indices, strides, strict=True):
        total = _sum(total, _product(index, step))
    return total


def _times(value: PrimExpr, factor: int) -> PrimExpr:
    return _product(value, const(factor, dtype_of(value)))


def _product(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    match a, b:
        case IntImm(value=x), IntImm(value=y):
            return const(x * y, dtype_of(b))
        case IntImm(value=1), other:
            return other
        case other, IntImm(value=1):
            return other
        case _:
            return binary("*", a, b)


def _sum(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    match a, b:
        case IntImm(value=x), IntImm(value=y):
            return const(x + y, dtype_of(b))
        case IntImm(value=0), other:
            return other
        case other, IntImm(value=0):
            return other
        case _:
            return binary("+", a, b)
