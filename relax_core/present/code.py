"""Texts with tokens, node ranges and problems."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from pygments.lexers.asm import GasLexer, LlvmLexer  # pyright: ignore[reportMissingTypeStubs]  # pygments has no types
from pygments.lexers.python import PythonLexer  # pyright: ignore[reportMissingTypeStubs]  # pygments has no types
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.token import _TokenType as Kind  # pyright: ignore[reportPrivateUsage]  # the class has no other name

from relax_core.frontend.relay.detect import is_relay
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import SeqExpr
from relax_core.ir.node import Node
from relax_core.ir.relay import Let
from relax_core.present.models import Code, CodeLine, NodeRange, Problem, Syntax, Token
from relax_core.present.node_id import NodeIndex
from relax_core.printer.printed import NodeRange as PrintedRange
from relax_core.printer.printed import Printed
from relax_core.source import Source, Span

Language = Literal["tvmscript", "relay", "plain", "llvm", "asm"]

_WORDS_AS_TYPES = frozenset(
    ("R", "T", "I", "relax", "tir", "Tensor", "Tuple", "Object", "Shape", "Prim", "Callable", "Buffer")
)
_WORDS_AS_KEYWORDS = frozenset(("None", "True", "False"))
_SYNTAX: tuple[tuple[Kind, Syntax], ...] = (
    (Comment, "synComment"),
    (String, "synString"),
    (Number, "synNumber"),
    (Name.Decorator, "synDecor"),
    (Name.Function, "synName"),
    (Name.Class, "synName"),
    (Operator.Word, "synKeyword"),
    (Keyword.Type, "synType"),
    (Keyword, "synKeyword"),
)
_RELAY_TOKEN = re.compile(
    r"""(?P<synComment>/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|//[^\n]*|\#(?!\[)[^\n]*)
    | (?P<synString>"(?:[^"\\\n]|\\.)*"?)
    | (?P<synDecor>\#\[[^\]\n]*\]?|meta\[[\w.]+\]\[\d+\])
    | (?P<synName>@[^\W\d][\w?.]*)
    | (?P<local>%[\w?.]+)
    | (?P<synNumber>\d[\d.]*(?:[eE][+-]?\d+)?(?:bf16|[fiu]\d*)?)
    | (?P<word>match\?|[^\W\d][\w?]*(?:\.[^\W\d][\w?]*)*)
    | (?P<other>\s+|.)""",
    re.VERBOSE,
)
_RELAY_KEYWORDS = frozenset((
    "def", "fn", "let", "if", "else", "match", "match?", "type", "extern", "free_var", "ref", "ref_read", "ref_write",
    "True", "False", "_",
))  # fmt: skip
_RELAY_TYPE = re.compile(r"(?:Tensor|(?:bfloat|float|uint|int)\d+(?:x\d+)?|bool|[A-Z]\w*)$")
_SKIPPED = "PA020"
"""Code of the note about statements around a module, which are not run."""
_LEXERS: Mapping[Language, type[PythonLexer] | type[LlvmLexer] | type[GasLexer]] = MappingProxyType(
    {"llvm": LlvmLexer, "asm": GasLexer}
)
_LONG_TEXT = 400_000
"""Longer texts are shown without highlighting, whose tokens would outweigh them many times."""


@lru_cache(maxsize=64)
def tokenize(text: str, language: Language = "tvmscript") -> tuple[tuple[Token, ...], ...]:
    """Cut `text` into one tuple of tokens per line; the tokens of a line spell it exactly."""
    lines: list[list[Token]] = [[]]
    for syntax, piece in _pieces(text, language):
        first, *rest = piece.split("\n")
        _append(lines[-1], first, syntax)
        for part in rest:
            lines.append([])
            _append(lines[-1], part, syntax)
    return tuple(map(tuple, lines))


def code_lines(
    text: str, language: Language = "tvmscript", dim: Callable[[int], bool] | None = None
) -> tuple[CodeLine, ...]:
    """Return the lines of `text`, numbered from 1; `dim(line)` tells whether a line is not part of the program."""
    lines = enumerate(tokenize(text, language), 1)
    return tuple(CodeLine(tokens, number, dim is not None and dim(number)) for number, tokens in lines)


def source_code(source: Source, index: NodeIndex | None, problems: tuple[Problem, ...]) -> Code:
    """Present a user's text with the spans of nodes and problems, skipped lines dimmed."""
    notes = (item for item in problems if item.code == _SKIPPED)
    skipped = frozenset(line for item in notes for line in range(item.line, item.end_line + 1))
    ranges = _span_ranges(source, index) if index is not None else ()
    language = _language_of(index) if index is not None else language_of_text(source)
    lines = code_lines(source.text, language, skipped.__contains__)
    return Code(source.text, lines, ranges, problems, language, source.name)


def printed_code(printed: Printed, index: NodeIndex, name: str) -> Code:
    """Present a printed module; its ranges lead to the nodes of `index`."""
    source = Source(name, printed.text)
    spans = ((item.node, Span(source, item.start, item.end)) for item in printed.ranges)
    language = _language_of(index)
    return Code(printed.text, code_lines(printed.text, language), _ranges(spans, index), language=language, name=name)


def printed_text(printed: Printed, index: NodeIndex, name: str) -> Code:
    """Present a printed module as text alone, without highlighted lines and node ranges."""
    return Code(printed.text, language=_language_of(index), name=name)


def language_of_text(source: Source) -> Literal["tvmscript", "relay"]:
    """Return the language that a text without a module is read as."""
    return "relay" if is_relay(source.text, source.name) else "tvmscript"


def _language_of(index: NodeIndex) -> Literal["tvmscript", "relay"]:
    return "relay" if dialect_of(index.module) == "relay" else "tvmscript"


def header_length(text: str) -> int:
    """Return the length of a printed module's head: the comments that say what a file would import."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        line = text[start:] if end < 0 else text[start:end]
        if line and not line.startswith("#"):
            return start
        start += len(line) + 1
    return 0


def without_header(printed: Printed) -> Printed:
    """Return a printed module without its head."""
    cut = header_length(printed.text)
    if cut == 0:
        return printed
    ranges = (PrintedRange(max(item.start - cut, 0), item.end - cut, item.node) for item in printed.ranges)
    return Printed(printed.text[cut:], tuple(ranges))


def plain_code(text: str, name: str, language: Language = "plain") -> Code:
    """Present a text that has no nodes."""
    shown: Literal["tvmscript", "plain"] = "tvmscript" if language == "tvmscript" else "plain"
    return Code(text, code_lines(text, language), language=shown, name=name)


def _span_ranges(source: Source, index: NodeIndex) -> tuple[NodeRange, ...]:
    nodes: dict[Node, None] = dict.fromkeys(node for nodes in index.nodes_of.values() for node in nodes)
    spans = ((node, node.span) for node in nodes if node.span is not None and node.span.source is source)
    return _ranges(spans, index)


def _ranges(spans: Iterable[tuple[Node, Span]], index: NodeIndex) -> tuple[NodeRange, ...]:
    """Return each range once. The range of a body is its result, since its bindings have their own."""
    found: dict[NodeRange, None] = {}
    for node, span in spans:
        name = index.id_of(node)
        if name:
            shown = _last_line(span) if isinstance(node, SeqExpr) else _head(node, span)
            found[NodeRange(name, shown.line, shown.column, *shown.end_line_column)] = None
    return tuple(found)


def _last_line(span: Span) -> Span:
    start = span.source.line_starts[span.end_line_column[0] - 1]
    text = span.source.text[start : span.end]
    return Span(span.source, max(span.start, start + len(text) - len(text.lstrip())), span.end)


def _head(node: Node, span: Span) -> Span:
    """Return the span of a node; a `let` ends with its value, because its body is what follows."""
    value = node.value.span if isinstance(node, Let) else None
    is_whole = value is None or value.source is not span.source or not span.start <= value.end <= span.end
    return span if is_whole or value is None else Span(span.source, span.start, value.end)


def _append(line: list[Token], text: str, syntax: Syntax) -> None:
    if not text:
        return
    if line and line[-1].syntax == syntax:
        line[-1] = Token(line[-1].text + text, syntax)
    else:
        line.append(Token(text, syntax))


def _pieces(text: str, language: Language) -> Iterable[tuple[Syntax, str]]:
    if language == "plain" or len(text) > _LONG_TEXT:
        return (("", text),)
    if language == "relay":
        return _relay_pieces(text)
    lexer = _LEXERS.get(language, PythonLexer)()
    return ((_syntax_of(kind, piece), piece) for _, kind, piece in lexer.get_tokens_unprocessed(text))


def _relay_pieces(text: str) -> Iterator[tuple[Syntax, str]]:
    for found in _RELAY_TOKEN.finditer(text):
        word = found[0]
        match found.lastgroup:
            case "word" if word in _RELAY_KEYWORDS:
                yield "synKeyword", word
            case "word" if _RELAY_TYPE.match(word):
                yield "synType", word
            case "synComment" | "synString" | "synDecor" | "synName" | "synNumber" as syntax:
                yield syntax, word
            case _:
                yield "", word


def _syntax_of(kind: Kind, piece: str) -> Syntax:
    if kind in Name and piece in _WORDS_AS_TYPES:
        return "synType"
    if piece in _WORDS_AS_KEYWORDS:
        return "synKeyword"
    return _syntax_of_kind(kind)


@lru_cache(maxsize=256)
def _syntax_of_kind(kind: Kind) -> Syntax:
    for parent, syntax in _SYNTAX:
        if kind in parent:
            return syntax
    return ""
