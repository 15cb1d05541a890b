"""Mends that need the statements around a problem: a declaration, an output of a dataflow block, a decorator."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from relax_core.diagnostics import Mend, Remedy
from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.names import qualified
from relax_core.source import Span

_CLOSING: Final = MappingProxyType({"(": ")", "[": "]", "{": "}"})
_DECLARED: Final = "a dimension that is first met here is declared before"
_GAP: Final = re.compile(r"(?<=\S) +(?=\S)")


def offer_mends(context: Context, tree: ast.Module) -> None:
    """Let the hints of errors know what mends them, where the statements around decide that."""
    if context.plain:
        tree = ast.parse(context.script)
    for index, said in enumerate(context.diagnostics):
        find = _FINDERS.get(said.code)
        if find is None or said.span is None or said.knowing is not None or said.severity != "error":
            continue
        mend = find(context, tree, said.span)
        if mend is not None:
            context.diagnostics[index] = replace(said, hint=Remedy(said.hint or _DECLARED, mend))


def mend_of_syntax(span: Span, message: str, end: int) -> Mend | None:
    """Return what mends a syntax error from a span to `end`, if its line shows that; Python's words say which it is."""
    source, (line, column) = span.source, (span.line, span.column)
    code = source.line_text(line).split("#")[0].rstrip()
    behind = source.offset(line, len(code) + 1)
    if message == "expected ':'":
        if column <= len(code) and not code[column - 1 :].strip():
            return None
        place = min(span.start, behind)
        return _inserted(span, place - len(source.text[:place]) + len(source.text[:place].rstrip()), ":", "Add :")
    if message.endswith("was never closed"):
        closing = _closing(code[column - 1 :])
        if closing and _is_statement(code + closing):
            return _inserted(span, behind, closing, f"Add {closing}")
    if "forgot a comma" in message:
        gaps = [found.start() for found in _GAP.finditer(code, column - 1, column - 1 + end - span.start)]
        fitting = [gap for gap in gaps if _is_statement(f"{code[:gap]},{code[gap:]}")]
        if len(fitting) == 1:
            return _inserted(span, source.offset(line, fitting[0] + 1), ",", "Add a comma")
    return None


def _inserted(span: Span, at: int, text: str, title: str) -> Mend:
    return Mend(Span(span.source, at, at), text, title)


def _closing(code: str) -> str:
    """Return the brackets that close those that are open at the end of a line without strings."""
    opened: list[str] = []
    for character in re.sub(r"\"[^\"]*\"|'[^']*'", "", code):
        if character in _CLOSING:
            opened.append(_CLOSING[character])
        elif opened and character == opened[-1]:
            opened.pop()
    return "".join(reversed(opened))


def _is_statement(code: str) -> bool:
    """Tell whether a line is a statement, or the head of one."""
    code = code.strip()
    try:
        ast.parse(f"{code} pass" if code.endswith(":") else code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _around(context: Context, tree: ast.Module, span: Span) -> tuple[ast.stmt, ...]:
    """Return the statements around a place from the outside in."""
    found: list[ast.stmt] = []
    inside: ast.AST | None = tree
    while inside is not None:
        inside = next((item for item in _statements(inside) if _holds(context, item, span)), None)
        found += [inside] if inside is not None else []
    return tuple(found)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for name in ("body", "orelse"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield from (item for item in body if isinstance(item, ast.stmt))  # pyright: ignore[reportUnknownVariableType]  # a list of syntax


def _holds(context: Context, node: ast.stmt, span: Span) -> bool:
    return context.span(node).holds(span)


def _name_of(context: Context, module: str, usual: str) -> str:
    """Return what a text calls `tvm.script.relax`, `tir` or `ir`."""
    return next((alias for alias, known in context.aliases.items() if known == module), usual)


def _before(context: Context, node: ast.stmt, line: str, title: str) -> Mend:
    """Write a line of its own before a statement or a definition."""
    place = context.span(node)
    margin = " " * (place.column - 1)
    return _inserted(place, place.start, f"{line}\n{margin}", title)


def _name(context: Context, tree: ast.Module, span: Span) -> Mend | None:
    """Mend an undefined name: declare it as a dimension, or give it out of its dataflow block."""
    around = _around(context, tree, span)
    function = next((item for item in around if isinstance(item, ast.FunctionDef)), None)
    if function is None:
        return None
    if all(item.span != span for item in context.undefined):
        return _output(context, function, span)
    if not _is_matched(context, around[-1], span.text):
        return None
    words = f"{span.text} = {_name_of(context, 'tir', 'T')}.int64()"
    return _before(context, around[-1], words, f"Declare {span.text}")


def _is_matched(context: Context, statement: ast.stmt, name: str) -> bool:
    """Tell whether a statement is a match_cast that gives a dimension of this name its value."""
    match statement:
        case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
            pass
        case _:
            return False
    if qualified(call.func, context.aliases) != "relax.match_cast":
        return False
    types = [*call.args[1:], *(item.value for item in call.keywords)]
    lists = (item for type_ in types for item in ast.walk(type_) if isinstance(item, ast.Tuple | ast.List))
    return any(isinstance(dim, ast.Name) and dim.id == name for item in lists for dim in item.elts)


def _output(context: Context, function: ast.stmt, use: Span) -> Mend | None:
    """List a variable in the R.output(...) of the dataflow block before its use."""
    blocks = [
        item
        for item in ast.walk(function)
        if isinstance(item, ast.With) and context.span(item).end <= use.start and use.text in _assigned(item)
    ]
    if not blocks:
        return None
    block = max(blocks, key=lambda item: item.lineno)
    match last := block.body[-1]:
        case ast.Expr(value=ast.Call(func=func, args=args) as call) if qualified(func, context.aliases) in (
            "relax.output",
            "relax.outputs",
        ):
            end = context.span(call).end - 1
            head = use.source.text[context.span(func).end : end].rstrip()
            comma = "" if not args or head.endswith(",") else ", "
            return _inserted(use, end, f"{comma}{use.text}", f"Add {use.text} to R.output")
        case _:
            # One line for all that are used behind the block: each of them has the same mend.
            place = context.span(last)
            used = {item.id for item in _names(function, ast.Load) if context.span(item).start > place.end}
            outputs = ", ".join(name for name in _assigned(block) if name in used)
            words = f"{_name_of(context, 'relax', 'R')}.output({outputs})"
            return _inserted(use, place.end, f"\n{' ' * (place.column - 1)}{words}", f"Write {words}")


def _assigned(block: ast.With) -> list[str]:
    """Return the names that the statements of a dataflow block assign, in the order of the text."""
    return list(dict.fromkeys(item.id for item in _names(block, ast.Store)))


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[ast.Name]:
    found = [item for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, context)]
    return sorted(found, key=lambda item: (item.lineno, item.col_offset))


def _decorator(context: Context, tree: ast.Module, span: Span) -> Mend | None:
    """Write the decorator that a function lacks, if the types of its parameters say which."""
    around = _around(context, tree, span)
    match around[-1] if around else None:
        case ast.FunctionDef(decorator_list=[]) as function if context.span(function) == span:
            pass
        case _:
            return None
    typed = [item.annotation for item in function.args.args if item.annotation is not None]
    typed += [] if function.returns is None else [function.returns]
    names = {qualified(item.func if isinstance(item, ast.Call) else item, context.aliases) or "" for item in typed}
    dialects = {name.split(".")[0] for name in names}
    if dialects == {"relax"}:
        words = f"@{_name_of(context, 'relax', 'R')}.function"
    elif dialects == {"tir"}:
        words = f"@{_name_of(context, 'tir', 'T')}.prim_func"
    else:
        return None
    return _before(context, function, words, f"Write {words}")


def _module(context: Context, tree: ast.Module, span: Span) -> Mend | None:
    """Write the decorator that a class lacks."""
    for item in tree.body:
        if isinstance(item, ast.ClassDef) and not item.decorator_list and context.span(item) == span:
            words = f"@{_name_of(context, 'ir', 'I')}.ir_module"
            return _before(context, item, words, f"Write {words}")
    return None


_Finder = Callable[[Context, ast.Module, Span], Mend | None]
_FINDERS: Final = MappingProxyType[str, _Finder]({"RS001": _name, "PA015": _module, "PA016": _decorator})
