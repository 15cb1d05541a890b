"""Read variables: lets, scalars that can be assigned again, local arrays."""

import ast

from relax_core.frontend.tvmscript.tir import scoped
from relax_core.frontend.tvmscript.tir.arguments import given, text_argument
from relax_core.frontend.tvmscript.tir.body import Scoped
from relax_core.frontend.tvmscript.tir.reader import ZERO, TirReader
from relax_core.ir.intrinsics import SCOPE_IDS
from relax_core.ir.prim import Intrinsic, PrimExpr, PrimVar, const, dtype_of, lanes_of
from relax_core.ir.tir import Buffer, BufferStore, Stmt


def annotated(
    reader: TirReader, statement: ast.stmt, parts: tuple[ast.Name, ast.expr, ast.expr | None]
) -> Stmt | Scoped | list[Stmt | Scoped]:
    """Read `x: T.int32 = v`, `x: T.let[T.int32] = v`, `x: T.let = v`, and the declaration `x: T.int32`."""
    target, annotation, value = parts
    is_let = reader.name_of(annotation) == "let"
    if isinstance(annotation, ast.Subscript) and not is_let and reader.name_of(annotation) not in scoped.POINTERS:
        return _local_array(reader, target, annotation)
    if value is None:
        var = scoped.variable(reader, target.id, annotation, None, target)
        return _scalar(reader, target, var.dtype)
    if is_let:
        scoped.once(reader, target)
    bare_let = is_let and not isinstance(annotation, ast.Subscript)
    if bare_let:
        made = reader.argument(value)
        return scoped.let(
            reader, target, made, PrimVar(target.id, dtype_of(made), span=reader.context.span(target)), statement
        )
    var = scoped.variable(reader, target.id, annotation, None, target)
    made = reader.argument(value) if var.dtype == "handle" else reader.scalars.as_dtype(value, var.dtype)
    if is_let:
        return scoped.let(reader, target, made, var, statement)
    return variable(reader, statement, target, made, var)


def variable(
    reader: TirReader, statement: ast.stmt, target: ast.Name, value: PrimExpr, var: PrimVar | None
) -> Stmt | Scoped | list[Stmt | Scoped]:
    """Give a variable a value: one that can be assigned again, or a let."""
    known = reader.known_buffer(target)
    span = reader.context.span(statement)
    if known is not None and known in reader.facts.scalars and var is None:
        return BufferStore(known, (ZERO,), value, span=span)
    dtype = dtype_of(value) if var is None else var.dtype
    is_fixed = dtype in ("handle", "list", "string", "void") or lanes_of(dtype) > 1
    is_fixed = is_fixed or (isinstance(value, Intrinsic) and value.name in SCOPE_IDS)
    if is_fixed or not (reader.facts.is_latest or target.id in reader.facts.reassigned):
        var = var or PrimVar(target.id, dtype, span=reader.context.span(target))
        return scoped.let(reader, target, value, var, statement)
    made = _scalar(reader, target, dtype)
    return [made, BufferStore(reader.buffer(target), (ZERO,), value, span=span)]


def allocated(reader: TirReader, target: ast.Name, call: ast.Call, *, is_local: bool) -> Scoped:
    """Read `x = T.alloc_scalar("float32", scope="local")` or `x = T.local_scalar("float32")`."""
    values = given(reader.context, call, "dtype" if is_local else "dtype scope", 0)
    dtype = reader.dtype(values["dtype"]) if "dtype" in values else "float32"
    scope = "local" if is_local else "global"
    if "scope" in values:
        scope = text_argument(reader.context, values["scope"], "a storage scope")
    return _scalar(reader, target, dtype, scope)


def _scalar(reader: TirReader, target: ast.Name, dtype: str, scope: str = "local") -> Scoped:
    """Define a variable that can be assigned: a buffer of one element."""
    span = reader.context.span(target)
    buffer = Buffer(target.id, (const(1, "int32"),), dtype, scope=scope, span=span)
    reader.facts.scalars.add(buffer)
    reader.scope.define(target.id, buffer)
    # `x: T.int32` is local memory; a scalar elsewhere is printed as a buffer of one element.
    return scoped.declared(buffer, None, is_scalar=scope == "local")


def _local_array(reader: TirReader, target: ast.Name, annotation: ast.Subscript) -> Scoped:
    """Read `x: T.float32[4]`, a local buffer."""
    dtype = reader.dtype(annotation.value)
    buffer = Buffer(target.id, reader.shape(annotation.slice), dtype, scope="local", span=reader.context.span(target))
    reader.scope.define(target.id, buffer)
    return scoped.declared(buffer, None)
