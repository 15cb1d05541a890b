"""Cut statements that are nested too deeply to be walked."""

import ast
import re
from typing import Any, cast

from relax_core.frontend.tvmscript.context import Context

_MARKS = b"([{.+-*/%@&|^~<>=!,:"
_GAPS = b" \t\"'"
_WORDS = ("not", "if", "lambda", "and", "or", "in", "is", "await", "yield", "for")
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)
_COMPOUND = (ast.For, ast.With, ast.If, ast.FunctionDef)
_LEAVES = (ast.Name, ast.Constant)
_FLAT_ABOVE = 20
"""Statements that may be nested deeper than this are examined in full."""
_HEADER_LEVELS = 3
"""Levels of a header without a mark of their own, such as the list of parameters."""
_STRING = re.compile(r'"[^"\\]*"')
_OTHER_STRING = re.compile(r"'|\\|\w\"\"")
"""A string that may hold marks, or an expression."""
_LEVELS = re.compile(rf"[()\[\]{{}},.+\-*/%@&|^~<>=!:]|\b(?:{'|'.join(_WORDS)})\b")
"""What stands for a level, and what parts levels."""
_MANY = re.compile(rf"^ *+(?:[^{re.escape((_MARKS + _GAPS).decode())}\n]*+.){{28}}", re.MULTILINE)
"""A line with so many marks and gaps that their number alone does not show that it is flat."""


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


def _full_lines(context: Context) -> frozenset[int]:
    """Return the lines with many marks and gaps."""
    script = context.plain_text or context.script
    return frozenset(context.source.line_column(found.start())[0] for found in _MANY.finditer(script))


def _is_flat(context: Context, statement: ast.stmt, limit: int, full: frozenset[int]) -> bool:
    """Tell from its text alone whether a line cannot be deep: each level takes a mark or a word.

    A line is a whole statement, or the header of one whose body begins on the next line.
    """
    if isinstance(statement, _SIMPLE):
        is_on_one_line = statement.lineno == statement.end_lineno
    else:
        limit -= _HEADER_LEVELS
        is_on_one_line = isinstance(statement, _COMPOUND) and statement.body[0].lineno == statement.lineno + 1
    if not is_on_one_line or statement.lineno not in full:
        return is_on_one_line
    starts = context.source.line_starts
    start = starts[statement.lineno - 1] + (statement.col_offset if context.is_ascii else 0)
    end = starts[statement.lineno] if statement.lineno < len(starts) else len(context.source.text)
    script = context.plain_text or context.script
    return _has_few_levels(script[start:end], limit)


def _has_few_levels(line: str, limit: int) -> bool:
    text = line.encode(errors="replace")
    marks = len(text) - len(text.translate(None, _MARKS))
    # A mark or a gap stands behind each of the words, which take longer to count.
    if 2 * marks + len(text) - len(text.translate(None, _GAPS)) < limit:
        return True
    return marks + sum(map(line.count, _WORDS)) < limit or nested_levels(line) < limit


def nested_levels(line: str) -> int:
    """Bound the levels of a line by those in each of its brackets: what stands side by side is not nested.

    A bracket takes a level for itself, one for a tuple in it, and those of its part with most marks and words.
    """
    text = _STRING.sub('""', line)
    if _OTHER_STRING.search(text) is not None:
        return len(line)
    deepest, marks, inside = 0, 0, 0
    stack: list[tuple[int, int, int]] = []
    for mark in _LEVELS.findall(text):
        if mark in "([{":
            stack.append((deepest, marks, inside))
            deepest = marks = inside = 0
        elif mark in ")]}" and stack:
            found = max(deepest, marks + inside) + 2
            deepest, marks, inside = stack.pop()
            inside = max(inside, found)
        elif mark == ",":
            deepest, marks, inside = max(deepest, marks + inside), 0, 0
        else:
            marks += 1
    # What is left open goes on on the next line.
    return len(line) if stack else max(deepest, marks + inside) + 1


def _deep_statements(context: Context, tree: ast.Module, limit: int) -> list[ast.stmt]:
    found: dict[ast.stmt, None] = {}
    full = _full_lines(context)
    stack: list[tuple[ast.AST, int, ast.stmt | None, bool]] = [(tree, 0, None, False)]
    while stack:
        node, depth, statement, is_header_flat = stack.pop()
        if depth > limit and statement is not None:
            found[statement] = None
            continue
        for item in _blocks(node) if is_header_flat else _parts(node):
            if isinstance(item, ast.stmt):
                is_flat = depth + 1 <= _FLAT_ABOVE and _is_flat(context, item, limit - _FLAT_ABOVE, full)
                if not is_flat or isinstance(item, _COMPOUND):
                    stack.append((item, depth + 1, item, is_flat))
            elif not isinstance(item, _LEAVES) or depth + 2 > limit:
                is_chain = isinstance(node, ast.BinOp) and item is node.left and isinstance(item, ast.BinOp)
                stack.append((item, depth if is_chain else depth + 1, statement, False))
    return list(found)


def _blocks(statement: ast.AST) -> list[ast.AST]:
    """Return the parts of a statement with a flat header that are still to be examined."""
    match statement:
        case ast.FunctionDef(decorator_list=decorators, body=body):
            return [*decorators, *body]
        case ast.For(body=body, orelse=other) | ast.If(body=body, orelse=other):
            return [*body, *other]
        case ast.With(body=body):
            return [*body]
        case _:
            return []


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
