"""Read statements that hold those behind them: lets, attributes, threads, memory and declared buffers.

Each has two forms: a call whose scope is the rest of the list, and `with ... as x:`.
"""

import ast
import math
from math import prod

from relax_core.frontend.tvmscript.buffers.buffer import UNUSED, read_buffer
from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.literal.literals import read_attribute, read_attributes
from relax_core.frontend.tvmscript.relax.signature import declared_dtype
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.tir.arguments import given, is_none, text_argument
from relax_core.frontend.tvmscript.tir.body import Scoped
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_keys, tell_unused
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.intrinsics import UNKNOWN_POINTER
from relax_core.ir.prim import (
    IntImm,
    Intrinsic,
    PointerVar,
    PrimExpr,
    PrimVar,
    StringImm,
    bits_of,
    const,
    dtype_of,
    is_number,
)
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Buffer,
    BufferRealize,
    BufferRef,
    BufferStore,
    DeclBuffer,
    LaunchThread,
    LetStmt,
    Stmt,
    seq,
)
from relax_core.source import Span

LETS = ("bind", "Bind", "let", "LetStmt", "Let")
BUFFERS = ("decl_buffer", "Buffer", "buffer_decl", "alloc_buffer", "alloc_local", "alloc_shared")
SCOPED = (
    *LETS, *BUFFERS, "attr", "device_entry", "launch_thread", "allocate", "Allocate", "allocate_const", "realize",
    "Assert", "decl_scalar",
)  # fmt: skip
POINTERS = ("handle", "Ptr", "ptr", "buffer_var")


def read_scoped(reader: TirReader, name: str, call: ast.Call, target: ast.Name | None) -> Scoped:
    """Read `T.<name>(...)`, one of `SCOPED`; `target` is the variable or buffer that it defines."""
    if name in LETS:
        return _let_call(reader, call, target)
    if name in BUFFERS:
        return _buffer(reader, name, call, _wanted(reader, call, target))
    match name:
        case "attr":
            return _attr(reader, call)
        case "device_entry":
            tell_arguments(reader.context, call, 0)
            span = reader.context.span(call)
            zero, yes = IntImm(0, "int32", span=span), IntImm(1, "bool", span=span)
            return Scoped(lambda inner: AttrStmt(zero, "tirx.device_entry", yes, inner, span=span), span)
        case "launch_thread":
            return _launch(reader, call, target)
        case "allocate" | "Allocate":
            return read_allocate(reader, call, _wanted(reader, call, target))
        case "allocate_const":
            return read_constant(reader, call, _wanted(reader, call, target))
        case "realize":
            return _realize(reader, call)
        case "decl_scalar":
            return _read_scalar(reader, call, _wanted(reader, call, target))
        case _:
            return _assertion(reader, call)


def _wanted(reader: TirReader, call: ast.Call, target: ast.Name | None) -> ast.Name:
    if target is None:
        raise reader.context.fail("PA006", call, f"`{source_of(call)}` needs a name: x = {source_of(call)}")
    return target


def let(reader: TirReader, target: ast.Name, value: PrimExpr, var: PrimVar, place: ast.AST) -> Scoped:
    """Let `target` stand for `value` behind `place`."""
    span = reader.context.span(place)
    reader.scope.define(target.id, var)
    return Scoped(lambda inner: LetStmt(var, value, inner, span=span), span)


def once(reader: TirReader, target: ast.Name) -> None:
    """Report a name that this list of statements has defined already, as a variable or a buffer."""
    known = reader.scope.names.get(target.id)
    if isinstance(known, PrimVar | Buffer) and known.span != reader.context.span(target):
        raise reader.context.fail("PA022", target, f"`{target.id}` is defined twice", "give it another name")


def variable(
    reader: TirReader, name: str, annotation: ast.expr | None, value: PrimExpr | None, place: ast.AST
) -> PrimVar:
    """Make the variable that `annotation` describes: `T.int32`, `T.handle("float32", "global")`, `T.Ptr[T.int8]`.

    Without annotation it is of the dtype of `value`.
    """
    span = reader.context.span(place)
    if annotation is None:
        assert value is not None
        return PrimVar(name, dtype_of(value), span=span)
    short = reader.name_of(annotation)
    if short == "let" and isinstance(annotation, ast.Subscript):
        return variable(reader, name, annotation.slice, value, place)
    if short == "let":
        return variable(reader, name, None, value, place)
    if short in POINTERS:
        return _pointer(reader, name, annotation)
    if short in ("var", "Var") and isinstance(annotation, ast.Call):
        return PrimVar(name, declared_dtype(reader.context, annotation) or "int32", span=span)
    if is_dtype(short):
        return PrimVar(name, short, span=span)
    return PrimVar(name, reader.dtype(annotation), span=span)


def _pointer(reader: TirReader, name: str, node: ast.expr) -> PrimVar:
    span = reader.context.span(node)
    match node:
        case ast.Call() if node.args or node.keywords:
            values = given(reader.context, node, "dtype storage_scope is_size_var", 0)
            scope = (
                text_argument(reader.context, values["storage_scope"], "a storage scope")
                if "storage_scope" in values
                else "global"
            )
            match values.get("is_size_var"):
                case None | ast.Constant(value=bool()):
                    pass
                case _:
                    tell_unused(reader.context, node, values, ("is_size_var",))
            if "dtype" not in values:
                return PrimVar(name, "handle", span=span)
            return PointerVar(name, "handle", _element(reader, values["dtype"]), scope, span=span)
        case ast.Subscript(slice=ast.Tuple(elts=[element, scope])):
            return PointerVar(
                name,
                "handle",
                _element(reader, element),
                text_argument(reader.context, scope, "a storage scope"),
                span=span,
            )
        case ast.Subscript(slice=element):
            return PointerVar(name, "handle", _element(reader, element), span=span)
        case _:
            return PrimVar(name, "handle", span=span)


def _element(reader: TirReader, node: ast.expr) -> str:
    """Read the dtype of what a pointer points to; it may be "void"."""
    if isinstance(node, ast.Constant) and node.value in ("void", "tensormap"):
        return str(node.value)
    return "void" if isinstance(node, ast.Attribute) and node.attr == "void" else reader.dtype(node)


def _let_call(reader: TirReader, call: ast.Call, target: ast.Name | None) -> Scoped:
    """Read `x = T.bind(v)`, `with T.LetStmt(v) as x`, `with T.LetStmt(v, var=x)`, `with T.let(x, v)`."""
    match target, call:
        case None, ast.Call(args=[ast.Name() as name, value], keywords=[]):
            annotation = None
        case None, ast.Call(args=[value], keywords=[ast.keyword(arg="var", value=ast.Name() as name)]):
            annotation = None
        case ast.Name() as name, ast.Call(args=[value], keywords=[]):
            annotation = None
        case ast.Name() as name, ast.Call(args=[value, annotation], keywords=[]):
            pass
        case ast.Name() as name, ast.Call(args=[value], keywords=[ast.keyword(value=annotation)]):
            pass
        case _:
            raise reader.context.fail(
                "PA006", call, f"`{source_of(call)}` binds no variable", "write with T.let(x, value):"
            )
    made = reader.argument(value)
    declared = reader.scope.find(name.id) if target is None else None
    if isinstance(declared, PrimVar) and annotation is None:
        var = declared
    else:
        var = variable(reader, name.id, annotation, made, name)
    return let(reader, name, made, var, call)


def _attr(reader: TirReader, call: ast.Call) -> Scoped:
    """Read `T.attr(node, "key", value)`, or `T.attr({"key": value})`, which says it of nothing."""
    span = reader.context.span(call)
    zero = IntImm(0, "int32", span=span)
    facts: list[tuple[PrimExpr, str, PrimExpr]]
    match call:
        case ast.Call(args=[ast.Dict(keys=keys, values=values), *_]):
            tell_arguments(reader.context, call, 1)
            tell_keys(reader.context, keys)
            words = [text_argument(reader.context, key or call, "a key") for key in keys]
            facts = [(zero, word, reader.argument(value)) for word, value in zip(words, values, strict=True)]
        case _:
            found = given(reader.context, call, "node attr_key value", 3)
            key = text_argument(reader.context, found["attr_key"], "a key")
            if key == "thread_extent" and reader.name_of(found["node"]) == "iter_var":
                return _thread_extent(reader, call, found["node"], found["value"])
            facts = [(reader.argument(found["node"]), key, reader.argument(found["value"]))]

    def wrap(inner: Stmt) -> Stmt:
        for subject, word, value in reversed(facts):
            inner = AttrStmt(subject, word, value, inner, span=span)
        return inner

    return Scoped(wrap, span)


def _thread_extent(reader: TirReader, call: ast.Call, axis: ast.expr, value: ast.expr) -> Scoped:
    """Read `T.attr(T.iter_var(v, None, "ThreadIndex", "threadIdx.x"), "thread_extent", 8)`: a launch of `v`."""
    context, span = reader.context, reader.context.span(call)
    assert isinstance(axis, ast.Call)
    values = given(context, axis, "var dom iter_type thread_tag", 3)
    tag = text_argument(context, values["thread_tag"], "a thread")
    # TVM writes the variable as a declaration where nothing uses it.
    is_unused = isinstance(values["var"], ast.Call) and not values["var"].args
    var = PrimVar("v", reader.name_of(values["var"]), span=span) if is_unused else reader.read(values["var"])
    if not isinstance(var, PrimVar):
        raise context.fail("PA006", values["var"], f"`{source_of(values['var'])}` is no variable")
    tell_unused(context, axis, values, ("dom",))
    extent = reader.read(value)
    return Scoped(lambda inner: LaunchThread(var, tag, extent, inner, span=span), span)


def _launch(reader: TirReader, call: ast.Call, target: ast.Name | None) -> Scoped:
    """Read `tx = T.launch_thread("threadIdx.x", 8)`, or `T.launch_thread(tx, 8)` of a `T.env_thread`."""
    values = given(reader.context, call, "thread extent", 2)
    span = reader.context.span(call)
    extent = reader.read(values["extent"])
    match values["thread"]:
        case ast.Constant(value=str(tag)):
            name = target.id if target is not None else tag.rpartition(".")[0] or tag
            var = PrimVar(name, dtype_of(extent), span=reader.context.span(target or call))
        case thread:
            found = reader.read(thread)
            if not isinstance(found, PrimVar) or found not in reader.facts.threads:
                raise reader.context.fail(
                    "PA006", thread, f"`{source_of(thread)}` is no thread", 'write T.env_thread("threadIdx.x")'
                )
            var, tag = found, reader.facts.threads[found]
            first = reader.facts.extents.setdefault(found, extent)
            if isinstance(first, IntImm) and isinstance(extent, IntImm) and first.value != extent.value:
                message = f"{first.value} threads of `{tag}` before, {extent.value} here"
                raise reader.context.fail("PA006", values["extent"], message)
    if target is not None:
        reader.scope.define(target.id, var)
    return Scoped(lambda inner: LaunchThread(var, tag, extent, inner, span=span), span)


def _buffer(reader: TirReader, name: str, call: ast.Call, target: ast.Name) -> Scoped:
    """Read a buffer that the function declares: a view of memory, or one with memory of its own."""
    once(reader, target)
    buffer, values = read_buffer(reader, target.id, call, defines=False)
    if name in ("alloc_local", "alloc_shared"):
        buffer = _in_scope(buffer, name.removeprefix("alloc_"))
    data = reader.argument(values["data"]) if "data" in values else None
    tell_unused(reader.context, call, values, UNUSED)
    if data is None and name in ("Buffer", "buffer_decl"):
        data = Intrinsic(UNKNOWN_POINTER, (), "handle", span=buffer.span)
    notes = read_attributes(reader.context, values["annotations"]) if "annotations" in values else NO_ATTRS
    reader.scope.define(target.id, buffer)
    return declared(buffer, data, notes)


def _read_scalar(reader: TirReader, call: ast.Call, target: ast.Name) -> Scoped:
    """Read `x = T.decl_scalar(T.float32, data=p)`, which TVM prints for a buffer of one element at a pointer."""
    values = given(reader.context, call, "dtype data scope elem_offset", 2)
    dtype = ast.copy_location(ast.Constant(reader.dtype(values.pop("dtype"))), call)
    shape = ast.copy_location(ast.Tuple([ast.copy_location(ast.Constant(1), call)], ast.Load()), call)
    keywords = [ast.copy_location(ast.keyword(name, value), call) for name, value in values.items()]
    made = _buffer(
        reader, "decl_buffer", ast.copy_location(ast.Call(call.func, [shape, dtype], keywords), call), target
    )
    reader.facts.scalars.add(reader.buffer(target))
    return made


def read_view(reader: TirReader, target: ast.Name, source: Buffer, call: ast.Call) -> Scoped:
    """Read `B = A.view(48, 2)`, the same memory in another shape, or `B = A.view("int32")`, as another dtype."""
    is_plain = all(item.arg == "layout" and is_none(item.value) for item in call.keywords)
    if not is_plain or not call.args:
        raise reader.context.unsupported(call, f"`{source_of(call)}`", "write T.decl_buffer(shape, dtype, data=A.data)")
    dtype, shape = source.dtype, source.shape
    match call.args:
        case [ast.Constant(value=str())]:
            dtype = reader.dtype(call.args[0])
            last = shape[-1] if shape else None
            if (
                not isinstance(last, IntImm)
                or not bits_of(dtype)
                or last.value * bits_of(source.dtype) % bits_of(dtype)
            ):
                raise reader.context.fail("PA006", call, f"`{source.name}` has no view of dtype {dtype}")
            shape = (*shape[:-1], IntImm(last.value * bits_of(source.dtype) // bits_of(dtype), last.dtype))
        case args:
            shape = _inferred(source, tuple(reader.read(item) for item in args))
    span = reader.context.span(call)
    buffer = Buffer(target.id, shape, dtype, (), source.elem_offset, source.scope, source.attrs, span=span)
    reader.scope.define(target.id, buffer)
    return declared(buffer, BufferRef(source, span=span))


def _inferred(source: Buffer, shape: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
    """Give a dimension -1 the size that is left."""
    known = [dim.value for dim in shape if isinstance(dim, IntImm) and dim.value > 0]
    sizes = [dim.value for dim in source.shape if isinstance(dim, IntImm)]
    if len(known) != len(shape) - 1 or len(sizes) != len(source.shape):
        return shape
    left = math.prod(sizes) // math.prod(known)
    return tuple(IntImm(left, dim.dtype) if is_number(dim, -1) else dim for dim in shape)


def _in_scope(buffer: Buffer, scope: str) -> Buffer:
    return Buffer(
        buffer.name,
        buffer.shape,
        buffer.dtype,
        buffer.strides,
        buffer.elem_offset,
        scope,
        buffer.attrs,
        span=buffer.span,
    )


def declared(
    buffer: Buffer, data: PrimExpr | None, annotations: Attrs = NO_ATTRS, *, is_scalar: bool = False
) -> Scoped:
    """Declare a buffer for the statements behind."""
    span = buffer.span
    assert span is not None
    return Scoped(lambda inner: DeclBuffer(buffer, inner, data, annotations, is_scalar, span=span), span)


def _realize(reader: TirReader, call: ast.Call) -> Scoped:
    values = given(reader.context, call, "buffer_slice storage_scope condition", 2)
    span = reader.context.span(call)
    region = reader.region(values["buffer_slice"])
    scope = text_argument(reader.context, values["storage_scope"], "a storage scope")
    condition = reader.read(values["condition"]) if "condition" in values else None
    return Scoped(lambda inner: BufferRealize(region, scope, inner, condition, span=span), span)


def _assertion(reader: TirReader, call: ast.Call) -> Scoped:
    values = given(reader.context, call, "condition message error_kind", 2)
    span = reader.context.span(call)
    message = reader.argument(values["message"])
    text = message.value if isinstance(message, StringImm) else source_of(values["message"])
    check = AssertStmt(reader.read(values["condition"]), text, span=span)
    return Scoped(lambda inner: seq((check, inner)), span)


def read_allocate(reader: TirReader, call: ast.Call, target: ast.Name) -> Scoped:
    """Read `p = T.allocate(...)`, a pointer; a name that is indexed is a buffer, as it was until 2022."""
    values = given(reader.context, call, "extents dtype scope condition annotations", 1)
    span = reader.context.span(call)
    extents = reader.shape(values["extents"])
    dtype = reader.dtype(values["dtype"]) if "dtype" in values else "float32"
    scope = text_argument(reader.context, values["scope"], "a storage scope") if "scope" in values else "global"
    condition = reader.read(values["condition"]) if "condition" in values else None
    notes = read_attributes(reader.context, values["annotations"]) if "annotations" in values else NO_ATTRS
    var, buffer = _memory(reader, target, extents, dtype, scope)

    def wrap(inner: Stmt) -> Stmt:
        body = inner if buffer is None else DeclBuffer(buffer, inner, var, span=span)
        return Allocate(var, dtype, extents, scope, body, condition, notes, span=span)

    return Scoped(wrap, span)


def read_constant(reader: TirReader, call: ast.Call, target: ast.Name) -> Scoped:
    """Read `p = T.allocate_const(data, dtype, extents)`: memory, and the statements that fill it."""
    context = reader.context
    values = given(context, call, "data dtype extents annotations", 3)
    span = context.span(call)
    extents, dtype = reader.shape(values["extents"]), reader.dtype(values["dtype"])
    numbers = read_attribute(context, values["data"])
    count = prod(item.value if isinstance(item, IntImm) else 0 for item in extents)
    if not isinstance(numbers, tuple) or len(numbers) != count:
        message = f"`{source_of(call.func)}` takes a list of {count} numbers, got `{source_of(values['data'])}`"
        raise context.fail("PA006", values["data"], message)
    data = [item for item in numbers if isinstance(item, bool | int | float)]
    if len(data) != count:
        raise context.fail("PA010", values["data"], f"expected numbers, got `{source_of(values['data'])}`")
    context.report("PA040", call, f"`{target.id}` is read as memory that is filled here", severity="note")
    notes = read_attributes(context, values["annotations"]) if "annotations" in values else NO_ATTRS
    var, buffer = _memory(reader, target, extents, dtype, "global")
    filled = Buffer(f"{target.id}_filled", (const(count, "int32"),), dtype, span=span)
    stores = [_store(filled, place, item, span) for place, item in enumerate(data)]

    def wrap(inner: Stmt) -> Stmt:
        body = inner if buffer is None else DeclBuffer(buffer, inner, var, span=span)
        body = DeclBuffer(filled, seq((*stores, body)), var, span=span)
        return Allocate(var, dtype, extents, "global", body, None, notes, span=span)

    return Scoped(wrap, span)


def _store(buffer: Buffer, place: int, value: int | float, span: Span) -> BufferStore:
    return BufferStore(buffer, (const(place, "int32"),), const(value, buffer.dtype, span=span), span=span)


def _memory(
    reader: TirReader, target: ast.Name, extents: tuple[PrimExpr, ...], dtype: str, scope: str
) -> tuple[PointerVar, Buffer | None]:
    """Define the name of allocated memory: of the pointer, or of a buffer at it if the function indexes the name."""
    span = reader.context.span(target)
    if target.id not in reader.facts.indexed:
        var = PointerVar(target.id, "handle", dtype, scope, span=span)
        reader.scope.define(target.id, var)
        return var, None
    buffer = Buffer(target.id, extents, dtype, scope=scope, span=span)
    reader.scope.define(target.id, buffer)
    return PointerVar(f"{target.id}_data", "handle", dtype, scope, span=span), buffer
