"""Columns of a text as it is read, where tabs at the start of a line are spaces, in the text that an editor holds."""

from collections.abc import Sequence

from msgspec.structs import replace

from relax_core.cli.integration.mending import mend_as_given
from relax_core.frontend.layout import given_column
from relax_core.present.models import NameFact, Problem


def problem_as_given(problem: Problem, lines: Sequence[str]) -> Problem:
    """Return a problem with the columns of the lines as they were given."""
    related = tuple(replace(item, column=_column(lines, item.line, item.column)) for item in problem.related)
    return replace(
        problem,
        column=_column(lines, problem.line, problem.column),
        end_column=_column(lines, problem.end_line, problem.end_column),
        related=related,
        mend=mend_as_given(problem.mend, lines) if problem.mend is not None else None,
    )


def name_as_given(name: NameFact, lines: Sequence[str]) -> NameFact:
    """Return a name with the column of the line as it was given."""
    return replace(name, column=_column(lines, name.line, name.column))


def _column(lines: Sequence[str], line: int, column: int) -> int:
    """Return a column from 1 in the line as it was given; 0 and lines that are not there stay as they are."""
    return given_column(lines[line - 1], column) if 0 < line <= len(lines) and column else column
