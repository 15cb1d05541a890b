"""Cut a text of rules into its rules and these into their parts, and parse a part in its place."""

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.source import Source, Span

TEXT_LIMIT = 100_000
"""How many characters a text of rules may have."""
RULE_LIMIT = 200
"""How many rules a text may have."""
_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<arrow>->)|(?P<colon>:)|(?P<word>[^\W\d]\w*)|(?P<line>\n(?=[^\s\#])(?!->|where\b))|(?P<other>\s+|.)""",
    re.VERBOSE,
)
_NAME = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*\Z")
_SHAPE = "a rule is `name: pattern -> replacement where condition`; further lines of it are indented"


@dataclass(frozen=True, slots=True)
class RuleText:
    """The places of the parts of one rule; `condition` is `None` if it has none."""

    name: str
    whole: Span
    pattern: Span
    replacement: Span
    condition: Span | None


def fail(code: str, message: str, span: Span, hint: str = "") -> NoReturn:
    """Stop with a diagnostic.

    Raises:
        CompileError: always.
    """
    raise CompileError((Diagnostic(code, message, span, hint),))


def split_rules(source: Source) -> tuple[list[RuleText], list[Diagnostic]]:
    """Return the rules of a text and what is wrong with the others; a rule begins at a line that is not indented."""
    found: list[RuleText] = []
    diagnostics: list[Diagnostic] = []
    for number, (start, end) in enumerate(_chunks(source.text), 1):
        if number > RULE_LIMIT:
            message = f"the text has more than {RULE_LIMIT} rules"
            diagnostics.append(Diagnostic("RW108", message, Span(source, start, end), "apply them in several stages"))
            break
        try:
            found.append(_parts(source, start, end, number))
        except CompileError as error:
            diagnostics += error.diagnostics
    return found, diagnostics


def _chunks(text: str) -> list[tuple[int, int]]:
    """Return where the rules stand: each begins at a line that is not indented, outside of brackets."""
    starts: list[int] = []
    depth = 0
    is_first = True
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "comment":
                continue
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "line" if depth == 0:
                starts.append(token.end())
                is_first = False
                continue
            case "other" if not token[0].strip():
                continue
            case _:
                pass
        if is_first:
            starts.append(token.start())
            is_first = False
    return list(pairwise([*starts, len(text)]))


def _parts(source: Source, start: int, end: int, number: int) -> RuleText:
    whole = _trimmed(source, start, end)
    colons, arrows, wheres = _marks(source, start, end)
    arrow = arrows[0] if arrows else None
    if arrow is None:
        fail("RW100", "the rule has no `->` between what it looks for and what takes its place", whole, _SHAPE)
    if len(arrows) > 1:
        fail("RW100", "the rule has a second `->`", Span(source, *arrows[1]), _SHAPE)
    if len(wheres) > 1:
        hint = "join the conditions with `and`"
        fail("RW100", "the rule has a second `where`", Span(source, *wheres[1]), hint)
    if wheres and wheres[0][0] < arrow[0]:
        fail("RW100", "`where` stands behind the replacement", Span(source, *wheres[0]), _SHAPE)
    name, begin = f"rule_{number}", start
    if colons and colons[0] < arrow[0]:
        head = source.text[start : colons[0]]
        named = _NAME.match(head)
        if named is None:
            fail("RW100", f"`{head.strip()}` is no name for a rule", _trimmed(source, start, colons[0]), _SHAPE)
        name, begin = named["name"], colons[0] + 1
    last = wheres[0][0] if wheres else end
    pattern = _part(source, begin, arrow[0], "pattern", whole)
    replacement = _part(source, arrow[1], last, "replacement", whole)
    condition = _part(source, wheres[0][1], end, "condition", whole) if wheres else None
    return RuleText(name, whole, pattern, replacement, condition)


Range = tuple[int, int]


def _marks(source: Source, start: int, end: int) -> tuple[list[int], list[Range], list[Range]]:
    """Return the colons, arrows and `where`s of a rule outside of brackets."""
    colons: list[int] = []
    arrows: list[Range] = []
    wheres: list[Range] = []
    opened: list[int] = []
    for token in _TOKEN.finditer(source.text, start, end):
        match token.lastgroup:
            case "open":
                opened.append(token.start())
            case "close":
                if not opened:
                    fail("RW100", f"`{token[0]}` closes nothing", Span(source, *token.span()))
                opened.pop()
            case "colon" if not opened:
                colons.append(token.start())
            case "arrow" if not opened:
                arrows.append(token.span())
            case "word" if token[0] == "where" and not opened:
                wheres.append(token.span())
            case _:
                pass
    if opened:
        bracket = source.text[opened[-1]]
        fail("RW100", f"`{bracket}` is not closed", Span(source, opened[-1], opened[-1] + 1))
    return colons, arrows, wheres


def _part(source: Source, start: int, end: int, what: str, whole: Span) -> Span:
    span = _trimmed(source, start, end)
    if span.start >= span.end:
        fail("RW100", f"the rule has no {what}", whole, _SHAPE)
    return span


def _trimmed(source: Source, start: int, end: int) -> Span:
    """Return the place of a part without the blanks and comments around it."""
    solid = [
        item.span()
        for item in _TOKEN.finditer(source.text, start, end)
        if item.lastgroup != "comment" and item[0].strip()
    ]
    return Span(source, solid[0][0], solid[-1][1]) if solid else Span(source, start, start)


def parse_part(span: Span) -> ast.expr:
    """Parse an expression whose nodes have the lines and columns that it has in the whole text.

    Raises:
        CompileError: RW100: it is no expression of Python's grammar.
    """
    source = span.source
    line, column = source.line_column(span.start)
    # Blanks of the length of what stands before, in bytes, as `ast` counts; the bracket lets it go over several lines.
    before = len(source.line_text(line)[: column - 1].encode())
    padded = "(\n" + "\n" * (line - 1) + " " * before + span.text + "\n)"
    try:
        tree = ast.parse(padded, mode="eval").body
    except SyntaxError as error:
        at = source.offset((error.lineno or 2) - 1, error.offset or 1)
        at = min(max(at, span.start), max(span.end - 1, span.start))
        fail("RW100", f"the rule cannot be read here: {error.msg}", Span(source, at, at + 1))
    except (ValueError, MemoryError, RecursionError):
        fail("RW100", "the rule cannot be read: it is nested too deeply, or holds what is no text", span)
    return ast.increment_lineno(tree, -1)


def place_of(source: Source, node: ast.AST) -> Span:
    """Return where a piece of a rule stands."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    start = _offset(source, line, column)
    end = _offset(source, getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column))
    return Span(source, start, max(end, start + 1))


def _offset(source: Source, line: int, byte: int) -> int:
    text = source.line_text(min(line, source.line_count)).encode()[:byte].decode(errors="ignore")
    return source.offset(line, len(text) + 1)
