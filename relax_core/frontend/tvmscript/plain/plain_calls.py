"""Read calls in their canonical spelling, `R.take(x, lv, axis=0, mode="fast")`, by regular expressions.

Whatever takes more than its words to be read, or to be reported, is left to the syntax tree.
"""

import ast
import re

from relax_core.frontend.tvmscript.literal.constants import scalar_constant
from relax_core.frontend.tvmscript.literal.values import Items, Literal
from relax_core.frontend.tvmscript.plain import plain_patterns
from relax_core.frontend.tvmscript.plain.plain_words import LITERAL_WORDS, WORD
from relax_core.frontend.tvmscript.relax.calls import RENAMED, is_read_by_schema
from relax_core.frontend.tvmscript.relax.coerce import ints_argument, literal_argument
from relax_core.frontend.tvmscript.relax.op_calls import placed
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.ir.expr import Call, DataTypeImm, Expr, Op, ShapeExpr, Var
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ops import find
from relax_core.ops.spec import Param
from relax_core.source import Span

_OF_VARIABLES = ("tensor", "expr", "shape")
"""Kinds of parameters that take a variable as it is."""
_MODULE = "cls."
_INT = re.compile(r"-?\d++", re.ASCII)


def plain_call(reader: RelaxReader, node: ast.expr) -> Call | None:
    """Read the call that a name abbreviates; `None` for any other expression, or if its words do not suffice."""
    words = reader.context.plain.get(node.id) if isinstance(node, ast.Name) else None
    if words is None or reader.context.is_2022:
        return None
    head = words.index("(")
    if words.startswith(_MODULE):
        return _function_call(reader, node, words[len(_MODULE) : head], words[head:])
    name = f"relax.{words[2:head]}"
    name = RENAMED.get(name, name)
    spec = find(name) if is_read_by_schema(reader, name) else None
    if spec is None:
        return None
    found = list(plain_patterns.ARGUMENT.finditer(words, head + 1))
    named = {item["name"]: item for item in found if item["name"]} if "=" in words else {}
    positional = found[: len(found) - len(named)] if named else found
    span = reader.context.span(node)
    if positional and positional[-1]["name"]:
        # A keyword is given twice.
        return None
    written, lacking, used = placed(spec, positional, named)
    if lacking is not None or used < len(found):
        return None
    args: list[Expr] = []
    source, start, _ = span
    for item in written:
        made = item if isinstance(item, Expr) else _argument(reader, *item, start)
        if made is None:
            return None
        args.append(made)
    return Call(Op(spec.name, span=Span(source, start, start + head)), tuple(args), span=span)


def _function_call(reader: RelaxReader, node: ast.expr, name: str, arguments: str) -> Call | None:
    """Read the call of a function of the module with variables for arguments."""
    callee = reader.module.functions.get(name) if reader.is_module(_MODULE[:-1]) else None
    args = [reader.scope.find(word) for word in WORD.findall(arguments)]
    known = tuple(item for item in args if isinstance(item, Var))
    if callee is None or len(known) < len(args):
        return None
    return Call(callee, known, span=reader.context.span(node))


def _argument(reader: RelaxReader, found: re.Match[str], param: Param, start: int) -> Expr | None:
    """Read an argument of the call that begins at `start`."""
    if found.lastgroup == "word" and (word := found["word"]) not in LITERAL_WORDS:
        known = reader.scope.find(word) if param.kind in _OF_VARIABLES else None
        return known if isinstance(known, Var) else None
    first = found.start() if found["name"] is None else found.end("name") + 1
    span = Span(reader.context.source, start + first, start + found.end())
    match found.lastgroup:
        case "word":
            return literal_argument(Literal(LITERAL_WORDS[found["word"]], span), param)
        case "literal":
            return literal_argument(Literal(_value(found["literal"]), span), param)
        case "dtype":
            return scalar_constant(_number(found["number"]), found["dtype"], span)
        case "type":
            return DataTypeImm(found["type"], span=span) if is_dtype(found["type"]) else None
        case "shape":
            dims = [_dim(reader, item, start) for item in WORD.finditer(found.string, *found.span("shape"))]
            known = tuple(item for item in dims if item is not None)
            return ShapeExpr(known, span=span) if len(known) == len(dims) else None
        case _:
            items = _INT.finditer(found.string, *found.span("ints"))
            values = (Literal(int(item[0]), _span(reader, item, start)) for item in items)
            return ints_argument(Items(tuple(values), span), param)


def _value(text: str) -> int | float | str:
    return text[1:-1] if text.startswith('"') else _number(text)


def _number(text: str) -> int | float:
    return float(text) if "." in text or "e" in text else int(text)


def _dim(reader: RelaxReader, found: re.Match[str], start: int) -> PrimExpr | None:
    word = found[0]
    if word.isdigit():
        return IntImm(int(word), "int64", span=_span(reader, found, start))
    known = reader.scope.find(word)
    return known if isinstance(known, PrimVar) and known.dtype == "int64" else None


def _span(reader: RelaxReader, found: re.Match[str], start: int) -> Span:
    return Span(reader.context.source, start + found.start(), start + found.end())
