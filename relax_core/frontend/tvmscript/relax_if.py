"""Read conditionals of Relax functions."""

import ast

from relax_core.frontend.tvmscript import relax_body
from relax_core.frontend.tvmscript.context import Failed
from relax_core.ir.expr import DataflowVar, If, MatchCast, SeqExpr, Var, VarBinding
from relax_core.ir.prim import PrimVar
from relax_core.ir.types import PrimType, Type


def read_if(body: "relax_body.Body", statement: ast.If, *, is_last: bool) -> None:
    """Read a conditional: both branches end by assigning the same name, or, at the end of a function, by `return`."""
    reader, context = body.reader, body.reader.context
    condition = reader.expr(statement.test)
    branches: list[tuple[SeqExpr, str | None, Type | None]] = []
    for statements in (statement.body, statement.orelse):
        if not statements:
            hint = "add an else branch that assigns the same name"
            raise context.fail("PA013", statement, "both branches of a conditional give a value", hint)
        branches.append(_branch(body, statements))
    (true_branch, name, annotation), (false_branch, other, other_annotation) = branches
    if name != other:
        words = [f"`{item}`" if item else "a return" for item in (name, other)]
        message = f"the branches end with {words[0]} and {words[1]}"
        raise context.fail("PA013", statement, message, "let the last statement of both assign the same name")
    made = If(condition, true_branch, false_branch, span=context.span(statement))
    if name is None:
        if not is_last:
            raise context.fail("PA013", statement, "branches that return stand at the end of a function")
        body.result = made
        return
    span = context.span(statement)
    outputs = body.outputs
    is_local = outputs is not None and outputs.get(name) is not statement
    declared = annotation if annotation is not None else other_annotation
    var = (DataflowVar if is_local else Var)(name, declared, span=span)
    reader.bindings.append(VarBinding(var, made, span=span))
    reader.prims.note(var, made)
    reader.scope.define(name, var)


def _branch(body: "relax_body.Body", statements: list[ast.stmt]) -> tuple[SeqExpr, str | None, Type | None]:
    """Read a branch; return its value, the name that its last statement assigns, and the type declared there."""
    context = body.reader.context
    inner = relax_body.Body(body.reader.inner(), ret=body.ret)
    span = context.span(statements[0]).to(context.span(statements[-1]))
    relax_body.read_statements(inner, statements)
    bindings = inner.reader.bindings
    if inner.failed:
        raise Failed
    if inner.result is not None:
        inner.flush()
        return SeqExpr(tuple(inner.blocks), inner.result, span=span), None, None
    names = relax_body.assigned_names(statements[-1])
    match bindings[-1] if bindings else None:
        case VarBinding(var=var, value=value) if var.name != "_":
            bindings.pop()
            inner.flush()
            return SeqExpr(tuple(inner.blocks), value, span=span), var.name, var.annotation
        case MatchCast(var=var, value=value, type=PrimType(value=PrimVar(span=span_of_symbol))) if (
            span_of_symbol is not None and span_of_symbol == var.span
        ):
            # The symbol is of the name that the branch assigns, and nothing in the branch computes with it.
            bindings.pop()
            inner.flush()
            return SeqExpr(tuple(inner.blocks), value, span=span), var.name, None
        case MatchCast(var=var) if var.name != "_":
            inner.flush()
            return SeqExpr(tuple(inner.blocks), var, span=span), var.name, None
        case None if len(inner.blocks) > 0 and isinstance(statements[-1], ast.With):
            given = [name for name in names if isinstance(inner.reader.scope.names.get(name), Var)]
            if len(given) == 1 and isinstance(var := inner.reader.scope.names[given[0]], Var):
                return SeqExpr(tuple(inner.blocks), var, span=span), given[0], None
        case _:
            pass
    raise context.fail("PA013", statements[-1], "a branch ends by assigning its value to a name")
