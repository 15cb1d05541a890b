"""Read the statements of prim funcs."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.buffers.buffer import UNUSED_OF_PARAMETER, read_buffer
from relax_core.frontend.tvmscript.context import Failed, shortened, source_of
from relax_core.frontend.tvmscript.literal.literals import with_attributes
from relax_core.frontend.tvmscript.literal.numbers import truth_of
from relax_core.frontend.tvmscript.relax.signature import declared_dtype
from relax_core.frontend.tvmscript.scalar.operands import is_pointer_or_text
from relax_core.frontend.tvmscript.scalar.scalars import BINARY
from relax_core.frontend.tvmscript.scope import POISONED, Entity, Several
from relax_core.frontend.tvmscript.tir import block, old_block, variable
from relax_core.frontend.tvmscript.tir import macro as tir_macro
from relax_core.frontend.tvmscript.tir import scoped as tir_scoped
from relax_core.frontend.tvmscript.tir.arguments import given, is_true
from relax_core.frontend.tvmscript.tir.body import BlockParts, Scoped, TirBody
from relax_core.frontend.tvmscript.tir.expr import flat_buffer
from relax_core.frontend.tvmscript.tir.loop import LOOPS, read_head, without_else
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_declaration, tell_unused
from relax_core.ir.prim import Intrinsic, PrimVar, const, dtype_of, is_dtype, lanes_of, vector_of
from relax_core.ir.tir import AssertStmt, Block, BufferRef, BufferStore, Evaluate, IfThenElse, Stmt, While, seq

_Made = Stmt | Scoped | None
_JUMPS: Mapping[str, str] = MappingProxyType({"Break": "break_loop", "Continue": "continue_loop", "Return": "ret"})
_ALONE: Final = (ast.BinOp, ast.BoolOp, ast.Compare, ast.Constant, ast.Subscript, ast.UnaryOp)
"""Scalars that, as in TVM, are evaluated where they stand alone."""


def read_statements(body: TirBody, statements: Sequence[ast.stmt]) -> Stmt:
    """Read a list of statements; one that fails is reported and left out."""
    return _nest(_read_each(body, statements))


def _read_each(body: TirBody, statements: Sequence[ast.stmt]) -> list[Stmt | Scoped]:
    made: list[Stmt | Scoped] = []
    for statement in statements:
        try:
            results = _statement(body, statement)
        except Failed:
            for item in ast.walk(statement):
                if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                    body.reader.scope.define(item.id, POISONED)
            continue
        for result in results if isinstance(results, list) else (results,):
            if result is not None:
                made.append(result)
    return made


def _nest(made: list[Stmt | Scoped]) -> Stmt:
    """Let each `Scoped` hold the statements behind it."""
    # The rest is kept last statement first, so that adding to its front is cheap.
    rest: list[Stmt] = []
    for item in reversed(made):
        if isinstance(item, Scoped):
            rest = [item.wrap(_sequence(rest))]
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


def _statement(body: TirBody, statement: ast.stmt) -> "_Made | list[Stmt | Scoped]":
    reader, context = body.reader, body.reader.context
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return _store(reader, statement, target, value)
        case ast.AugAssign(target=target, op=op) if type(op) in BINARY:
            return _augmented(body, statement, target)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            return _assign_each(body, statement, names, values)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(args=[ast.Tuple(elts=values)]) as call) if (
            reader.name_of(call) == "meta_var" and len(names) == len(values)
        ):
            metas = [ast.copy_location(ast.Call(call.func, [item], []), item) for item in values]
            return _assign_each(body, statement, names, [*metas])
        case ast.Assign(targets=[target], value=value):
            return _assign(body, statement, target, value)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value):
            return variable.annotated(reader, statement, (target, annotation, value))
        case ast.For(target=target, iter=iterator, body=statements, orelse=other):
            without_else(context, other)
            return _loop(body, statement, (target, iterator), statements)
        case ast.With(items=[item, *others], body=statements):
            return _with(body, statement, item, _without_first(statement, others) or statements)
        case ast.Expr(value=ast.Call() as call) if (macro := tir_macro.called(reader, call)) is not None:
            return _read_each(*tir_macro.expand(body, macro, call))
        case ast.FunctionDef() if tir_macro.is_macro(context, statement):
            return tir_macro.define(reader, statement)
        case ast.Expr(value=value):
            return _expression(body, statement, value)
        case ast.Pass():
            for name in context.cut_at(statement) or ():
                reader.scope.define(name, POISONED)
            return None
        case ast.Return(value=None) if body.is_function:
            return None
        case _:
            return _control(body, statement)


def _control(body: TirBody, statement: ast.stmt) -> "_Made | list[Stmt | Scoped]":
    reader, context = body.reader, body.reader.context
    span = context.span(statement)
    match statement:
        case ast.If(test=test, body=then, orelse=other) if (chosen := truth_of(context, test)) is not None:
            # A condition that the text knows is Python's, as in TVM: the other branch is not read.
            return _read_each(TirBody(reader.inner(), is_function=False), then if chosen else other)
        case ast.If(test=test, body=then, orelse=orelse):
            condition = reader.number(test)
            then_body = _inner(body, then)
            return IfThenElse(condition, then_body, _inner(body, orelse) if orelse else None, span=span)
        case ast.While(test=test, body=statements, orelse=other):
            without_else(context, other)
            return While(reader.number(test), _inner(body, statements), span=span)
        case ast.Assert(test=test, msg=message):
            return read_assertion(reader, statement, test, message)
        case ast.Break():
            return Evaluate(Intrinsic("break_loop", (), "void", span=span), span=span)
        case ast.Continue():
            return Evaluate(Intrinsic("continue_loop", (), "void", span=span), span=span)
        case ast.Return(value=None):
            hint = "return a value, such as T.int32(0), or put what follows under the opposite condition"
            raise context.unsupported(statement, "`return` without a value before the end of a prim func", hint)
        case ast.Return(value=ast.expr() as value):
            return Evaluate(Intrinsic("ret", (reader.argument(value),), "void", span=span), span=span)
        case _:
            raise context.unsupported(statement, f"`{source_of(statement)}` in a prim func")


def _without_first(statement: ast.With, others: list[ast.withitem]) -> list[ast.stmt]:
    """Write `with a, b:` as `with a:` around `with b:`; empty if there is no second item."""
    return [ast.copy_location(ast.With(others, statement.body), statement)] if others else []


def _inner(body: TirBody, statements: Sequence[ast.stmt]) -> Stmt:
    return read_statements(TirBody(body.reader.inner(), is_function=False), statements)


def _store(reader: TirReader, statement: ast.stmt, target: ast.Subscript, value: ast.expr) -> BufferStore:
    buffer, indices = reader.element(target)
    lanes = lanes_of(dtype_of(indices[-1])) if indices else 1
    dtype = buffer.dtype if lanes == 1 else vector_of(buffer.dtype, lanes * lanes_of(buffer.dtype))
    made = reader.scalars.as_dtype(value, dtype)
    if is_pointer_or_text(made) and dtype != "handle":
        message = f"`{source_of(value)}` is no {dtype}"
        raise reader.context.fail("PA009", value, message)
    return BufferStore(buffer, indices, made, span=reader.context.span(statement))


def _masked(reader: TirReader, store: BufferStore, predicate: ast.expr) -> Stmt:
    """Store the lanes that `predicate` selects: 0.25 writes so what 0.27 writes as T.masked_store."""
    parts = (BufferRef(store.buffer, is_pointer=False), store.value, *store.indices, reader.read(predicate))
    return Evaluate(Intrinsic("masked_store", parts, "void", span=store.span), span=store.span)


def _stored(reader: TirReader, statement: ast.stmt, name: str, call: ast.Call) -> Stmt:
    """Read `T.buffer_store(B, v, [i])`, and `T.store(B.data, i, v, True)`, as 2021 printed a lowered store."""
    if name == "store":
        values = given(reader.context, call, "buffer_var index value predicate", 3)
        buffer, index = flat_buffer(reader, values["buffer_var"], statement), (reader.read(values["index"]),)
        made = BufferStore(buffer, index, reader.read(values["value"]), span=reader.context.span(statement))
    else:
        values = given(reader.context, call, "buffer value indices predicate", 3)
        items = values["indices"]
        index = ast.Tuple(items.elts if isinstance(items, ast.List | ast.Tuple) else [items], ast.Load())
        target = ast.Subscript(values["buffer"], ast.copy_location(index, statement), ast.Store())
        made = _store(reader, statement, ast.copy_location(target, statement), values["value"])
    predicate = values.get("predicate")
    return made if predicate is None or is_true(predicate) else _masked(reader, made, predicate)


def _vstore(reader: TirReader, statement: ast.stmt, target: ast.Subscript, value: ast.expr) -> BufferStore:
    """Read `A.vstore([i, j], v)`, which stores the lanes of `v` from that element on."""
    buffer, indices = reader.element(ast.copy_location(target, statement))
    lanes = lanes_of(dtype_of(reader.read(value)))
    span = reader.context.span(statement)
    if lanes > 1 and indices and lanes_of(dtype_of(indices[-1])) == 1:
        dtype = dtype_of(indices[-1])
        args = (indices[-1], const(1, dtype), const(lanes, "int32"))
        indices = (*indices[:-1], Intrinsic("Ramp", args, vector_of(dtype, lanes), span=span))
    dtype = buffer.dtype if lanes == 1 else vector_of(buffer.dtype, lanes * lanes_of(buffer.dtype))
    return BufferStore(buffer, indices, reader.scalars.as_dtype(value, dtype), span=span)


def _augmented(body: TirBody, statement: ast.AugAssign, target: ast.expr) -> "_Made | list[Stmt | Scoped]":
    """`A[i] += x` is `A[i] = A[i] + x`, and `x += y` is `x = x + y`."""
    reader = body.reader
    match target:
        case ast.Subscript():
            load: ast.expr = ast.Subscript(target.value, target.slice, ast.Load())
        case ast.Name():
            load = ast.Name(target.id, ast.Load())
        case _:
            raise reader.context.unsupported(statement, f"`{source_of(statement)}` in a prim func")
    value = ast.copy_location(ast.BinOp(ast.copy_location(load, target), statement.op, statement.value), statement)
    if isinstance(target, ast.Subscript):
        return _store(reader, statement, target, value)
    return _assign(body, statement, target, value)


def _assign(body: TirBody, statement: ast.stmt, target: ast.expr, value: ast.expr) -> "_Made | list[Stmt | Scoped]":
    reader, context = body.reader, body.reader.context
    name = reader.name_of(value) if isinstance(value, ast.Call) else ""
    if name.startswith("axis."):
        block.read_axes(body, target, value, name.removeprefix("axis."))
        return None
    if not isinstance(target, ast.Name):
        raise context.unsupported(statement, f"`{source_of(statement)}` in a prim func")
    if isinstance(value, ast.Tuple | ast.List) and value.elts:
        return _several(body, statement, target, value.elts)
    if isinstance(value, ast.Call) and name:
        match name:
            case "match_buffer":
                block.read_match(body, target, value)
                return None
            case "sblock_alloc_buffer":
                return _block_buffer(reader, target, value)
            case "alloc_buffer" if reader.facts.has_blocks and not reader.facts.is_latest:
                return _block_buffer(reader, target, value)
            case "alloc_scalar" | "local_scalar":
                return variable.allocated(reader, target, value, is_local=name == "local_scalar")
            case "env_thread" | "meta_var":
                return _named(reader, name, target, value)
            case _ if name in tir_scoped.SCOPED and not (name == "Let" and value.keywords):
                return tir_scoped.read_scoped(reader, name, value, target)
            case _ if _declares(reader, target, value, name):
                return None
            case _:
                pass
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "view":
        viewed = reader.known_buffer(value.func.value)
        if viewed is not None:
            return tir_scoped.read_view(reader, target, viewed, value)
    known = reader.known_buffer(value)
    if known is not None and known not in reader.facts.scalars:
        reader.scope.define(target.id, known)
        return None
    return variable.variable(reader, statement, target, reader.argument(value), None)


def _assign_each(
    body: TirBody, statement: ast.stmt, names: list[ast.expr], values: list[ast.expr]
) -> list[Stmt | Scoped]:
    """Read `n, m = T.int64(), T.int64()`."""
    made: list[Stmt | Scoped] = []
    for target, value in zip(names, values, strict=True):
        results = _assign(body, statement, target, value)
        made += results if isinstance(results, list) else [] if results is None else [results]
    return made


def _several(body: TirBody, statement: ast.stmt, target: ast.Name, values: Sequence[ast.expr]) -> list[Stmt | Scoped]:
    """Read `x = (1, n)`: as in TVM, variables `x_0` and `x_1` that nothing uses; `x[0]` is the expression itself."""
    meant = Several(tuple(_meant(body.reader, item) for item in values))
    names = [ast.copy_location(ast.Name(f"{target.id}_{k}", ast.Store()), target) for k in range(len(values))]
    made = _assign_each(body, statement, [*names], [*values])
    body.reader.scope.define(target.id, meant)
    return made


def _block_buffer(reader: TirReader, target: ast.Name, value: ast.Call) -> None:
    buffer, values = read_buffer(reader, target.id, value)
    tell_unused(reader.context, value, values, UNUSED_OF_PARAMETER)
    reader.allocated.append(buffer)
    reader.scope.define(target.id, buffer)


def _named(reader: TirReader, name: str, target: ast.Name, value: ast.Call) -> None:
    """Read `tx = T.env_thread("threadIdx.x")` or `x = T.meta_var(i * 4)`, where the name stands for the expression."""
    tell_arguments(reader.context, value, 1, ("dtype",) if name == "env_thread" else ())
    match name, value.args[:1]:
        case "env_thread", [ast.Constant(value=str(tag)), *_]:
            reader.facts.threads[reader.define(target.id, "int32", target)] = tag
        case "meta_var", [inner]:
            reader.scope.define(target.id, _meant(reader, inner))
        case _:
            raise reader.context.fail("PA006", value, f"`{source_of(value)}`: one argument is wanted")


def _meant(reader: TirReader, node: ast.expr) -> Entity:
    """Return what a name of an expression stands for: a buffer, several things, a scalar."""
    if isinstance(node, ast.Tuple | ast.List):
        return Several(tuple(_meant(reader, item) for item in node.elts))
    return reader.known_buffer(node) or reader.argument(node)


def _declares(reader: TirReader, target: ast.Name, value: ast.Call, name: str) -> bool:
    """Read `n = T.int64()`, `p = T.handle("float32", "global")`; tell whether it is such a declaration."""
    is_short = is_dtype(name) and not value.args and not value.keywords
    dtype = name if is_short else declared_dtype(reader.context, value)
    if dtype is None and name not in tir_scoped.POINTERS:
        return False
    if dtype is not None:
        tell_declaration(reader.context, value)
    if not isinstance(reader.scope.find(target.id), PrimVar):
        if dtype is not None and dtype != "handle":
            reader.define(target.id, dtype, target)
        else:
            reader.scope.define(target.id, tir_scoped.variable(reader, target.id, value, None, target))
    return True


def _loop(body: TirBody, statement: ast.stmt, head: tuple[ast.expr, ast.expr], statements: Sequence[ast.stmt]) -> Stmt:
    """Read a loop, or `with T.grid(n) as i`."""
    inner = body.reader.inner()
    made = read_head(body.reader, inner, *head)
    content = read_statements(TirBody(inner, is_function=False), statements)
    return made.around(content, body.reader.context.span(statement))


def _with(body: TirBody, statement: ast.stmt, item: ast.withitem, statements: Sequence[ast.stmt]) -> Stmt | None:
    reader = body.reader
    expr, target = item.context_expr, item.optional_vars
    name = reader.name_of(expr) if isinstance(expr, ast.Call) else ""
    match name:
        case "block" | "sblock" if isinstance(expr, ast.Call):
            # Of 2021: T.block(axes, name).
            count = 2 if expr.args and isinstance(expr.args[0], ast.List | ast.Tuple) else 1
            tell_arguments(reader.context, expr, count, ("name", "no_realize", "name_hint"))
            return _block(body, statement, (expr, target), statements)
        case "init":
            if body.block is None:
                raise reader.context.fail("PA005", expr, "T.init() stands in a block")
            if isinstance(expr, ast.Call):
                tell_arguments(reader.context, expr, 0)
            if body.block.init is not None:
                raise reader.context.fail("PA022", expr, "T.init() is there twice in this block")
            body.block.init = _inner(body, statements)
            return None
        case "grid" | "range" | "serial" | "parallel" | "vectorized" | "unroll" if target is not None:
            return _loop(body, statement, (target, expr), statements)
        case _ if name in tir_scoped.SCOPED and isinstance(expr, ast.Call) and isinstance(target, ast.Name | None):
            inner = replace(reader.inner(), allocated=reader.allocated)
            scoped = tir_scoped.read_scoped(inner, name, expr, target)
            return scoped.wrap(read_statements(TirBody(inner, is_function=False), statements))
        case _:
            raise reader.context.unsupported(expr, f"`with {source_of(expr)}`")


def _block(
    body: TirBody, statement: ast.stmt, head: tuple[ast.Call, ast.expr | None], statements: Sequence[ast.stmt]
) -> Stmt:
    expr, target = head
    inner = replace(body.reader.inner(), allocated=[])
    parts = BlockParts()
    content = TirBody(inner, block=parts, is_function=False)
    match expr.args, target:
        case [], None:
            name = ""
        case [ast.Constant(value=str(name))], None:
            pass
        case _:
            name = old_block.read_head(content, expr, target)
    made = read_statements(content, statements)
    return Block(
        name, tuple(parts.iter_vars), made, parts.init, tuple(inner.allocated), parts.reads, parts.writes,
        parts.predicate, parts.annotations, tuple(parts.matches), span=body.reader.context.span(statement),
    )  # fmt: skip


def _expression(body: TirBody, statement: ast.stmt, value: ast.expr) -> _Made:
    reader, context = body.reader, body.reader.context
    if isinstance(value, ast.Constant) and isinstance(value.value, str | type(...)):
        return None
    span = context.span(statement)
    name = reader.name_of(value) if isinstance(value, ast.Call) else ""
    match name, value:
        case "evaluate", ast.Call(args=[inner], keywords=[]):
            return Evaluate(reader.argument(inner), span=span)
        case "Break" | "Continue" | "Return", ast.Call(args=args, keywords=[]) if (name == "Return") == (
            len(args) == 1
        ):
            return Evaluate(Intrinsic(_JUMPS[name], tuple(map(reader.argument, args)), "void", span=span), span=span)
        case "func_attr", ast.Call(args=[inner]) if body.is_function:
            tell_arguments(context, value, 1)
            body.attrs = with_attributes(context, body.attrs, inner)
            return None
        case "bind", ast.Call(args=args, keywords=[]) if old_block.read_binding(body, args):
            return None
        case _, ast.Call() if name in block.PARTS:
            block.read_part(body, name, value)
            return None
        case "preflattened_buffer", ast.Call():
            message = f"`{source_of(value)}` is not kept: buffers keep their shape here"
            context.report("PA040", value, message, severity="note")
            return None
        case "store" | "buffer_store", ast.Call():
            return _stored(reader, statement, name, value)
        case _, ast.Call(
            func=ast.Attribute(value=ast.Name() as name_of_buffer, attr="vstore"),
            args=[index, item],
            keywords=[] | [ast.keyword(arg="predicate")] as more,
        ) if reader.known_buffer(name_of_buffer):
            if isinstance(index, ast.List):
                index = ast.copy_location(ast.Tuple(index.elts, ast.Load()), index)
            stored = _vstore(reader, statement, ast.Subscript(name_of_buffer, index, ast.Store()), item)
            return _masked(reader, stored, more[0].value) if more else stored
        case _, ast.Call() if name in tir_scoped.SCOPED:
            return tir_scoped.read_scoped(reader, name, value, None)
        case _ if name and name not in LOOPS:
            return Evaluate(reader.read(value), span=span)
        case "", ast.Call() if (called := reader.other(value)) is not None:
            return Evaluate(called, span=span)
        case "", _ if isinstance(value, _ALONE):
            return Evaluate(reader.read(value), span=span)
        case _:
            raise context.unsupported(value, f"`{source_of(value)}`")


def read_assertion(reader: TirReader, statement: ast.stmt, test: ast.expr, message: ast.expr | None) -> Stmt:
    """Read an assertion with the message "words", or as in 2026 ("RuntimeError", ["words"])."""
    span = reader.context.span(statement)
    condition = reader.read(test)
    match message:
        case None:
            return AssertStmt(condition, "", span=span)
        case ast.Constant(value=str(text)):
            return AssertStmt(condition, text, span=span)
        case ast.Tuple(elts=[ast.Constant(value=str(kind)), ast.List(elts=items) | ast.Tuple(elts=items)]):
            parts = tuple(_part(reader, item) for item in items)
            return AssertStmt(condition, "".join(parts), kind, parts if len(parts) != 1 else (), span=span)
        case _:
            raise reader.context.fail("PA006", message, "the message of an assertion is a string")


def _part(reader: TirReader, node: ast.expr) -> str:
    """Read a piece of a message; one that stands in metadata, which the text does not hold, stays as written."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Subscript():
            words = reader.context.span(node).text
            message = f"`{shortened(words)}` is not in the text"
            reader.context.report("PA031", node, message, "print it with show_meta=True", "warning")
            return words
        case _:
            raise reader.context.fail("PA006", node, "the message of an assertion is made of strings")
