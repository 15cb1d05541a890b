"""Diagnostics as the pages list them."""

from collections.abc import Iterable

from relax_core import codes, diagnostics
from relax_core.diagnostics import Diagnostic
from relax_core.present.models import Elsewhere, Mend, Problem
from relax_core.source import Span

_NO_PROGRAM = ("<pipeline>", "<rules>")
"""How the texts of pipelines and of rewrite rules are named."""


def problem_of(diagnostic: Diagnostic) -> Problem:
    """Present a diagnostic."""
    span = diagnostic.span
    line, column = (span.line, span.column) if span else (0, 0)
    end_line, end_column = span.end_line_column if span else (0, 0)
    return Problem(
        diagnostic.severity,
        diagnostic.code,
        diagnostic.message,
        diagnostic.hint,
        line,
        column,
        end_line,
        end_column,
        codes.CODES.get(diagnostic.code, ""),
        excerpt=_excerpt_of(span) if span else "",
        related=tuple(Elsewhere(words, place.line, place.column) for words, place in diagnostic.related),
        mend=_mend_of(diagnostic.mend),
    )


def problems_of(diagnostics: Iterable[Diagnostic]) -> tuple[Problem, ...]:
    """Present diagnostics in the order of their places, those without a place first."""
    return tuple(sorted(map(problem_of, diagnostics), key=lambda item: (item.line, item.column)))


def _mend_of(mend: diagnostics.Mend | None) -> Mend | None:
    if mend is None:
        return None
    return Mend(mend.text, mend.title, mend.span.line, mend.span.column, *mend.span.end_line_column)


def _excerpt_of(span: Span) -> str:
    """Return the line of a pipeline or of a rewrite rule that a span is in, nothing for a span of a program."""
    if span.source.name not in _NO_PROGRAM:
        return ""
    return span.source.text.split("\n")[span.line - 1]
