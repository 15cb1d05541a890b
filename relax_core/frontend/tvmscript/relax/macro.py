"""Macros of Relax, `@R.macro`: their statements are read as data in the place of each call."""

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from relax_core.frontend.tvmscript.context import Failed, source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.scope import Scope
from relax_core.frontend.tvmscript.tir.macro import bound_arguments, is_hygienic

MAX_STATEMENTS = 10_000


def call_in(reader: RelaxReader, statement: ast.stmt) -> tuple[ast.Call, ast.FunctionDef] | None:
    """Return the call of a macro that is the value of a statement, and the macro."""
    match statement:
        case (
            ast.Assign(value=ast.Call(func=ast.Name(id=name)) as call)
            | ast.AnnAssign(value=ast.Call(func=ast.Name(id=name)) as call)
            | ast.Return(value=ast.Call(func=ast.Name(id=name)) as call)
            | ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call)
        ) if name in reader.context.macros and reader.scope.find(name) is None:
            node = reader.context.macros[name]
            decorator = node.decorator_list[0]
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            return (call, node) if qualified(func, reader.context.aliases) == "relax.macro" else None
        case _:
            return None


def expand(reader: RelaxReader, call: ast.Call, node: ast.FunctionDef) -> tuple[RelaxReader, Sequence[ast.stmt]]:
    """Return the statements that a call stands for, and a reader of them in a scope of their own.

    Parameters are names for the arguments; a literal stands in their place.
    """
    context = reader.context
    if node.name in reader.macros:
        raise context.unsupported(call, f"`{source_of(call)}`, a macro that calls itself,")
    was_within = context.expanded <= MAX_STATEMENTS
    context.expanded += sum(1 for item in ast.walk(node) if isinstance(item, ast.stmt))
    if context.expanded > MAX_STATEMENTS:
        if was_within:
            words = f"`{source_of(call)}`, which makes more than {MAX_STATEMENTS} statements,"
            raise context.unsupported(call, words)
        raise Failed(node.name)
    if node.args.vararg is not None or node.args.kwarg is not None:
        raise context.unsupported(node, f"`{node.name}`, a macro of Relax with `*` or `**` among its parameters,")
    scope = (Scope() if is_hygienic(context, node) else reader.scope).inner()
    literals: dict[str, ast.expr] = {}
    for name, value in bound_arguments(context, node, call).items():
        if isinstance(value, ast.Constant):
            literals[name] = value
        else:
            scope.define(name, reader.expr(value))
    writer = _Written(literals)
    statements = [writer.visit(copy.deepcopy(item)) for item in node.body]
    return replace(reader, scope=scope, macros=(*reader.macros, node.name)), statements


class _Written(ast.NodeTransformer):
    """Writes literals in the place of the parameters that stand for them."""

    def __init__(self, literals: Mapping[str, ast.expr]) -> None:
        self.literals = literals

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.literals.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else ast.copy_location(copy.copy(value), node)
