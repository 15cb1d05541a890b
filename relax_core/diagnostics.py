"""What is said to the user about a program: diagnostics, and the errors that carry them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from relax_core.source import Span, excerpt

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Mend:
    """A text in the place of a span, after which a problem is no more; `title` says what is offered: "Declare n"."""

    span: Span
    text: str
    title: str


class Remedy(str):
    """A hint that knows its mend, wherever that stands; it reads as any hint."""

    __slots__ = ("mend",)
    mend: Mend

    def __new__(cls, words: str, mend: Mend) -> "Remedy":
        """Say in `words` what to do, which is to make `mend`."""
        self = super().__new__(cls, words)
        self.mend = mend
        return self


class Suggestion(str):
    """A hint that says which word was probably meant; it reads as any hint, and knows what to replace by what."""

    __slots__ = ("meant", "written")
    written: str
    meant: str

    def __new__(cls, written: str, meant: str, more: str = "") -> "Suggestion":
        """Suggest `meant` in place of `written`: "did you mean R.matmul?"; `more` are words behind it."""
        self = super().__new__(cls, f"did you mean {meant}?{more}")
        self.written, self.meant = written, meant
        return self


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A located message: where, what was expected, what was found, and a hint.

    `code` is listed in `codes.py`. `related` are further places with their own words.
    """

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    severity: Severity = "error"
    related: tuple[tuple[str, Span], ...] = ()
    knowing: Suggestion | Remedy | None = None
    """The hint, if it is one that knows its mend; `hint` is its text."""

    def __post_init__(self) -> None:
        if isinstance(self.hint, Suggestion | Remedy):
            object.__setattr__(self, "knowing", self.hint)
            object.__setattr__(self, "hint", str(self.hint))

    @property
    def place(self) -> str:
        """`name:line:column`, or the empty string without a span."""
        if self.span is None:
            return ""
        return f"{self.span.source.name}:{self.span.line}:{self.span.column}"

    @property
    def mend(self) -> Mend | None:
        """What mends the program; `None` if that is not known.

        A suggestion counts only where the span is the suspected word and nothing else.
        """
        hint = self.knowing
        if hint is None or self.hint != hint:
            return None
        if isinstance(hint, Remedy):
            return hint.mend
        if self.span is None or self.span.text != hint.written:
            return None
        return Mend(self.span, hint.meant, f"Replace with {hint.meant}")

    def render(self, *, with_excerpt: bool = True) -> str:
        """Return the message as the command line prints it."""
        head = f"{self.place}: " if self.span else ""
        lines = [f"{head}{self.severity}[{self.code}]: {self.message}"]
        if self.span is not None and with_excerpt and self.span.source.line_text(self.span.line).strip():
            lines += [f"    {line}" for line in excerpt(self.span).splitlines()]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        lines += [f"see: {span.source.name}:{span.line}:{span.column}: {words}" for words, span in self.related]
        return "\n".join(lines)


class DiagnosedError(Exception):
    """A user's program cannot go on; `diagnostics` say why, errors first seen first."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(item.render(with_excerpt=False) for item in self.diagnostics))


class CompileError(DiagnosedError):
    """A program that cannot be parsed, checked, transformed or built."""


class RunError(DiagnosedError):
    """A program that stopped while it ran: a failed check, a limit, a missing packed function."""


def in_order(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the text, those without a place first."""
    return tuple(sorted(found, key=lambda item: item.span.start if item.span else 0))


def plural(count: int, noun: str) -> str:
    """`1 function`, `2 functions`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether any of `diagnostics` is an error."""
    return any(item.severity == "error" for item in diagnostics)
