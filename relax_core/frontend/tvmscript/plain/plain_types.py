"""Read types and calls in their canonical spelling, `R.Tensor((n, 4), dtype="float32")`, by regular expressions.

Such types of variables and parameters, and the values of such variables, would be most of the syntax tree. Before a
text is parsed, each is replaced by a name of the same length, so that all positions stay. The type is then read from
the words of the text, and so is the call, by `plain_calls`.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain import plain_patterns
from relax_core.frontend.tvmscript.plain.plain_words import (
    NAME,
    WORD,
    is_call_spelt,
    is_type_spelt,
)
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.ir.expr import TensorType, TupleType, Type
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.source import Source, Span

_MARK = "_plain"
_FIELD = re.compile(
    r'R\.Tensor\((?:\((?P<dims>[^()]*)\), (?:dtype=)?)?(?:dtype=)?"(?P<dtype>\w+)"(?:, ndim=(?P<ndim>\d+))?\)'
)
_SHAPE = re.compile(r"R\.shape\(\[([^\]]*)\]\)")
_NAME = re.compile(rf"\b{NAME}", re.ASCII)
_NOT_INSIDE = ('"""', "'''", "\\\n")
"""What lets a string continue over lines; a text is abbreviated only behind the last of them."""


@dataclass(slots=True)
class Abbreviated:
    """A text in which names abbreviate plain types and calls; `words` maps each name to what it abbreviates."""

    text: str
    words: dict[str, str] = field(default_factory=dict[str, str])
    name_of: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def name(self, words: str, is_spelt: Callable[[str], bool] = is_type_spelt) -> str | None:
        """Return the abbreviation of a type or call, of equal length; `None` if a word in it is reserved."""
        if words not in self.name_of:
            name = f"{_MARK}{len(self.words)}".ljust(len(words), "_")
            is_made = len(name) == len(words) and is_spelt(words)
            self.name_of[words] = name if is_made else None
            if is_made:
                self.words[name] = words
        return self.name_of[words]

    def binding(self, found: re.Match[str]) -> str:
        """Return a binding with names for its type and, if it is a plain call, its value."""
        head, words, equals, value = found.groups()
        type_ = self.name(words)
        if type_ is None or value is None:
            return found[0] if type_ is None else head + type_ + equals
        return head + type_ + equals + (self.name(value, is_call_spelt) or value)

    def result(self, found: re.Match[str]) -> str:
        """Return what stands before and in the type of a result, with a name for the type."""
        return found[1] + (self.name(found[2]) or found[2])

    def effect(self, found: re.Match[str]) -> str:
        """Return a line that is a call for its effect with a name for the call."""
        return found[1] + (self.name(found[2], is_call_spelt) or found[2])

    def header(self, found: re.Match[str]) -> str:
        """Return the head of a function with names for its types."""
        return plain_patterns.IN_HEADER.sub(lambda item: item[1] + (self.name(item[2]) or item[2]), found[0])


def abbreviate(text: str) -> Abbreviated:
    """Abbreviate the plain types and calls of bindings, calls for their effect, and the plain types in headers.

    Strings are never touched: a line can begin inside one only before the last triple quote or continued line. Inside a
    bracket, where no binding can occur, the text is invalid Python with the abbreviation as without it.
    """
    made = Abbreviated(text)
    if _MARK in text:
        return made
    start = text.find("\n", max(map(text.rfind, _NOT_INSIDE)) + 2) if any(item in text for item in _NOT_INSIDE) else 0
    if start < 0:
        return made
    rest = text[start:]
    for pattern, abbreviated in (
        (plain_patterns.BINDING, made.binding),
        (plain_patterns.RESULT, made.result),
        (plain_patterns.EFFECT, made.effect),
        (plain_patterns.HEADER, made.header),
    ):
        rest = pattern.sub(abbreviated, rest)
    made.text = text[:start] + rest
    return made


def plain_type(source: Source, symbol: Callable[[str, int], PrimVar | None], words: str, start: int) -> Type | None:
    """Read the plain type that stands at `start`; `None` if a dimension or a dtype takes more than its word.

    `symbol(name, place)` gives the symbolic dimension that a name stands for.
    """
    fields: list[TensorType] = []
    for item in _FIELD.finditer(words):
        dims: list[PrimExpr] = []
        for dim in WORD.finditer(words, *item.span("dims")) if item["dims"] else ():
            if (word := dim[0]).isdigit():
                dims.append(IntImm(int(word), "int64", span=Span(source, start + dim.start(), start + dim.end())))
            elif (found := symbol(word, start + dim.start())) is not None:
                dims.append(found)
            else:
                return None
        if not is_dtype(item["dtype"]):
            return None
        if item["ndim"] is not None:
            fields.append(TensorType(None, item["dtype"], int(item["ndim"])))
        else:
            fields.append(TensorType(tuple(dims), item["dtype"]))
    return fields[0] if is_plain_tensor(words) else TupleType(tuple(fields))


def plain_dims(words: str) -> list[str]:
    """Return the names of the symbolic dimensions of a plain type."""
    return [name for item in _FIELD.finditer(words) for name in _NAME.findall(item["dims"] or "")]


def dims_in(words: str) -> list[str]:
    """Return the names of the symbolic dimensions of a plain type, or of the shapes that a plain call is given."""
    return [*plain_dims(words), *(name for item in _SHAPE.finditer(words) for name in _NAME.findall(item[1]))]


def names_in(words: str) -> set[str]:
    """Return the names in a plain type, and the words that its dtypes are."""
    return {"R", *plain_dims(words), *(item["dtype"] for item in _FIELD.finditer(words))}


def is_plain_tensor(words: str) -> bool:
    """Tell whether a plain type is that of a tensor rather than of a tuple."""
    return words.startswith("R.Tensor")


def plain_dtype(words: str) -> str | None:
    """Return the dtype of a plain type of a tensor; `None` for a tuple, or a word that is no dtype."""
    found = _FIELD.fullmatch(words)
    return found["dtype"] if found is not None and is_dtype(found["dtype"]) else None


def written_out(context: Context, node: ast.expr) -> ast.expr:
    """Return the syntax tree of an abbreviated type or call at its place; another expression stays."""
    words = context.plain.get(node.id) if isinstance(node, ast.Name) else None
    if words is None:
        return node
    made = ast.parse(words, mode="eval").body
    for item in ast.walk(made):
        if isinstance(item, ast.expr | ast.keyword):
            item.lineno = item.end_lineno = node.lineno
            item.col_offset += node.col_offset
            item.end_col_offset = (item.end_col_offset or 0) + node.col_offset
    return made


def write_out_others(context: Context, statements: Sequence[ast.stmt], *, is_all: bool) -> None:
    """Write out what is abbreviated in all statements but Relax functions, which are read by their words; or in all."""
    if not context.plain:
        return
    writer = _Writer(context)
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            write_out_others(context, statement.body, is_all=is_all)
        elif (is_all or not _is_relax(context.aliases, statement)) and _has_some(context, statement):
            writer.visit(statement)


def _has_some(context: Context, statement: ast.stmt) -> bool:
    starts = context.source.line_starts
    last = statement.end_lineno or statement.lineno
    end = starts[last] if last < len(starts) else len(context.plain_text)
    return context.plain_text.find(_MARK, starts[statement.lineno - 1], end) >= 0


def _is_relax(aliases: Mapping[str, str], statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(decorator_list=[decorator]):
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            return qualified(func, aliases) == "relax.function"
        case _:
            return False


class _Writer(ast.NodeTransformer):
    """Writes out everything that is abbreviated."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return written_out(self.context, node)
