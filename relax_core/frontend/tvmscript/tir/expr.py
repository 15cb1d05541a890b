"""Read expressions that only TIR has: buffers and lists as arguments, reducers, lets, methods of buffers."""

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.tir.arguments import given, is_true
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.frontend.tvmscript.unread import read_arguments, refuse_repeated, tell_arguments, tell_keys
from relax_core.ir.intrinsics import DICTIONARY, GLOBAL, KEYWORD, NONE, POINTER_TYPE
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
    bits_of,
    const,
    dtype_of,
    is_dtype,
    is_number,
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
            return _bytes(offset, buffer)
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
            is_one = all(is_number(dim, 1) for dim in buffer.shape)
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
    return _masked_load(reader, BufferLoad(buffer, tuple(indices), span=context.span(node)), values.get("predicate"))


def _masked_load(reader: TirReader, load: BufferLoad, predicate: ast.expr | None) -> PrimExpr:
    """Load the lanes that `predicate` selects, if there is one: 0.25 writes so what 0.27 writes as T.masked_load."""
    if predicate is None or is_true(predicate):
        return load
    dtype = dtype_of(load)
    parts = (StringImm(dtype), BufferRef(load.buffer, is_pointer=False), *load.indices, reader.read(predicate))
    return Intrinsic("masked_load", parts, dtype, span=load.span)


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


def _bytes(elements: PrimExpr, buffer: Buffer) -> PrimExpr:
    """Return how many bytes so many elements take, whose bits may be fewer than those of a byte."""
    bits = _times(elements, bits_of(buffer.dtype))
    if isinstance(bits, IntImm):
        return const(bits.value // BITS_OF_A_BYTE, bits.dtype)
    return binary("//", bits, const(BITS_OF_A_BYTE, dtype_of(bits)))


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


class TirExprReader(TirReader):
    """Reads expressions of every form."""

    __slots__ = ()

    def other(self, node: ast.expr) -> PrimExpr | None:
        """Read an expression that is no plain scalar; `None` for one that is."""
        span = self.context.span(node)
        match node:
            case ast.Name():
                buffer = self.known_buffer(node)
                is_whole = buffer is not None and buffer not in self.facts.scalars
                return BufferRef(buffer, is_pointer=False, span=span) if buffer is not None and is_whole else None
            case ast.Attribute(value=ast.Call() as call, attr="ty") if self.name_of(call) == "handle":
                return _handle_type(self, call)
            case ast.Attribute(value=(ast.Name() | ast.Attribute(value=ast.Name(), attr="source")) as name, attr=attr):
                buffer = self.known_buffer(name)
                return None if buffer is None else read_attribute(self, buffer, attr, node)
            case ast.Subscript(value=ast.Attribute(value=name) | ast.Call(func=ast.Attribute(value=name))):
                buffer = self.known_buffer(name)
                return None if buffer is None else read_item(self, buffer, node)
            case ast.List(elts=items):
                return PrimList(tuple(self.argument(item) for item in items), span=span)
            case ast.Dict():
                return _dictionary(self, node)
            case ast.Constant(value=None):
                return Intrinsic(NONE, (), "handle", span=span)
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method)) if self.known_buffer(name):
                refuse_repeated(self.context, node)
                return read_method(self, self.buffer(name), method, node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as name], keywords=[]) if several := self.several(
                name
            ):
                return IntImm(len(several.items), "int32", span=span)
            case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
                made = self.argument(inner)
                return IntImm(len(made.items), "int32", span=span) if isinstance(made, PrimList) else None
            case ast.Call(
                func=ast.Name(id="float"), args=[ast.Constant(value=str(text) | float(text) | int(text))], keywords=[]
            ):
                return _float(self, text, node)
            case ast.Call():
                return _call(self, node)
            case _:
                return None


def _dictionary(reader: TirReader, node: ast.Dict) -> PrimExpr:
    """Read `{"kind": "cuda", "keys": ["gpu"]}`: what `T.target` is made of, and what an attribute says of."""
    tell_keys(reader.context, node.keys)
    items: list[PrimExpr] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise reader.context.fail("PA016", key or node, "the key of an attribute is a string")
        items.append(Intrinsic(KEYWORD, (StringImm(key.value), reader.argument(value)), "handle"))
    return Intrinsic(DICTIONARY, tuple(items), "handle", span=reader.context.span(node))


def _handle_type(reader: TirReader, node: ast.Call) -> PrimExpr:
    """Read `T.handle().ty` or `T.handle("int8", "global").ty` among the arguments of a call."""
    span = reader.context.span(node)
    read_arguments(reader.context, node, ("dtype", "storage_scope"))
    if not node.args:
        return StringImm("handle", span=span)
    return Intrinsic(POINTER_TYPE, tuple(reader.argument(item) for item in node.args[:2]), "handle", span=span)


def _global_call(reader: TirReader, node: ast.Call) -> PrimExpr | None:
    """Read `kernel(A.data, n)`, a call of a function of the module.

    Its result is what the function declares to return, else an int32 unless `T.let` says it.
    """
    match node.func:
        case ast.Name(id=name) if reader.scope.find(name) is None:
            pass
        case ast.Attribute(value=ast.Name(), attr=name):
            pass
        case _:
            return None
    defined = rf"prim_func[^\n]*\n\s*def {re.escape(name)}\b(.*?):[ \t]*(#[^\n]*)?\n"
    found = re.search(defined, reader.context.source.text, re.DOTALL)
    if found is None:
        return None
    declared = re.search(r"->\s*T\.(\w+)\s*$", found[1])
    dtype = declared[1] if declared is not None and is_dtype(declared[1]) and declared[1] != "handle" else "int32"
    tell_arguments(reader.context, node, None)
    args = (StringImm(name), *(reader.argument(item) for item in node.args))
    return Intrinsic(GLOBAL, args, dtype, span=reader.context.span(node))


def _float(reader: TirReader, text: str | float, node: ast.expr) -> PrimExpr:
    try:
        return FloatImm(float(text), "float32", span=reader.context.span(node))
    except (ValueError, OverflowError):
        raise reader.context.fail("PA010", node, "expected a number") from None


def _call(reader: TirReader, node: ast.Call) -> PrimExpr | None:
    match reader.name_of(node):
        case "comm_reducer":
            return _reducer(reader, node)
        case "Let" if any(item.arg == "where" for item in node.keywords):
            return _let(reader, node)
        case "load":
            values = given(reader.context, node, "dtype buffer_var index predicate", 3)
            index = (reader.read(values["index"]),)
            buffer = flat_buffer(reader, values["buffer_var"], node)
            loaded = BufferLoad(buffer, index, span=reader.context.span(node))
            return _masked_load(reader, loaded, values.get("predicate"))
        case "":
            return _global_call(reader, node)
        case _:
            return None


def flat_buffer(reader: TirReader, pointer: ast.expr, place: ast.AST) -> Buffer:
    """Return the buffer of one dimension at whose memory `T.load` and `T.store` of 2021 count.

    Raises:
        Failed: PA004 for another pointer.
    """
    buffer = reader.known_buffer(pointer.value) if isinstance(pointer, ast.Attribute) else None
    if buffer is not None and len(buffer.shape) == 1:
        return buffer
    what = f"`T.{'store' if isinstance(place, ast.stmt) else 'load'}` through the pointer `{source_of(pointer)}`"
    hint = "declare a buffer of one dimension there, and write B[i]: B = T.decl_buffer((n,), dtype, data=pointer)"
    raise reader.context.unsupported(place, what, hint)


def _reducer(reader: TirReader, node: ast.Call) -> PrimExpr:
    """Read `T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`."""
    values = given(reader.context, node, "combiner identity", 2)
    combiner, items = values["combiner"], values["identity"]
    identity = items.elts if isinstance(items, ast.List | ast.Tuple) else [items]
    if not isinstance(combiner, ast.Lambda) or len(combiner.args.args) != 2 * len(identity):
        raise reader.context.fail("PA006", node, "`T.comm_reducer` takes a lambda of two parameters for each identity")
    starts = [reader.read(item) for item in identity]
    inner = reader.inner()
    params = [
        inner.define(item.arg, dtype_of(start), item)
        for item, start in zip(combiner.args.args, [*starts, *starts], strict=True)
    ]
    body = combiner.body
    results = [inner.read(item) for item in (body.elts if isinstance(body, ast.Tuple) else [body])]
    return CommReducer(tuple(params), tuple(results), tuple(starts), span=reader.context.span(node))


def _let(reader: TirReader, node: ast.Call) -> PrimExpr:
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
