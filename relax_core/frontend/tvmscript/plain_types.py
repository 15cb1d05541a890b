"""Types in their plainest spelling, `R.Tensor((n, 4), dtype="float32")`, are read from their words.

Such types behind variables and parameters would be half of the syntax tree. Before a text is parsed, a name of the same
length takes the place of each, so that everything keeps its place; the type is then read from the words of the text.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword

from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scope import Entity
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.types import TensorType, TupleType, Type
from relax_core.source import Span

_MARK = "_plain"
_DIM = r"(?:[A-Za-z_]\w*+|0|[1-9]\d{0,17}+)"
_DIMS = rf"(?:{_DIM},|{_DIM}(?:, ?{_DIM})++,?+)?"
_TENSOR = rf'R\.Tensor\(\({_DIMS}\), (?:dtype=)?"\w++"\)'
_TYPE = rf"(?:{_TENSOR}|R\.Tuple\({_TENSOR}(?:, {_TENSOR})*+\))"
_OTHER_TYPE = r"R\.(?:Object|Any|Shape|Prim|Callable)\b(?:\([^()\n{}'\\:#]*+\))?"
_BINDING = re.compile(
    rf"^( {{1,60}}+(?!(?:else|try|finally)\b)[A-Za-z_]\w*+: )({_TYPE})(?= = )", re.MULTILINE | re.ASCII
)
_HEADER = re.compile(
    rf"^ *+def \w++\((?:\w++: (?:{_TYPE}|{_OTHER_TYPE})(?:, |(?=\))))*+\)(?: -> (?:{_TYPE}|{_OTHER_TYPE}))?:$",
    re.MULTILINE | re.ASCII,
)
_IN_HEADER = re.compile(rf"(: |-> )({_TYPE})", re.ASCII)
_FIELD = re.compile(r'R\.Tensor\(\(([^()]*)\), (?:dtype=)?"(\w+)"\)')
_WORD = re.compile(r"\w+", re.ASCII)
_NAME = re.compile(r"\b[A-Za-z_]\w*+", re.ASCII)
_NOT_INSIDE = ('"""', "'''", "\\\n")
"""What lets a string go on over lines; a text is abbreviated only behind the last of them."""


@dataclass(slots=True)
class Abbreviated:
    """A text with names in place of plain types; `words` tells what each name stands for."""

    text: str
    words: dict[str, str] = field(default_factory=dict[str, str])
    name_of: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def name(self, words: str) -> str | None:
        """Return the name for a type, as long as its words; `None` if it is not well spelt after all."""
        if words not in self.name_of:
            name = f"{_MARK}{len(self.words)}".ljust(len(words), "_")
            is_spelt = not any(map(iskeyword, _WORD.findall(words)))
            self.name_of[words] = name if is_spelt else None
            if is_spelt:
                self.words[name] = words
        return self.name_of[words]


def abbreviate(text: str) -> Abbreviated:
    """Put names in place of the plain types of bindings, and of the parameters and results of functions.

    Nothing inside of a string is touched: a line can begin in one only before the last triple quote or the last line
    that goes on. In a bracket, where a binding cannot stand, the text is not Python with the name or without it.
    """
    made = Abbreviated(text)
    if _MARK in text:
        return made
    start = text.find("\n", max(map(text.rfind, _NOT_INSIDE)) + 2) if any(item in text for item in _NOT_INSIDE) else 0
    if start < 0:
        return made

    def shortened(found: re.Match[str]) -> str:
        name = made.name(found[2])
        return found[0] if name is None else found[1] + name

    tail = _BINDING.sub(shortened, text[start:])
    made.text = text[:start] + _HEADER.sub(lambda found: _IN_HEADER.sub(shortened, found[0]), tail)
    return made


def plain_type(context: Context, find: Callable[[str], Entity | None], words: str, start: int) -> Type | None:
    """Read the plain type that stands at `start`; `None` if a dimension or a dtype takes more than its word."""
    source = context.source
    fields: list[TensorType] = []
    for item in _FIELD.finditer(words):
        dims: list[PrimExpr] = []
        for dim in _WORD.finditer(words, item.start(1), item.end(1)):
            if (word := dim[0]).isdigit():
                dims.append(IntImm(int(word), "int64", span=Span(source, start + dim.start(), start + dim.end())))
            elif isinstance(symbol := find(word), PrimVar) and symbol.dtype.startswith("int"):
                dims.append(symbol)
            else:
                return None
        if not is_dtype(item[2]):
            return None
        fields.append(TensorType(tuple(dims), item[2]))
    return fields[0] if is_plain_tensor(words) else TupleType(tuple(fields))


def plain_dims(words: str) -> list[str]:
    """Return the names of the symbolic dimensions of a plain type."""
    return [name for item in _FIELD.finditer(words) for name in _NAME.findall(item[1])]


def names_in(words: str) -> set[str]:
    """Return the names in a plain type, and the words that its dtypes are."""
    return {"R", *plain_dims(words), *(item[2] for item in _FIELD.finditer(words))}


def is_plain_tensor(words: str) -> bool:
    """Tell whether a plain type is that of a tensor rather than of a tuple."""
    return words.startswith("R.Tensor")


def plain_dtype(words: str) -> str | None:
    """Return the dtype of a plain type of a tensor; `None` for a tuple, or a word that is no dtype."""
    found = _FIELD.fullmatch(words)
    return found[2] if found is not None and is_dtype(found[2]) else None


def written_out(context: Context, node: ast.expr) -> ast.expr:
    """Return the syntax tree of an abbreviated type at its place; another expression stays."""
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
    """Write out the types in all statements but Relax functions, which are read by their words; or in all."""
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
    """Writes out every abbreviated type."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return written_out(self.context, node)
