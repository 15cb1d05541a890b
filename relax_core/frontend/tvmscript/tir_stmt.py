"""Read the statements of prim funcs."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from relax_core.frontend.tvmscript import tir_block
from relax_core.frontend.tvmscript.context import Failed, source_of
from relax_core.frontend.tvmscript.literals import read_attributes
from relax_core.frontend.tvmscript.relax_function import declared_dtype
from relax_core.frontend.tvmscript.scalar_calls import KNOWN_CALLS, is_dtype
from relax_core.frontend.tvmscript.scalars import BINARY
from relax_core.frontend.tvmscript.scope import POISONED
from relax_core.frontend.tvmscript.tir_buffer import read_buffer
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.ir.attrs import NO_ATTRS, Attrs, attrs_of
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    BufferParam,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    LoopKind,
    Stmt,
    While,
    seq,
)

LOOPS: tuple[LoopKind, ...] = ("serial", "parallel", "vectorized", "unroll", "thread_binding")
_KINDS: Mapping[str, LoopKind] = MappingProxyType({kind: kind for kind in LOOPS})


@dataclass(slots=True)
class TirBody:
    """A list of statements under construction; `block` is the block that it is the body of."""

    reader: TirReader
    buffers: list[BufferParam] = field(default_factory=list[BufferParam])
    attrs: Attrs = NO_ATTRS
    block: "tir_block.BlockParts | None" = None
    is_function: bool = True


@dataclass(frozen=True, slots=True)
class _Let:
    """`var = value` for the rest of the list."""

    var: PrimVar
    value: PrimExpr
    statement: ast.stmt


def read_statements(body: TirBody, statements: Sequence[ast.stmt]) -> Stmt:
    """Read a list of statements; one that fails is reported and left out."""
    made: list[Stmt | _Let] = []
    for statement in statements:
        try:
            result = _statement(body, statement)
        except Failed:
            for item in ast.walk(statement):
                if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                    body.reader.scope.define(item.id, POISONED)
            continue
        if result is not None:
            made.append(result)
    return _nest(body, made)


def _nest(body: TirBody, made: list[Stmt | _Let]) -> Stmt:
    """Let each `_Let` hold the statements behind it."""
    # The rest is kept last statement first, so that adding to its front is cheap.
    rest: list[Stmt] = []
    for item in reversed(made):
        if isinstance(item, _Let):
            inner = _sequence(rest)
            rest = [LetStmt(item.var, item.value, inner, span=body.reader.context.span(item.statement))]
        else:
            rest.append(item)
    return _sequence(rest)


def _sequence(reversed_stmts: list[Stmt]) -> Stmt:
    stmts = reversed_stmts[::-1]
    made = seq(stmts)
    if made.span is not None or not stmts:
        return made
    first, last = stmts[0].span, stmts[-1].span
    return replace(made, span=first.to(last)) if first is not None and last is not None else made


def _statement(body: TirBody, statement: ast.stmt) -> Stmt | _Let | None:
    reader, context = body.reader, body.reader.context
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return _store(reader, statement, target, value)
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value) if type(op) in BINARY:
            return _augmented(reader, statement, target)
        case ast.Assign(targets=[target], value=value):
            return _assign(body, statement, target, value)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=ast.expr() as value):
            return _let(reader, statement, target, value, _annotated_dtype(reader, annotation))
        case ast.For(target=target, iter=iterator, body=statements, orelse=[]):
            return _loop(body, statement, target, iterator, statements)
        case ast.With(items=[item], body=statements):
            return _with(body, statement, item, statements)
        case ast.If(test=test, body=then, orelse=orelse):
            condition = reader.read(test)
            else_body = _inner(body, orelse) if orelse else None
            return IfThenElse(condition, _inner(body, then), else_body, span=context.span(statement))
        case ast.While(test=test, body=statements, orelse=[]):
            return While(reader.read(test), _inner(body, statements), span=context.span(statement))
        case ast.Assert(test=test, msg=message):
            return AssertStmt(reader.read(test), _message(body, message), span=context.span(statement))
        case ast.Expr(value=value):
            return _expression(body, statement, value)
        case ast.Pass() if (names := context.cut_at(statement)) is not None:
            for name in names:
                reader.scope.define(name, POISONED)
            return None
        case ast.Pass() | ast.Return(value=None):
            return None
        case _:
            raise context.unsupported(statement, f"`{source_of(statement)}` in a prim func")


def _inner(body: TirBody, statements: Sequence[ast.stmt]) -> Stmt:
    return read_statements(TirBody(body.reader.inner(), is_function=False), statements)


def _store(reader: TirReader, statement: ast.stmt, target: ast.Subscript, value: ast.expr) -> Stmt:
    buffer, indices = reader.element(target)
    made = reader.scalars.as_dtype(value, buffer.dtype)
    return BufferStore(buffer, indices, made, span=reader.context.span(statement))


def _augmented(reader: TirReader, statement: ast.AugAssign, target: ast.Subscript) -> Stmt:
    """`A[i] += x` is `A[i] = A[i] + x`."""
    load = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    value = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
    return _store(reader, statement, target, value)


def _assign(body: TirBody, statement: ast.stmt, target: ast.expr, value: ast.expr) -> Stmt | _Let | None:
    reader, context = body.reader, body.reader.context
    name = reader.name_of(value) if isinstance(value, ast.Call) else ""
    if name.startswith("axis."):
        tir_block.read_axes(body, target, value, name.removeprefix("axis."))
        return None
    if not isinstance(target, ast.Name):
        raise context.unsupported(statement, f"`{source_of(statement)}` in a prim func")
    if isinstance(value, ast.Call):
        if name == "match_buffer":
            _match_buffer(body, target, value)
            return None
        if name in ("alloc_buffer", "sblock_alloc_buffer"):
            buffer = read_buffer(reader, target.id, value, value.args, value.keywords)
            reader.allocated.append(buffer)
            reader.scope.define(target.id, buffer)
            return None
        dtype = declared_dtype(context, value)
        if dtype is not None:
            if not isinstance(reader.scope.find(target.id), PrimVar):
                reader.define(target.id, dtype, target)
            return None
    return _let(reader, statement, target, value, None)


def _match_buffer(body: TirBody, target: ast.Name, value: ast.Call) -> None:
    reader = body.reader
    handle = reader.read(value.args[0]) if value.args and isinstance(value.args[0], ast.Name) else None
    if not isinstance(handle, PrimVar) or handle.dtype != "handle" or not body.is_function:
        hint = "match the handle parameters at the head of the function"
        raise reader.context.unsupported(value, f"`{source_of(value)}`", hint)
    buffer = read_buffer(reader, target.id, value, value.args[1:], value.keywords)
    body.buffers.append(BufferParam(handle, buffer, is_inline=False, span=reader.context.span(value)))
    reader.scope.define(target.id, buffer)


def _let(reader: TirReader, statement: ast.stmt, target: ast.Name, value: ast.expr, dtype: str | None) -> _Let:
    known = reader.scope.find(target.id)
    if isinstance(known, PrimVar) and known in reader.lets and target.id not in reader.scope.names:
        hint = "put the value into a buffer: T.alloc_buffer((1,), ...)"
        raise reader.context.unsupported(statement, f"assigning again to `{target.id}` of an outer block", hint)
    made = reader.read(value) if dtype is None else reader.scalars.as_dtype(value, dtype)
    var = reader.define(target.id, dtype_of(made), target)
    reader.lets.add(var)
    return _Let(var, made, statement)


def _annotated_dtype(reader: TirReader, node: ast.expr) -> str | None:
    """Read the type of `x: T.int32 = ...`, `x: T.let[T.int32] = ...`, `x: T.let = ...`."""
    name = reader.name_of(node)
    if name == "let":
        return _annotated_dtype(reader, node.slice) if isinstance(node, ast.Subscript) else None
    if is_dtype(name):
        return name
    return reader.dtype(node)


def _loop(
    body: TirBody, statement: ast.stmt, target: ast.expr, iterator: ast.expr, statements: Sequence[ast.stmt]
) -> Stmt:
    """Read `for i, j in T.grid(n, m)` and the other loops, and `with T.grid(n) as i`."""
    reader, context = body.reader, body.reader.context
    name = reader.name_of(iterator)
    if not isinstance(iterator, ast.Call) or name not in ("grid", "range", *LOOPS):
        raise context.unsupported(iterator, f"a loop over `{source_of(iterator)}`", "write range(n) or T.grid(n, m)")
    targets = list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [item for item in targets if isinstance(item, ast.Name)]
    ranges = _ranges(reader, iterator, name)
    if len(names) != len(targets) or len(ranges) != len(names):
        raise context.fail("PA006", iterator, f"{len(ranges)} ranges for {len(targets)} loop variables")
    inner = reader.inner()
    loop_vars: list[PrimVar] = []
    for item, (start, extent) in zip(names, ranges, strict=True):
        var = inner.define(item.id, dtype_of(extent), item)
        loop_vars.append(var)
        if isinstance(start, IntImm) and start.value == 0:
            inner.extents[var] = extent
    made = read_statements(TirBody(inner, is_function=False), statements)
    kind = _KINDS.get(name, "serial")
    thread, annotations = _loop_options(reader, iterator)
    span = context.span(statement)
    for var, (start, extent) in zip(reversed(loop_vars), reversed(ranges), strict=True):
        made = For(var, start, extent, made, kind, thread, annotations, span=span)
    return made


def _ranges(reader: TirReader, node: ast.Call, name: str) -> list[tuple[PrimExpr, PrimExpr]]:
    if name == "grid":
        return [_from_zero(reader, item) for item in node.args]
    match node.args:
        case [stop]:
            return [_from_zero(reader, stop)]
        case [start, stop]:
            return [reader.extent(node, start, stop)]
        case _:
            raise reader.context.unsupported(node, f"`{source_of(node)}`", "a loop has a start and an end")


def _from_zero(reader: TirReader, node: ast.expr) -> tuple[PrimExpr, PrimExpr]:
    extent = reader.read(node)
    return IntImm(0, dtype_of(extent), span=extent.span), extent


def _loop_options(reader: TirReader, node: ast.Call) -> tuple[str | None, Attrs]:
    thread: str | None = None
    annotations: Attrs = NO_ATTRS
    for item in node.keywords:
        match item.arg, item.value:
            case "thread", ast.Constant(value=str(text)):
                thread = text
            case "annotations", value:
                annotations = read_attributes(reader.context, value)
            case _:
                raise reader.context.unsupported(item.value, f"`{item.arg}=` of a loop")
    return thread, annotations


def _with(body: TirBody, statement: ast.stmt, item: ast.withitem, statements: Sequence[ast.stmt]) -> Stmt | None:
    reader = body.reader
    expr = item.context_expr
    name = reader.name_of(expr)
    match name:
        case "block" | "sblock" if isinstance(expr, ast.Call) and item.optional_vars is None:
            return _block(body, statement, expr, statements)
        case "init":
            if body.block is None:
                raise reader.context.fail("PA005", expr, "T.init() stands in a block")
            body.block.init = _inner(body, statements)
            return None
        case "grid" | "range" | "serial" | "parallel" | "vectorized" | "unroll" if item.optional_vars is not None:
            return _loop(body, statement, item.optional_vars, expr, statements)
        case _:
            raise reader.context.unsupported(expr, f"`with {source_of(expr)}`")


def _block(body: TirBody, statement: ast.stmt, expr: ast.Call, statements: Sequence[ast.stmt]) -> Stmt:
    match expr.args:
        case []:
            name = ""
        case [ast.Constant(value=str(name))]:
            pass
        case _:
            raise body.reader.context.unsupported(expr, f"`{source_of(expr)}`", 'write T.sblock("name")')
    inner = replace(body.reader.inner(), allocated=[])
    parts = tir_block.BlockParts()
    made = read_statements(TirBody(inner, block=parts, is_function=False), statements)
    return Block(
        name, tuple(parts.iter_vars), made, parts.init, tuple(inner.allocated), parts.reads, parts.writes,
        parts.predicate, parts.annotations, span=body.reader.context.span(statement),
    )  # fmt: skip


def _message(body: TirBody, node: ast.expr | None) -> str:
    """Return the words of an assertion: "words", or the 2026 form ("RuntimeError", ["words"])."""
    match node:
        case None:
            return ""
        case ast.Constant(value=str(text)):
            return text
        case ast.Tuple(elts=[ast.Constant(value=str()), ast.List(elts=parts)]):
            return "".join(str(item.value) for item in parts if isinstance(item, ast.Constant))
        case _:
            raise body.reader.context.fail("PA006", node, "the message of an assertion is a string")


def _expression(body: TirBody, statement: ast.stmt, value: ast.expr) -> Stmt | None:
    reader, context = body.reader, body.reader.context
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return None
    name = reader.name_of(value) if isinstance(value, ast.Call) else ""
    match name, value:
        case "evaluate", ast.Call(args=[inner]):
            return Evaluate(reader.read(inner), span=context.span(statement))
        case "func_attr", ast.Call(args=[inner]) if body.is_function:
            body.attrs = attrs_of([*body.attrs, *read_attributes(context, inner)])
            return None
        case "reads" | "writes" | "where" | "block_attr" | "sblock_attr", ast.Call():
            tir_block.read_part(body, name, value)
            return None
        case _:
            if name in KNOWN_CALLS:
                return Evaluate(reader.read(value), span=context.span(statement))
            raise context.unsupported(value, f"`{source_of(value)}`")
