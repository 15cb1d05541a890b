"""Texts with tokens, node ranges and problems."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeVar, cast

from pygments.lexers.asm import GasLexer, LlvmLexer  # pyright: ignore[reportMissingTypeStubs]  # pygments has no types
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.token import _TokenType as Kind  # pyright: ignore[reportPrivateUsage]  # the class has no other name

from relax_core.frontend.relay.detect import is_relay
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import SeqExpr
from relax_core.ir.node import Node
from relax_core.ir.relay import Let
from relax_core.present.grammar import START, GrammarName, cut_line
from relax_core.present.models import Code, CodeLine, NameFact, NodeRange, Problem, Syntax, Token
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.printer.printed import NodeRange as PrintedRange
from relax_core.printer.printed import Printed
from relax_core.source import Source, Span

Look = TypeVar("Look")
Language = Literal["tvmscript", "relay", "plain", "llvm", "asm"]

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
_SKIPPED = "PA020"
"""Code of the note about statements around a module, which are not run."""
_LEXERS: Mapping[Language, type[LlvmLexer] | type[GasLexer]] = MappingProxyType({"llvm": LlvmLexer, "asm": GasLexer})
_LINES_KEPT, _LONG_LINE = 1 << 13, 300
"""Most lines of a module are as they were before a pass: unless they are long, they are cut once."""
_LONG_TEXT = 400_000
"""Longer texts are shown without highlighting, whose tokens would outweigh them many times."""


@lru_cache(maxsize=64)
def tokenize(text: str, language: Language = "tvmscript") -> tuple[tuple[Token, ...], ...]:
    """Cut `text` into one tuple of tokens per line; the tokens of a line spell it exactly."""
    if (language == "tvmscript" or language == "relay") and len(text) <= _LONG_TEXT:
        return tuple(_cut_lines(text, language))
    return tuple(map(_merged, _lines(text, language)))


def _cut_lines(text: str, language: GrammarName) -> Iterator[tuple[Token, ...]]:
    state = START
    for line in text.split("\n"):
        cut = _cut_line_once if len(line) <= _LONG_LINE else _cut_line
        found, state = cut(line, language, state)
        yield found


@lru_cache(maxsize=_LINES_KEPT)
def _cut_line_once(line: str, language: GrammarName, state: str) -> tuple[tuple[Token, ...], str]:
    return _cut_line(line, language, state)


def _cut_line(line: str, language: GrammarName, state: str) -> tuple[tuple[Token, ...], str]:
    found, state = cut_line(line, language, state)
    return _merged(found), state


def code_lines(
    text: str, language: Language = "tvmscript", dim: Callable[[int], bool] | None = None
) -> tuple[CodeLine, ...]:
    """Return the lines of `text`, numbered from 1; `dim(line)` tells whether a line is not part of the program."""
    lines = enumerate(tokenize(text, language), 1)
    return tuple(CodeLine(tokens, number, dim is not None and dim(number)) for number, tokens in lines)


def source_code(
    source: Source, index: NodeIndex | None, problems: tuple[Problem, ...], names: tuple[NameFact, ...] = ()
) -> Code:
    """Present a user's text: nodes by their spans, problems by theirs, skipped lines dimmed, and what it defines."""
    notes = (item for item in problems if item.code == _SKIPPED)
    skipped = frozenset(line for item in notes for line in range(item.line, item.end_line + 1))
    ranges = _span_ranges(source, index) if index is not None else ()
    read_as = "relay" if is_relay(source.text, source.name) else "tvmscript"
    language = _language_of(index) if index is not None else read_as
    lines = code_lines(source.text, language, skipped.__contains__)
    return Code(source.text, lines, ranges, problems, language, source.name, names)


def printed_code(printed: Printed, index: NodeIndex, name: str) -> Code:
    """Present a printed module; its ranges lead to the nodes of `index`."""
    source = Source(name, printed.text)
    spans = ((item.node, Span(source, item.start, item.end)) for item in printed.ranges)
    language = _language_of(index)
    return Code(printed.text, code_lines(printed.text, language), _ranges(spans, index), language=language, name=name)


def printed_text(printed: Printed, index: NodeIndex, name: str) -> Code:
    """Present a printed module as text alone, without highlighted lines and node ranges."""
    return Code(printed.text, language=_language_of(index), name=name)


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


def _merged(pieces: Iterable[tuple[Syntax, str]]) -> tuple[Token, ...]:
    return tuple(Token(text, syntax) for syntax, text in joined(pieces))


def joined(pieces: Iterable[tuple[Look, str]]) -> Iterator[tuple[Look, str]]:
    """Join the pieces of a line that look alike and touch."""
    texts: list[str] = []
    last: Look | None = None
    for look, text in pieces:
        if look != last and texts:
            yield cast("Look", last), "".join(texts)
            texts.clear()
        last = look
        texts.append(text)
    if texts:
        yield cast("Look", last), "".join(texts)


def _lines(text: str, language: Language) -> Iterable[Iterable[tuple[Syntax, str]]]:
    if language == "plain" or len(text) > _LONG_TEXT:
        return (((("", line),) if line else ()) for line in text.split("\n"))
    lines: list[list[tuple[Syntax, str]]] = [[]]
    for _, kind, piece in _LEXERS[language]().get_tokens_unprocessed(text):
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((_syntax_of_kind(kind), part))
    return lines


@lru_cache(maxsize=256)
def _syntax_of_kind(kind: Kind) -> Syntax:
    for parent, syntax in _SYNTAX:
        if kind in parent:
            return syntax
    return ""
