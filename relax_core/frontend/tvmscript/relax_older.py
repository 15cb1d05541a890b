"""Read annotations of 2022 that define symbolic dimensions: `z: Tensor((n, m), "float32") = relax.call_packed("f", x)`.

Later dialects write such a check of the run time as `R.match_cast`, and so it is read.
"""

import ast

from relax_core.frontend.tvmscript import relax_body
from relax_core.frontend.tvmscript.plain_types import written_out
from relax_core.frontend.tvmscript.relax_calls import match_cast
from relax_core.ir.expr import DataflowVar, MatchCast, Var, VarBinding

_NO_SYMBOLS = ("_", "R", "T", "relax", "tir")


def defines_symbols(body: "relax_body.Body", statement: ast.stmt) -> bool:
    """Tell whether an annotation has names that stand for nothing yet."""
    reader = body.reader
    if not isinstance(statement, ast.AnnAssign):
        return False
    dims = [item for item in ast.walk(statement.annotation) if isinstance(item, ast.Tuple | ast.List)]
    names = {item.id for dim in dims for item in ast.walk(dim) if isinstance(item, ast.Name)}
    types = reader.types()
    unknown = (name for name in names if name not in _NO_SYMBOLS and reader.scope.find(name) is None)
    return any(not types.is_type(ast.Name(name, ast.Load())) for name in unknown)


def read_matched(body: "relax_body.Body", statement: ast.stmt) -> None:
    """Bind the value, and match it with the type that is declared."""
    assert isinstance(statement, ast.AnnAssign)
    assert isinstance(statement.target, ast.Name)
    assert statement.value is not None
    reader, context, target = body.reader, body.reader.context, statement.target
    span = context.span(statement)
    statement.value = written_out(context, statement.value)
    matched = match_cast(reader, statement.value) if isinstance(statement.value, ast.Call) else None
    types = reader.types(defines=True)
    if matched is not None:
        value, type_ = matched
        var = relax_body.variable_of(body, target.id, types.read(statement.annotation), target, statement)
    else:
        made = reader.expr(statement.value)
        value = (Var if body.outputs is None else DataflowVar)(target.id, span=context.span(target))
        reader.bindings.append(VarBinding(value, made, span=span))
        type_ = types.read(statement.annotation)
        var = relax_body.variable_of(body, target.id, None, target, statement)
    reader.bindings.append(MatchCast(var, value, type_, span=span))
    reader.scope.define(target.id, var)
