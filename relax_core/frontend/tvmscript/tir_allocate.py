"""Read memory that a function allocates: `T.allocate([16], "float32")`, `T.allocate_const([1, 2], "int32", [2])`."""

import ast
from math import prod

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.literals import read_attribute, read_attributes
from relax_core.frontend.tvmscript.tir_arguments import given, text_argument
from relax_core.frontend.tvmscript.tir_body import Scoped
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.ir.attrs import NO_ATTRS
from relax_core.ir.prim import IntImm, PointerVar, PrimExpr, const
from relax_core.ir.tir import Allocate, Buffer, BufferStore, DeclBuffer, Stmt, seq
from relax_core.source import Span


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
