"""Read expressions that only TIR has: buffers and lists as arguments, reducers, lets, methods of buffers."""

import ast
import re

from relax_core.frontend.tvmscript.tir_arguments import given
from relax_core.frontend.tvmscript.tir_buffer_methods import read_attribute, read_item, read_method
from relax_core.frontend.tvmscript.tir_reader import TirReader
from relax_core.frontend.tvmscript.unread import read_arguments, refuse_repeated, tell_arguments
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
    dtype_of,
)
from relax_core.ir.tir import BufferRef


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
            case ast.Attribute(value=ast.Name() as name, attr=attr):
                buffer = self.known_buffer(name)
                return None if buffer is None else read_attribute(self, buffer, attr, node)
            case ast.Subscript(value=ast.Attribute(value=name) | ast.Call(func=ast.Attribute(value=name))):
                buffer = self.known_buffer(name)
                return None if buffer is None else read_item(self, buffer, node)
            case ast.List(elts=items):
                return PrimList(tuple(self.argument(item) for item in items), span=span)
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


def _handle_type(reader: TirReader, node: ast.Call) -> PrimExpr:
    """Read `T.handle().ty` or `T.handle("int8", "global").ty` among the arguments of a call."""
    span = reader.context.span(node)
    read_arguments(reader.context, node, ("dtype", "storage_scope"))
    if not node.args:
        return StringImm("handle", span=span)
    return Intrinsic(POINTER_TYPE, tuple(reader.argument(item) for item in node.args[:2]), "handle", span=span)


def _global_call(reader: TirReader, node: ast.Call) -> PrimExpr | None:
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
    tell_arguments(reader.context, node, None)
    args = (StringImm(name), *(reader.argument(item) for item in node.args))
    return Intrinsic(GLOBAL, args, "int32", span=reader.context.span(node))


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
        case "":
            return _global_call(reader, node)
        case _:
            return None


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
