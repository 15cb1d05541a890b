"""A matrix as text for a terminal, and as objects of JSON."""

from collections.abc import Iterator, Mapping

import msgspec

from relax_core.diagnostics import plural
from relax_core.fleet.campaign import NOT_DONE, Cell, Matrix, State
from relax_core.fleet.jobs import Result
from relax_core.present.escape import visible


class CellRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `--json` prints of a cell."""

    name: str
    path: str
    command: str
    outcome: State
    result: Result | None = None
    earlier: Result | None = None
    change: str = ""


def to_text(matrix: Matrix, *, shows_all: bool = False) -> str:
    """Write the rows of the modules that were done and did not pass in all columns, or of all, and the sums."""
    rows = [row for row in matrix.rows() if shows_all or any(_is_shown(cell) for cell in row)]
    width = max((len(visible(row[0].name)) for row in rows), default=0)
    lines = [line for row in rows for line in _lines(row, width)]
    return "\n".join((*lines, *([""] if lines else []), *summary(matrix)))


def to_json(matrix: Matrix) -> Iterator[str]:
    """Write each cell as an object, in the order of the names."""
    for cell in matrix.cells:
        record = CellRecord(cell.name, cell.path, cell.command, cell.state, cell.result, cell.earlier, cell.change)
        yield msgspec.json.encode(record).decode()


def summary(matrix: Matrix) -> Iterator[str]:
    """Say what the columns come to, how many results were there already, and how long the others took."""
    columns = {command: told(matrix.counts(command)) for command in matrix.commands}
    width = max(map(len, columns), default=0)
    yield f"{plural(len(matrix.rows()), 'module')}"
    for command, words in columns.items():
        yield f"{command.ljust(width)}  {words}"
    changed = sum(bool(cell.change) for cell in matrix.cells)
    if any(cell.earlier is not None for cell in matrix.cells):
        yield f"{plural(changed, 'result')} other than in the earlier run"
    yield cost(matrix)


def cost(matrix: Matrix) -> str:
    """Say how many jobs were carried out, in what time, and how many results were kept."""
    rate = f", {matrix.done_count / matrix.seconds:.3g} a second" if matrix.done_count and matrix.seconds else ""
    kept = f"; {plural(matrix.kept_count, 'result')} kept from before" if matrix.kept_count else ""
    return f"{plural(matrix.done_count, 'job')} in {matrix.seconds:.1f} s{rate}, {matrix.fleet}{kept}"


def told(counts: Mapping[State, int]) -> str:
    """Write `3 passed, 1 failed`."""
    return ", ".join(f"{count:,} {state}" for state, count in counts.items())


def sentence(cell: Cell) -> str:
    """Say what came of a cell: the outcome, where, why, and what is different from the earlier run."""
    result = cell.result or Result("passed")
    place = f" at line {result.line}" if result.line else ""
    words = f": {result.words}" if result.words else ""
    change = f" ({cell.change})" if cell.change else ""
    return visible(f"{cell.state}{place}{words}{change}")


def _is_shown(cell: Cell) -> bool:
    return cell.state not in ("passed", NOT_DONE) or bool(cell.change)


def _lines(row: tuple[Cell, ...], width: int) -> Iterator[str]:
    column = max(len(cell.command) for cell in row)
    name = visible(row[0].name)
    for cell in row:
        yield f"{name.ljust(width)}  {cell.command.ljust(column)}  {sentence(cell)}"
        name = ""
