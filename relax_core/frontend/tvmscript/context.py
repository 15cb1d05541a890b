"""The state that all parts of the reader share: the source, the diagnostics, and the spans of syntax nodes."""

import ast
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy.typing as npt

from relax_core.diagnostics import Diagnostic, Severity
from relax_core.frontend.tvmscript.names import dtype_suggestion
from relax_core.source import Source, Span

if TYPE_CHECKING:
    from relax_core.frontend.tvmscript.known import KnownFunctions
    from relax_core.ir.expr import GlobalVar
    from relax_core.ir.tir import PrimFunc

Place = ast.AST | Span
_WITH_END = (ast.expr, ast.stmt, ast.arg)
T = TypeVar("T")
R = TypeVar("R")


Table: TypeAlias = Mapping[str, Sequence["npt.NDArray[Any] | None"]]
"""A metadata table: by kind, the tensors in order; `None` stands for an object that is no tensor."""


class Failed(Exception):
    """Unwinds from a construct that has been diagnosed; the handler resumes behind the construct."""


@dataclass(slots=True)
class Context:
    """The state of one reading.

    `cut_names` maps lines to the names that statements cut for a syntax error would have defined. `tables` are the
    metadata tables by name; `macros` are those defined around the modules, and `expanded` counts the statements that
    calls of Relax's have made; `noted` remembers what is reported only once. `is_2022` tells the dialect of the module
    that is read, and `inner_functions` are its prim funcs inside of Relax functions, `made` those that its tensor
    expressions make. `python` are the Python functions around the modules, which `R.emit_te` may name. `plain` maps
    names in the syntax tree to the words that they abbreviate, and `plain_text` is the text with these names.
    `undefined` maps diagnostics to the undefined names that they are about.
    `script` is what there is to read: the text without the functions that are `known`.
    """

    source: Source
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    cut_names: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    type_vars: dict[str, str] = field(default_factory=dict[str, str])
    fixed_span: Span | None = None
    noted: set[str] = field(default_factory=set[str])
    tables: dict[str, "Table"] = field(default_factory=dict[str, "Table"])
    macros: dict[str, ast.FunctionDef] = field(default_factory=dict[str, ast.FunctionDef])
    expanded: int = 0
    is_2022: bool = False
    inner_functions: dict["GlobalVar", ast.FunctionDef] = field(default_factory=dict["GlobalVar", ast.FunctionDef])
    made: dict["GlobalVar", "PrimFunc"] = field(default_factory=dict["GlobalVar", "PrimFunc"])
    python: dict[str, "ast.FunctionDef | ast.Lambda"] = field(default_factory=dict[str, "ast.FunctionDef | ast.Lambda"])
    plain: Mapping[str, str] = field(default_factory=dict[str, str])
    plain_text: str = ""
    undefined: dict[Diagnostic, str] = field(default_factory=dict[Diagnostic, str])
    known: "KnownFunctions | None" = None
    script: str = field(init=False)
    is_ascii: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_ascii = self.source.text.isascii()
        self.script = self.source.text if self.known is None else self.known.begin(self.source)

    def span(self, place: Place) -> Span:
        """Return where `place` stands; inside a string that is read as a dimension, the place of the string."""
        if self.is_ascii and self.fixed_span is None and isinstance(place, _WITH_END):
            # A column in bytes is one in code points; an end past the last line is clamped by `offset` below.
            source, line, end_line = self.source, place.lineno, place.end_lineno or place.lineno
            starts = source.line_starts
            if end_line <= len(starts):
                start = starts[line - 1]
                end = (start if end_line == line else starts[end_line - 1]) + (place.end_col_offset or 0)
                # There are five spans to a line; made so, each takes half the time.
                return tuple.__new__(Span, (source, start + place.col_offset, end))  # pyright: ignore[reportUnknownMemberType]  # so typed there
        if isinstance(place, Span):
            return place
        if self.fixed_span is not None:
            return self.fixed_span
        line, column = getattr(place, "lineno", 1), getattr(place, "col_offset", 0)
        end_line, end_column = getattr(place, "end_lineno", None), getattr(place, "end_col_offset", None)
        start = self.offset(line, column)
        return Span(self.source, start, start if end_line is None else self.offset(end_line, end_column or 0))

    def keyword(self, key: str, value: ast.expr) -> Place:
        """Return where the name of an argument stands before its value, or the value where that is not plain."""
        span = self.span(value)
        head = self.source.text[: span.start].rstrip().removesuffix("=").rstrip()
        return Span(self.source, len(head) - len(key), len(head)) if head.endswith(key) else span

    def words(self, node: ast.expr) -> str:
        """Return the text of an expression on one line; nothing where it is not at hand."""
        if not self.is_ascii or self.fixed_span is not None or node.lineno != node.end_lineno:
            return ""
        start = self.source.line_starts[node.lineno - 1]
        return self.source.text[start + node.col_offset : start + (node.end_col_offset or 0)]

    def offset(self, line: int, byte_column: int) -> int:
        """Return the code point at a 1-based line and a column that counts UTF-8 bytes from 0."""
        source = self.source
        if not 1 <= line <= source.line_count:
            return len(source.text)
        start = source.line_starts[line - 1]
        end = source.line_starts[line] if line < source.line_count else len(source.text)
        head = source.text[start : min(end, start + byte_column)]
        if head.isascii():
            return start + len(head)
        return start + len(source.text[start:end].encode()[:byte_column].decode(errors="ignore"))

    def offset_of_column(self, line: int, column: int) -> int:
        """Return the code point at a 1-based line and a 1-based column in code points, as SyntaxError counts."""
        return self.source.offset(line, min(column, len(self.source.line_text(line)) + 1))

    def report(self, code: str, place: Place, message: str, hint: str = "", severity: Severity = "error") -> None:
        """Record a diagnostic at `place`."""
        self.diagnostics.append(Diagnostic(code, message, self.span(place), hint, severity))

    def fail(self, code: str, place: Place, message: str, hint: str = "") -> Failed:
        """Record an error at `place` and return the exception to raise."""
        self.report(code, place, message, hint)
        return Failed(message)

    def fail_undefined(self, node: ast.Name, hint: str) -> Failed:
        """Record that a name is not defined, with what may be meant."""
        failed = self.fail("RS001", node, f"`{node.id}` is not defined", hint)
        self.undefined[self.diagnostics[-1]] = node.id
        return failed

    def fail_dtype(self, code: str, node: ast.expr) -> Failed:
        """Record that an expression is no dtype, with the one that may be meant."""
        match node:
            case ast.Constant(value=str(name)):
                hint = dtype_suggestion(name, self.span(node).text)
            case _:
                hint = ""
        return self.fail(code, node, f'expected a dtype, such as "float32", got `{source_of(node)}`', hint)

    def unsupported(self, place: Place, construct: str, hint: str = "") -> Failed:
        """Report that `construct` is TVMScript that is not supported."""
        return self.fail("PA004", place, f"{construct} is not read yet", hint)

    def cut_at(self, statement: ast.stmt) -> tuple[str, ...] | None:
        """Return the names that a cut statement would have defined, `None` for a statement of the text."""
        return self.cut_names.get(statement.lineno) if isinstance(statement, ast.Pass) else None

    @contextmanager
    def inside(self, span: Span) -> Generator[None, None, None]:
        """Locate everything inside the context at `span`."""
        before = self.fixed_span
        self.fixed_span = before or span
        try:
            yield
        finally:
            self.fixed_span = before


def every(read: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Read all items, so that every error among them is reported, and raise `Failed` if one failed."""
    made: list[R] = []
    failed: Failed | None = None
    for item in items:
        try:
            made.append(read(item))
        except Failed as error:
            failed = error
    if failed is not None:
        raise failed
    return made


def source_of(node: ast.AST) -> str:
    """Return a short form of a piece of syntax for a message."""
    return shortened(ast.unparse(node))


def shortened(text: str) -> str:
    """Return the first line of a piece of text, as far as it goes into a message."""
    text = text.split("\n")[0]
    return text if len(text) <= 60 else text[:57] + "..."
