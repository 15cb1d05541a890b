"""Read expressions that only TIR has: buffers and lists as arguments, reducers, lets, methods of buffers."""

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir_arguments import given
from relax_core.ir.intrinsics import GLOBAL, NONE, POINTER_TYPE
from relax_core.ir.prim import (
    CommReducer,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PrimExpr,
    PrimList,
    StringImm,
    binary,
    const,
    dtype_of,
    lanes_of,
    vector_of,
)
from relax_core.ir.tir import Buffer, BufferLoad, BufferRef

if TYPE_CHECKING:
    from relax_core.frontend.tvmscript.tir_reader import TirReader

_ACCESS: Mapping[str, int] = MappingProxyType({"r": 1, "w": 2, "rw": 3, "wr": 3})


def read_other(reader: "TirReader", node: ast.expr) -> PrimExpr | None:
    """Read an expression that is no plain scalar; `None` for one that is."""
    span = reader.context.span(node)
    match node:
        case ast.Name():
            buffer = reader.known_buffer(node)
            is_whole = buffer is not None and buffer not in reader.facts.scalars
            return BufferRef(buffer, is_pointer=False, span=span) if buffer is not None and is_whole else None
        case ast.Attribute(value=ast.Call() as call, attr="ty") if reader.name_of(call) == "handle":
            return _handle_type(reader, call)
        case ast.Attribute(value=ast.Name() as name, attr=attr):
            buffer = reader.known_buffer(name)
            return None if buffer is None else _attribute(reader, buffer, attr, node)
        case ast.Subscript(value=ast.Attribute(value=ast.Name() as name, attr="shape" | "strides" as attr)):
            buffer = reader.known_buffer(name)
            return None if buffer is None else _dimension(reader, buffer, attr, node)
        case ast.List(elts=items):
            return PrimList(tuple(reader.argument(item) for item in items), span=span)
        case ast.Constant(value=None):
            return Intrinsic(NONE, (), "handle", span=span)
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method)) if reader.known_buffer(name):
            return _method(reader, reader.buffer(name), method, node)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text) | float(text) | int(text))]):
            return _float(reader, text, node)
        case ast.Call():
            return _call(reader, node)
        case _:
            return None


def _handle_type(reader: "TirReader", node: ast.Call) -> PrimExpr:
    """Read `T.handle().ty` or `T.handle("int8", "global").ty` among the arguments of a call."""
    span = reader.context.span(node)
    if not node.args:
        return StringImm("handle", span=span)
    return Intrinsic(POINTER_TYPE, tuple(reader.argument(item) for item in node.args), "handle", span=span)


def _global_call(reader: "TirReader", node: ast.Call) -> PrimExpr | None:
    """Read `kernel(A.data, n)`, a call of a function of the module; its result is an int32 unless `T.let` says it."""
    match node.func:
        case ast.Name(id=name) if reader.scope.find(name) is None:
            pass
        case ast.Attribute(value=ast.Name(), attr=name):
            pass
        case _:
            return None
    defined = rf"prim_func[^\n]*\n\s*def {re.escape(name)}\b"
    if re.search(defined, reader.context.source.text) is None:
        return None
    args = (StringImm(name), *(reader.argument(item) for item in node.args))
    return Intrinsic(GLOBAL, args, "int32", span=reader.context.span(node))


def _float(reader: "TirReader", text: str | float, node: ast.expr) -> PrimExpr:
    try:
        return FloatImm(float(text), "float32", span=reader.context.span(node))
    except (ValueError, OverflowError):
        raise reader.context.fail("PA010", node, "expected a number") from None


def _call(reader: "TirReader", node: ast.Call) -> PrimExpr | None:
    match reader.name_of(node):
        case "comm_reducer":
            return _reducer(reader, node)
        case "Let" if any(item.arg == "where" for item in node.keywords):
            return _let(reader, node)
        case "":
            return _global_call(reader, node)
        case _:
            return None


def _attribute(reader: "TirReader", buffer: Buffer, attr: str, node: ast.Attribute) -> PrimExpr:
    span = reader.context.span(node)
    match attr:
        case "data":
            return BufferRef(buffer, span=span)
        case "dtype":
            return StringImm(buffer.dtype, span=span)
        case "elem_offset":
            return buffer.elem_offset or IntImm(0, "int32", span=span)
        case "shape" | "strides":
            return PrimList(buffer.shape if attr == "shape" else buffer.strides, span=span)
        case _:
            hint = "a buffer has data, shape, strides, elem_offset and dtype"
            raise reader.context.unsupported(node, f"`{source_of(node)}`", hint)


def _dimension(reader: "TirReader", buffer: Buffer, attr: str, node: ast.Subscript) -> PrimExpr:
    values = buffer.shape if attr == "shape" else buffer.strides
    match node.slice:
        case ast.Constant(value=int(index)) if 0 <= index < len(values):
            return values[index]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))) if 0 < index <= len(values):
            return values[-index]
        case _:
            raise reader.context.fail("PA009", node, f"`{buffer.name}` has {len(values)} {attr}")


def _method(reader: "TirReader", buffer: Buffer, method: str, node: ast.Call) -> PrimExpr:
    context = reader.context
    match method:
        case "access_ptr":
            return _access_pointer(reader, buffer, node)
        case "vload":
            values = given(context, node, "begin dtype predicate", 1)
            begin = values["begin"]
            items = begin.elts if isinstance(begin, ast.List | ast.Tuple) else [begin]
            indices = [reader.read(item) for item in items]
            lanes = lanes_of(reader.dtype(values["dtype"])) if "dtype" in values else 1
            if lanes > 1 and indices:
                dtype = dtype_of(indices[-1])
                args = (indices[-1], const(1, dtype), const(lanes, "int32"))
                indices[-1] = Intrinsic("Ramp", args, vector_of(dtype, lanes), span=context.span(node))
            return BufferLoad(buffer, tuple(indices), span=context.span(node))
        case _:
            raise context.unsupported(node, f"`{source_of(node)}`")


def _access_pointer(reader: "TirReader", buffer: Buffer, node: ast.Call) -> PrimExpr:
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
        match size, dim:
            case IntImm(value=1), _:
                size = dim
            case IntImm(value=a), IntImm(value=b):
                size = const(a * b, dtype_of(dim))
            case _:
                size = binary("*", size, dim)
    return size


def _reducer(reader: "TirReader", node: ast.Call) -> PrimExpr:
    """Read `T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`."""
    values = given(reader.context, node, "combiner identity", 2)
    combiner, items = values["combiner"], values["identity"]
    identity = items.elts if isinstance(items, ast.List | ast.Tuple) else [items]
    if not isinstance(combiner, ast.Lambda) or len(combiner.args.args) != 2 * len(identity):
        raise reader.context.fail("PA006", node, "a reducer is a lambda with two parameters for each identity")
    starts = [reader.read(item) for item in identity]
    inner = reader.inner()
    params = [
        inner.define(item.arg, dtype_of(start), item)
        for item, start in zip(combiner.args.args, [*starts, *starts], strict=True)
    ]
    body = combiner.body
    results = [inner.read(item) for item in (body.elts if isinstance(body, ast.Tuple) else [body])]
    return CommReducer(tuple(params), tuple(results), tuple(starts), span=reader.context.span(node))


def _let(reader: "TirReader", node: ast.Call) -> PrimExpr:
    """Read `T.Let(x + 1, where={x: 2})`."""
    values = given(reader.context, node, "expr where", 2)
    match values["where"]:
        case ast.Dict(keys=[ast.Name() as name], values=[value]):
            pass
        case other:
            raise reader.context.fail("PA006", other, "`where` binds one variable: {x: value}")
    inner = reader.inner()
    bound = reader.read(value)
    var = inner.define(name.id, dtype_of(bound), name)
    body = inner.read(values["expr"])
    return LetExpr(var, bound, body, dtype_of(body), span=reader.context.span(node))
