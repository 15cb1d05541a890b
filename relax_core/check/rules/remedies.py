"""Mends of errors that the checks find: they are written into the text that a call or a function was read from."""

import ast
import re
from typing import Final

from relax_core.diagnostics import Mend, Remedy
from relax_core.ir.expr import Call, Function, Op, TupleType, Type
from relax_core.ops import find
from relax_core.ops.spec import Around
from relax_core.source import Span

_DECORATOR: Final = re.compile(r"@[\w.]*\bfunction\b(?P<given>\((?P<inside>[^()]*)\))?[ ]*(?:#[^\n]*)?\n[ ]*\Z")
_PURE: Final = re.compile(r"\bpure\s*=\s*True\b")


def around_operand(hint: Around, call: Call, arg_types: tuple[Type, ...]) -> str:
    """Let a hint know its mend, if the operand that it is about has a place in the text of the call."""
    found = _operand(call, _path(hint.operand, arg_types))
    if found is None:
        return hint
    place, module = found
    text = f"{module}.{hint.operator}({place.text}{hint.rest})"
    return Remedy(hint, Mend(place, text, f"Insert {module}.{hint.operator}"))


def as_impure(hint: str, function: Function) -> str:
    """Let the hint to declare side effects know its mend, where the decorator stands right above the function."""
    span = function.span
    found = None if span is None else _DECORATOR.search(span.source.text, max(0, span.start - 1000), span.start)
    if span is None or found is None:
        return hint
    if found["given"] is None:
        at = found.start() + len(found[0].split("#")[0].rstrip())
        start, end, text = at, at, "(pure=False)"
    elif declared := _PURE.search(found["inside"]):
        start, end = found.start("inside") + declared.start(), found.start("inside") + declared.end()
        text = "pure=False"
    else:
        start = end = found.end("inside")
        text = ", pure=False" if found["inside"].strip() else "pure=False"
    return Remedy(hint, Mend(Span(span.source, start, end), text, "Declare pure=False"))


def _path(operand: Type, arg_types: tuple[Type, ...]) -> tuple[int, ...] | None:
    """Return where the last argument of a type stands, or the field of a tuple; types are compared by identity."""
    for index in reversed(range(len(arg_types))):
        match arg_types[index]:
            case TupleType(fields=fields):
                inside = _path(operand, fields)
                if inside is not None:
                    return (index, *inside)
            case type_ if type_ is operand:
                return (index,)
            case _:
                pass
    return None


def _operand(call: Call, path: tuple[int, ...] | None) -> tuple[Span, str] | None:
    """Return the place of an operand in the text of a call, and what the text calls Relax."""
    span = call.span
    if path is None or span is None or not isinstance(call.op, Op):
        return None
    try:
        node = ast.parse(f"({span.text})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    module, found = "R", None
    match node:
        case ast.Call(func=ast.Attribute(attr=name) as func) if name == call.op.name.rpartition(".")[2]:
            module = ast.unparse(func).split(".")[0]
            found = _argument(node, call.op.name, path[0])
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            found = (left, right)[path[0]] if path[0] < 2 else None
        case _:
            pass
    if found is not None and len(path) > 1:
        fields = found.elts if isinstance(found, ast.Tuple | ast.List) else []
        found = fields[path[1]] if path[1] < len(fields) else None
    if found is None or isinstance(found, ast.Starred):
        return None
    return Span(span.source, _offset(span, found.lineno, found.col_offset), _end(span, found)), module


def _argument(node: ast.Call, name: str, index: int) -> ast.expr | None:
    if any(isinstance(item, ast.Starred) for item in node.args):
        return None
    if index < len(node.args):
        return node.args[index]
    spec = find(name)
    names = () if spec is None else tuple(param.name for param in spec.params)
    wanted = names[index] if index < len(names) else ""
    return next((item.value for item in node.keywords if item.arg == wanted), None)


def _end(span: Span, node: ast.expr) -> int:
    return _offset(span, node.end_lineno or node.lineno, node.end_col_offset or 0)


def _offset(span: Span, line: int, byte_column: int) -> int:
    """Return the place in the source of a place in the text of a span, which was parsed in brackets."""
    lines = f"({span.text})".split("\n")
    inside = len(lines[line - 1].encode()[:byte_column].decode())
    return span.start + sum(len(item) + 1 for item in lines[: line - 1]) + inside - 1
