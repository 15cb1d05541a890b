"""A matrix as Markdown, for the page of a build or a comment on a pull request."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from relax_core.fleet.campaign import Cell, Matrix, State
from relax_core.fleet.reporting.text import cost, sentence, told
from relax_core.present.markdown import code, message, row

_SIGN_OF: Final[Mapping[State, str]] = MappingProxyType(
    {"passed": "✓", "failed": "✗", "not compared": "?", "limit": "⏱", "crashed": "!", "not done": "…"}
)
_MOST_ROWS: Final = 200


def to_markdown(matrix: Matrix) -> str:
    """Write a summary, a table of the modules that did not pass everywhere, and what each of these came to."""
    rows = [cells for cells in matrix.rows() if any(cell.state != "passed" or cell.change for cell in cells)]
    return "\n".join((*_summary(matrix), *_table(matrix, rows[:_MOST_ROWS]), *_parts(rows[:_MOST_ROWS]), *_rest(rows)))


def _summary(matrix: Matrix) -> Iterator[str]:
    yield f"## {len(matrix.rows()):,} modules: {told(matrix.counts())}"
    yield ""
    yield message(cost(matrix))
    if matrix.problem:
        yield ""
        yield f"**Not all was done:** {message(matrix.problem)}"


def _table(matrix: Matrix, rows: list[tuple[Cell, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield row(("Module", *matrix.commands))
    yield row(("---",) * (len(matrix.commands) + 1))
    for cells in rows:
        cell_of = {cell.command: cell for cell in cells}
        found = (cell_of.get(command) for command in matrix.commands)
        signs = ("" if cell is None else f"{_SIGN_OF[cell.state]} {cell.state}" for cell in found)
        yield row((code(cells[0].name), *signs))


def _parts(rows: list[tuple[Cell, ...]]) -> Iterator[str]:
    for cells in rows:
        yield ""
        yield f"### {code(cells[0].name)}"
        yield ""
        for cell in cells:
            if cell.state != "passed" or cell.change:
                yield f"- {cell.command}: {message(sentence(cell))}"


def _rest(rows: list[tuple[Cell, ...]]) -> Iterator[str]:
    if len(rows) > _MOST_ROWS:
        yield ""
        yield f"And {len(rows) - _MOST_ROWS:,} more modules that did not pass everywhere."
