"""Parse Python with error recovery: a broken logical statement is cut, everything else keeps its position."""

import ast
import re
import warnings
from dataclasses import dataclass

from relax_core.diagnostics import Remedy
from relax_core.frontend.tvmscript import remedies
from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.plain.plain_types import abbreviate
from relax_core.source import Span

MAX_SYNTAX_ERRORS = 50
SHORTEST_ABBREVIATED = 4_000
"""Characters of the shortest text whose types and calls are abbreviated: it takes time to make the patterns ready."""
_OPENING, _CLOSING = "([{", ")]}"
_ASSIGNED = re.compile(r"^[ ]*((?:[^\W\d]\w*[ ]*,[ ]*)*[^\W\d]\w*)[ ]*(?::[^=\n]*)?(?<![=!<>])=(?!=)", re.MULTILINE)
_DEFINED = re.compile(r"^[ ]*(?:def|class)[ ]+([^\W\d]\w*)", re.MULTILINE)
_BLOCK_HEADER = re.compile(r"(?:async\s+)?(?:def|class|with|for|while|if|elif|else|try|match)\b")
_HEADER_LINE = re.compile(r"on line (\d+)")
_STRING_START = re.compile(r"'''|\"\"\"|'|\"")


@dataclass(frozen=True, slots=True)
class _Lines:
    """A half-open range of 0-based lines."""

    start: int
    end: int


def parse_with_recovery(context: Context) -> ast.Module | None:
    """Parse the text of `context.source`; each syntax error cuts one statement, at most 50 times.

    Returns `None` if nothing is left to read. A cut statement becomes `pass`, and `context.cut_names`
    tells by its line which names it would have defined.
    """
    short = _abbreviated(context)
    if short is not None:
        return short
    lines = context.script.split("\n")
    for _ in range(MAX_SYNTAX_ERRORS):
        try:
            return _parse("\n".join(lines))
        except SyntaxError as error:
            if not _cut_for(context, lines, error):
                return None
        except (MemoryError, RecursionError):
            context.report("PA003", Span(context.source, 0, 0), "the text is nested too deeply to be read")
            return None
        except ValueError as error:
            context.report("PA002", Span(context.source, 0, 0), f"the text cannot be read: {error}")
            return None
    context.report("PA014", Span(context.source, 0, 0), f"more than {MAX_SYNTAX_ERRORS} syntax errors")
    return None


def _abbreviated(context: Context) -> ast.Module | None:
    """Parse the abbreviated text; `None` if abbreviating saves nothing, or if there are errors."""
    if len(context.script) < SHORTEST_ABBREVIATED:
        return None
    short = abbreviate(context.script)
    if not short.words:
        return None
    try:
        tree = _parse(short.text)
    except (SyntaxError, MemoryError, RecursionError, ValueError):
        return None
    context.plain, context.plain_text = short.words, short.text
    return tree


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _cut_for(context: Context, lines: list[str], error: SyntaxError) -> bool:
    """Report `error` and blank the statement that holds it; tell whether there is something left to parse."""
    line, column = (error.lineno or 1), max(error.offset or 1, 1)
    message = error.msg
    if message.startswith("too many nested parentheses") or "too many statically nested" in message:
        message = "nested too deeply: " + message
    line = min(max(line, 1), len(lines))
    cut = _statement_lines(lines, _header_line(error, line) - 1)
    stub = cut.start + 1
    if stub in context.cut_names and lines[cut.start].strip() == "pass":
        # The `pass` of an earlier cut does not fit either; its error has been reported.
        lines[cut.start] = ""
        return True
    at = context.offset_of_column(line, column)
    end = min(at + 1, len(context.source.text))
    span, last = Span(context.source, at, end), context.offset_of_column(line, error.end_offset or column)
    hint, mend = _hint(message), remedies.mend_of_syntax(span, message, last)
    hint = hint if mend is None else Remedy(hint, mend)
    context.report("PA001", span, f"syntax error: {message}", hint)
    if all(not text.strip() for text in lines[cut.start : cut.end]):
        return False
    _blank(context, lines, cut, is_indent_wrong=isinstance(error, IndentationError))
    return True


def _header_line(error: SyntaxError, line: int) -> int:
    """Return the line to cut: for a header without a body the header, not the innocent line after it."""
    found = _HEADER_LINE.search(error.msg)
    return int(found[1]) if found and "expected an indented block" in error.msg else line


def _hint(message: str) -> str:
    if "was never closed" in message:
        return "add the closing bracket"
    if "forgot a comma" in message:
        return "put a comma between the two, or an operator"
    return "add a colon" if message == "expected ':'" else ""


def _blank(context: Context, lines: list[str], cut: _Lines, *, is_indent_wrong: bool) -> None:
    """Replace a statement by `pass`, indented like the statement, or like the one before it."""
    removed = "\n".join(lines[cut.start : cut.end])
    before = next((line for line in reversed(lines[: cut.start]) if line.strip()), "")
    indent = _indent(before if is_indent_wrong else lines[cut.start])
    for index in range(cut.start, cut.end):
        lines[index] = ""
    lines[cut.start] = " " * indent + "pass"
    context.cut_names[cut.start + 1] = _names_defined(removed)


def _names_defined(text: str) -> tuple[str, ...]:
    names = [name.strip() for found in _ASSIGNED.finditer(text) for name in found[1].split(",")]
    return tuple(dict.fromkeys([*names, *(found[1] for found in _DEFINED.finditer(text))]))


def _statement_lines(lines: list[str], index: int) -> _Lines:
    """Return the lines of the logical statement that holds the 0-based line `index`, with the block it opens."""
    while index > 0 and not lines[index].strip():
        index -= 1
    start = 0
    position = 0
    while position <= index:
        start = position
        position = _statement_end(lines, start)
    end = position
    text = lines[start].strip()
    if _BLOCK_HEADER.match(text):
        end = _block_end(lines, start, end)
    if text.startswith(("def ", "class ", "async ", "@")):
        while text.startswith("@") and end < len(lines):
            text = lines[end].strip()
            following = _statement_end(lines, end)
            end = following if text.startswith("@") else _block_end(lines, end, following)
        start = _decorated_start(lines, start)
    return _Lines(start, end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block_end(lines: list[str], start: int, end: int) -> int:
    """Skip the lines that are indented deeper than the header at `start`, and blank lines between them."""
    indent = _indent(lines[start])
    last = end
    for index in range(end, len(lines)):
        if lines[index].strip():
            if _indent(lines[index]) <= indent:
                break
            last = index + 1
    return last


def _decorated_start(lines: list[str], start: int) -> int:
    indent = _indent(lines[start])
    while start > 0 and lines[start - 1].strip().startswith("@") and _indent(lines[start - 1]) == indent:
        start -= 1
    return start


def _statement_end(lines: list[str], start: int) -> int:
    """Return the line behind the logical statement that starts at line `start`, brackets closed or not.

    A statement with an open bracket goes on over lines that are indented deeper or start with a closing bracket.
    """
    depth, quote = _scan(lines[start], 0, "")
    indent = _indent(lines[start])
    index = start + 1
    while index < len(lines):
        line = lines[index]
        is_continued = lines[index - 1].endswith("\\")
        is_deeper = not line.strip() or _indent(line) > indent or line.lstrip()[0] in _CLOSING
        if not (len(quote) == 3 or is_continued or (depth > 0 and is_deeper)):
            break
        depth, quote = _scan(line, depth, quote)
        index += 1
    while index > start + 1 and not lines[index - 1].strip():
        index -= 1
    return index


def _scan(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Count brackets of a line outside strings and comments; `quote` is the string that is open."""
    position = 0
    while position < len(line):
        if quote:
            closing = line.find(quote, position)
            if closing < 0:
                return depth, quote if len(quote) == 3 else ""
            if closing > 0 and line[closing - 1] == "\\" and len(quote) == 1:
                position = closing + 1
                continue
            position, quote = closing + len(quote), ""
            continue
        character = line[position]
        if character == "#":
            break
        if found := _STRING_START.match(line, position):
            quote = found[0]
            position = found.end()
            continue
        depth += (character in _OPENING) - (character in _CLOSING and depth > 0)
        position += 1
    return depth, quote if len(quote) == 3 else ""
