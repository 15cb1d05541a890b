"""Restore the layout of a text that lost it: quote marks, tabs, indentation."""

import ast
import re
import warnings
from dataclasses import dataclass

INDENT = 4
TAB_WIDTH = 8
_MARKS = (
    (re.compile(r"^(?:>>>|\.\.\.)(?: |$)"), ">>> "),
    (re.compile(r"^>(?: |$)"), "> "),
    (re.compile(r"^\+(?: |$)"), "+ "),
)
_ENDS_BLOCK = ("return", "pass", "break", "continue", "raise")
_OUTPUT = re.compile(r"(?:R|relax)\.outputs?\(")
_DATAFLOW = re.compile(r"with (?:R|relax)\.dataflow\(")
_SCRIPT = re.compile(r"import |from \S+ import |@(?:tvm\.script|I)\.ir_module|@tvm\.register_func")
_SCRIPT_AFTER_RETURN = re.compile(r"[a-zA-Z_]\w*\s*=|print\(|\w+\.show\(")


@dataclass(frozen=True, slots=True)
class Restored:
    """The text with its layout restored, and a description of what was done, "" if nothing was."""

    text: str
    changes: tuple[str, ...]


def with_spaces(line: str) -> str:
    """Expand the tabs at the start of a line, as a text is read."""
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)].expandtabs(TAB_WIDTH) + body


def given_column(line: str, column: int) -> int:
    """Return where a column of a line as it is read stands in the line as it was given, both from 1."""
    return max(column - len(with_spaces(line)) + len(line), 1)


def restore_layout(text: str) -> Restored:
    """Strip quote marks, expand tabs, and indent lines that have lost all indentation, where that is unambiguous."""
    changes: list[str] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_changed = True
    while is_changed:
        lines, is_changed = _without_marks(lines, changes)
    lines = _with_spaces(lines, changes)
    lines = _indented(lines, changes)
    return Restored("\n".join(lines), tuple(changes))


def _without_marks(lines: list[str], changes: list[str]) -> tuple[list[str], bool]:
    """Strip the quote mark that most lines start with; lines without it, such as output, stay."""
    filled = [line for line in lines if line.strip()]
    for pattern, mark in _MARKS:
        count = sum(1 for line in filled if pattern.match(line))
        if count * 2 > len(filled):
            changes.append(f'stripped "{mark.strip()}" from {_lines(count)}')
            return [pattern.sub("", line, count=1) for line in lines], True
    return lines, False


def _with_spaces(lines: list[str], changes: list[str]) -> list[str]:
    count = sum(1 for line in lines if "\t" in line)
    if count == 0:
        return lines
    changes.append(f"expanded tabs in {_lines(count)}")
    return [line.expandtabs(TAB_WIDTH) for line in lines]


def _indented(lines: list[str], changes: list[str]) -> list[str]:
    if _parses(lines) or any(line.startswith((" ", "\t")) for line in lines if line.strip()):
        return lines
    if not any(line.rstrip().endswith(":") for line in lines):
        return lines
    try:
        restored = _Structure().run(lines)
    except _Ambiguous:
        return lines
    if not _parses(restored):
        return lines
    count = sum(1 for old, new in zip(lines, restored, strict=True) if old != new)
    changes.append(f"indented {_lines(count)} by the structure of class, def, with, for and if")
    return restored


def _parses(lines: list[str]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


class _Ambiguous(Exception):
    """A line could belong to a block or follow it."""


@dataclass(slots=True)
class _Open:
    """An open block; a soft one may end behind any statement, so its second statement is ambiguous."""

    word: str
    is_soft: bool
    statement_count: int = 0


class _Structure:
    """Finds the depth of each line from the statements alone.

    A header opens a block; `return` ends a function; R.output ends a dataflow block; `else` goes back to its `if`;
    a decorator ends a prim func, and after `return` a Relax function; a line of the script ends a module.
    """

    def __init__(self) -> None:
        self.open: list[_Open] = []
        self.is_finished = False
        self.is_prim_func = False
        self.depth_in_brackets = 0

    def run(self, lines: list[str]) -> list[str]:
        result: list[str] = []
        for line in lines:
            if not line.strip():
                result.append(line)
            elif self.depth_in_brackets > 0:
                result.append(" " * (INDENT * (len(self.open) + 1)) + line)
            else:
                self._close_for(line)
                self._place(line)
                result.append(" " * (INDENT * len(self.open)) + line)
                self._open_for(line)
            self._count_brackets(line)
        return result

    def _place(self, line: str) -> None:
        """Count a statement in the innermost block."""
        if self.open and not line.startswith("#"):
            block = self.open[-1]
            if block.is_soft and block.statement_count > 0:
                raise _Ambiguous
            block.statement_count += 1

    def _close_for(self, line: str) -> None:
        """Close the blocks that `line` cannot belong to."""
        if line.startswith("#"):
            return
        is_decorator = line.startswith("@")
        is_last_function = self.is_finished and sum(block.word == "def" for block in self.open) == 1
        if _SCRIPT.match(line) or (_SCRIPT_AFTER_RETURN.match(line) and is_last_function):
            self.open.clear()
        elif line.startswith(("else:", "elif ")):
            while self.open and self.open[-1].word != "if":
                self.open.pop()
            self.open = self.open[:-1]
            if self.open:
                # `else` is a part of the statement that `if` began.
                self.open[-1].statement_count -= 1
        elif self.is_finished or (is_decorator and self.is_prim_func):
            self._close_function()
        self.is_finished = False
        if is_decorator:
            self.is_prim_func = "prim_func" in line

    def _close_function(self) -> None:
        while self.open and self.open[-1].word not in ("def", "class"):
            self.open.pop()
        if self.open and self.open[-1].word == "def":
            self.open.pop()

    def _open_for(self, line: str) -> None:
        code = line.split("#")[0].rstrip()
        word = re.split(r"\W", code, maxsplit=1)[0]
        if code.endswith(":") and word in ("class", "def", "with", "for", "while", "if", "elif", "else"):
            is_hard = word in ("class", "def") or _DATAFLOW.match(code) is not None
            self.open.append(_Open("if" if word in ("if", "elif") else word, not is_hard))
        elif word in _ENDS_BLOCK:
            self.is_finished = True
        elif _OUTPUT.match(code) and self.open and self.open[-1].word == "with":
            self.open.pop()

    def _count_brackets(self, line: str) -> None:
        code = re.sub(r"'[^']*'|\"[^\"]*\"", "", line).split("#")[0]
        opened = sum(code.count(char) for char in "([{") - sum(code.count(char) for char in ")]}")
        self.depth_in_brackets = max(0, self.depth_in_brackets + opened)
