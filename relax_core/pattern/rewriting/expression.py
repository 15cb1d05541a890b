"""Expressions of Relax as text, with names for what is there already."""

import ast
from collections.abc import Mapping

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.tvmscript.context import Context, Failed
from relax_core.frontend.tvmscript.relax.expr import RelaxExprReader
from relax_core.frontend.tvmscript.scope import ModuleScope, Scope
from relax_core.ir.expr import Expr, Type
from relax_core.ir.node import Node, children, map_children
from relax_core.ir.prim import PrimExpr
from relax_core.source import Source, Span


def read_expression(text: str, names: Mapping[str, Expr | PrimExpr]) -> Expr:
    """Read an expression such as `R.add(x, R.const(1, "float32"))`, in which `names` stand for expressions.

    Raises:
        CompileError: it is none.
    """
    source = Source("expression", text.strip())
    context, scope = Context(source), Scope()
    for name, value in names.items():
        scope.define(name, value)
    try:
        tree = ast.parse(source.text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = "the text is no expression of Python's grammar"
        raise CompileError((Diagnostic("PA001", message, Span(source, 0, len(source.text))),)) from error
    try:
        made = RelaxExprReader(context, ModuleScope("Module", {}), scope).expr(tree)
    except Failed:
        raise CompileError(context.diagnostics) from None
    if any(item.severity == "error" for item in context.diagnostics):
        raise CompileError(context.diagnostics)
    return without_places(made, source, {})


def without_places(made: Expr, source: Source, types: dict[Node, Type]) -> Expr:
    """Return a new expression without places in `source`, which are none in the program."""
    new_of: dict[Node, Node] = {}
    stack: list[tuple[Node, bool]] = [(made, False)]
    while stack:
        node, is_ready = stack.pop()
        if node in new_of:
            continue
        if node.span is None or node.span.source is not source:
            new_of[node] = node
        elif is_ready:
            rebuilt = map_children(node, new_of.__getitem__)
            # The constructor sets every field but the place.
            new = type(rebuilt)(*rebuilt.VALUES(rebuilt))
            new_of[node] = new
            if node in types:
                types[new] = types[node]
        else:
            stack.append((node, True))
            stack += [(item, False) for item in children(node)]
    result = new_of[made]
    assert isinstance(result, Expr), "an expression stays one"
    return result
