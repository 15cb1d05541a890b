"""Read prim funcs: parameters, buffers, and the body."""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from relax_core.frontend.tvmscript.buffers.buffer import UNUSED_OF_PARAMETER, read_buffer
from relax_core.frontend.tvmscript.context import Context, Failed, source_of
from relax_core.frontend.tvmscript.relax.signature import Decorator, declared_dtypes
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scope import POISONED
from relax_core.frontend.tvmscript.tir.body import TirBody
from relax_core.frontend.tvmscript.tir.dialect import PrimFuncTraits, facts_of
from relax_core.frontend.tvmscript.tir.expr import TirExprReader
from relax_core.frontend.tvmscript.tir.reader import TirReader
from relax_core.frontend.tvmscript.tir.scoped import POINTERS, variable
from relax_core.frontend.tvmscript.tir.stmt import read_statements
from relax_core.frontend.tvmscript.unread import tell_unused
from relax_core.ir.prim import PrimVar, is_number
from relax_core.ir.tir import Block, Buffer, BufferParam, PrimFunc, Stmt

HEAD_LENGTH = 2000
_TIRX = re.compile(r"\bimport\b[^\n]*\btirx\b")


def read_prim_func(context: Context, node: ast.FunctionDef, decorator: Decorator) -> PrimFunc:
    """Read a prim func. Free dimensions of its buffers are bound from the arguments' shapes."""
    text = context.source.text[context.span(node).start : context.span(node).end]
    head = context.source.text[:HEAD_LENGTH]
    facts = facts_of(node, text, is_tirx="tirx" in head and _TIRX.search(head) is not None)
    reader = TirExprReader(context, dtypes=declared_dtypes(context, node.body), facts=facts)
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
        raise context.unsupported(node, f"a parameter of `{node.name}` with a default, a star or by name only")
    body = TirBody(reader)
    params = [_scalar_or_handle(reader, argument) for argument in arguments.args]
    names = [argument.arg for argument in arguments.args]
    for place, argument in enumerate(arguments.args):
        if argument.arg in names[:place]:
            context.report("PA022", argument, f"the parameter `{argument.arg}` is there twice")
    for param, argument in zip(params, arguments.args, strict=True):
        if _is_buffer(reader, argument.annotation):
            _inline_buffer(body, param, argument)
    returned = _returns(reader, node)
    made = read_statements(body, node.body)
    places = {param: place for place, param in enumerate(params)}
    buffers = sorted(body.buffers, key=lambda item: places.get(item.handle, 0))
    return PrimFunc(
        tuple(params), tuple(buffers), _rooted(reader, made), body.attrs, decorator.is_private, returned,
        _is_s_tir(context, facts), span=context.span(node),
    )  # fmt: skip


def _is_s_tir(context: Context, facts: PrimFuncTraits) -> bool | None:
    """Tell whether schedules may change the function; `None` for a text that does not say it, of before 2026."""
    if facts.is_s_tir:
        return True if facts.is_latest else None
    return False if _is_lowered(context) else None


def _is_lowered(context: Context) -> bool:
    """Tell whether functions without `s_tir=True` are of 2026, where that means that no schedule changes them."""
    head = context.source.text[:HEAD_LENGTH]
    return "tirx" in head and "ir_module(s_tir=True" not in head


def _is_scalar(reader: TirReader, buffer: Buffer) -> bool:
    """Tell whether TVM 0.27 prints the element of a parameter's buffer by the buffer's name."""
    is_lowered = not reader.facts.is_s_tir and _is_lowered(reader.context)
    return is_lowered and len(buffer.shape) == 1 and is_number(buffer.shape[0], 1)


def _rooted(reader: TirReader, body: Stmt) -> Stmt:
    """Put buffers that are allocated outside of any block into a root block."""
    if not reader.allocated:
        return body
    return Block("root", (), body, alloc_buffers=tuple(reader.allocated), span=body.span)


def _returns(reader: TirReader, node: ast.FunctionDef) -> str | None:
    """Return the dtype of the declared result, `None` if there is none."""
    match node.returns:
        case None | ast.Constant(value=None):
            return None
        case returns if is_dtype(reader.name_of(returns)):
            return reader.name_of(returns)
        case returns:
            reader.context.report("PA007", returns, f"`{source_of(returns)}` is no type of the result of a prim func")
            return None


def _is_buffer(reader: TirReader, node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call | ast.Subscript) and reader.name_of(node) in ("Buffer", "match_buffer")


def _says_more(items: Sequence[ast.expr]) -> bool:
    """Tell `T.Buffer[(4, n), "int8"]` and `T.Buffer[4, "int8"]` from the mere shape of `T.Buffer[4, n]`."""
    is_text = len(items) > 1 and isinstance(items[1], ast.Constant) and isinstance(items[1].value, str)
    return is_text or any(isinstance(item, ast.Tuple | ast.List) for item in items)


def _scalar_or_handle(reader: TirReader, argument: ast.arg) -> PrimVar:
    """Make the parameter; a scalar is known by its name at once, so that buffers may use it before it stands."""
    context = reader.context
    node = argument.annotation
    span = context.span(argument)
    if _is_buffer(reader, node):
        return PrimVar(argument.arg, "handle", span=span)
    name = reader.name_of(node) if isinstance(node, ast.Attribute | ast.Call | ast.Subscript) else ""
    if name in POINTERS and node is not None:
        pointer = replace(variable(reader, argument.arg, node, None, argument), span=span)
        reader.scope.define(argument.arg, pointer)
        return pointer
    if not is_dtype(name):
        if node is None:
            context.report(
                "PA007", argument, f"the parameter `{argument.arg}` has no type", "write T.handle or T.Buffer(...)"
            )
        else:
            context.report("PA007", node, f"`{source_of(node)}` is no type of a parameter of a prim func")
        name = "handle"
    var = PrimVar(argument.arg, name, span=span)
    reader.scope.define(argument.arg, var)
    return var


def _inline_buffer(body: TirBody, param: PrimVar, argument: ast.arg) -> None:
    reader = body.reader
    node = argument.annotation
    try:
        match node:
            case ast.Call():
                buffer, values = read_buffer(reader, argument.arg, node)
                tell_unused(reader.context, node, values, UNUSED_OF_PARAMETER)
            case ast.Subscript(value=func, slice=ast.Tuple(elts=elts)) if _says_more(elts):
                buffer, _ = read_buffer(reader, argument.arg, ast.copy_location(ast.Call(func, elts, []), node))
            case ast.Subscript(value=func, slice=index):
                buffer, _ = read_buffer(reader, argument.arg, ast.copy_location(ast.Call(func, [index], []), node))
            case _:
                raise AssertionError(argument.arg)
    except Failed:
        reader.scope.define(argument.arg, POISONED)
        return
    if _is_scalar(reader, buffer):
        reader.facts.scalars.add(buffer)
    body.buffers.append(BufferParam(param, buffer, is_inline=True, span=reader.context.span(argument)))
    reader.scope.define(argument.arg, buffer)
