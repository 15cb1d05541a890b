"""Cut statements that are nested too deeply to be walked."""

import ast
from typing import Any, cast

from relax_core.frontend.tvmscript.context import Context

_MARKS = b"([{.+-*/%@&|^~<>=!,:"
_GAPS = b" \t\"'"
_WORDS = ("not", "if", "lambda", "and", "or", "in", "is", "await", "yield", "for")
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_LEAVES = (ast.Name, ast.Constant)
_FLAT_ABOVE = 20
"""Statements nested deeper than this are looked at in full."""


def without_deep_statements(context: Context, tree: ast.Module, limit: int) -> ast.Module:
    """Report expressions nested deeper than `limit` and cut the statements that hold them.

    A chain `a + b + c` leans to the left and counts as one level.
    """
    deep = _deep_statements(context, tree, limit)
    if not deep:
        return tree
    for statement in deep:
        context.report("PA003", statement, "the statement is nested too deeply", "give names to its parts")
    _Cutter(context, set(deep)).visit(tree)
    return tree


def _is_flat(context: Context, statement: ast.stmt, limit: int) -> bool:
    """Tell from its text alone that a statement on one line cannot be deep: each level takes a mark or a word."""
    if not isinstance(statement, _SIMPLE):
        return False
    if statement.lineno != statement.end_lineno:
        return False
    line = context.source.line_text(statement.lineno)
    if len(line) <= limit:
        return True
    text = line.encode(errors="replace")
    marks = len(text) - len(text.translate(None, _MARKS))
    # A mark or a gap stands behind each of the words, which take longer to count.
    if 2 * marks + len(text) - len(text.translate(None, _GAPS)) < limit:
        return True
    return marks + sum(map(line.count, _WORDS)) < limit


def _deep_statements(context: Context, tree: ast.Module, limit: int) -> list[ast.stmt]:
    found: dict[ast.stmt, None] = {}
    stack: list[tuple[ast.AST, int, ast.stmt | None]] = [(tree, 0, None)]
    while stack:
        node, depth, statement = stack.pop()
        if depth > limit and statement is not None:
            found[statement] = None
            continue
        for item in _parts(node):
            if isinstance(item, ast.stmt):
                if depth + 1 > _FLAT_ABOVE or not _is_flat(context, item, limit - _FLAT_ABOVE):
                    stack.append((item, depth + 1, item))
            elif not isinstance(item, _LEAVES) or depth + 2 > limit:
                is_chain = isinstance(node, ast.BinOp) and item is node.left and isinstance(item, ast.BinOp)
                stack.append((item, depth if is_chain else depth + 1, statement))
    return list(found)


def _parts(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    value: Any
    for value in vars(node).values():
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [item for item in cast("list[object]", value) if isinstance(item, ast.AST)]
    return found


class _Cutter(ast.NodeTransformer):
    """Replaces statements by `pass` as recovery from a syntax error does."""

    def __init__(self, context: Context, deep: set[ast.stmt]) -> None:
        self.context = context
        self.deep = deep

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr):
            return node
        if not isinstance(node, ast.stmt) or node not in self.deep:
            return self.generic_visit(node)
        names = [item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
        self.context.cut_names[node.lineno] = tuple(dict.fromkeys(names))
        return ast.copy_location(ast.Pass(), node)
