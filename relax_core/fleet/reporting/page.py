"""A matrix as a page of HTML: a row per module, a column per command, each cell leading to its module and stage."""

import base64
import os
import zlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlencode

from relax_core.fleet.campaign import Cell, Matrix, State
from relax_core.fleet.jobs import Command, Result
from relax_core.fleet.reporting.text import cost, told
from relax_core.present.escape import markup
from relax_core.present.theme import DARK, LIGHT, TOKENS

_PAGE_OF: Final[Mapping[Command, str]] = MappingProxyType(
    {"check": "", "run": "run", "bisect": "passes", "partition": "partition", "diff": ""}
)
"""The first page of the app has no name in its address."""
_CLASS_OF: Final[Mapping[State, str]] = MappingProxyType(
    {"passed": "ok", "failed": "bad", "not compared": "open", "limit": "lost", "crashed": "lost", "not done": "open"}
)
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_LONGEST_ADDRESS: Final = 60_000
"""Characters of an address that the app's server takes."""


def to_html(matrix: Matrix, file: str, app: str = "") -> str:
    """Write the page for `file`, to which links to the modules are relative.

    With `app`, such as `http://127.0.0.1:8501`, a cell leads to the app, whose address then holds the module's text; a
    text that is too long for that stays a file.
    """
    folder = Path(file).parent
    heads = "".join(f"<th>{markup(command)}</th>" for command in matrix.commands)
    rows = "".join(_row(row, matrix.commands, folder, app) for row in matrix.rows())
    problem = f'<p class="bad">Not all was done: {markup(matrix.problem)}</p>' if matrix.problem else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>Many modules</title><style>{_style()}</style></head><body>"
        f"<h1>{len(matrix.rows()):,} modules</h1>{problem}<ul>{''.join(_sums(matrix))}</ul>"
        f"<p>{markup(cost(matrix))}<br>{markup(matrix.version)}</p>"
        '<p><label><input type="checkbox" id="only"> only modules that did not pass everywhere</label></p>'
        f"<table><thead><tr><th>Module</th>{heads}</tr></thead><tbody>{rows}</tbody></table></body></html>\n"
    )


def address(app: str, cell: Cell) -> str:
    """Return the address in the app of a cell's module and stage, "" if it would be too long or there is no module."""
    if cell.job is None:
        return ""
    program = cell.job.program
    values = {"z": _packed(program.text), "tz": _packed(program.tables), "rz": _packed(program.rules)}
    values["pipeline"] = program.pipeline or ""
    values["seed"] = str(program.seed or "")
    values["stage"] = str(cell.result.stage) if cell.result is not None and cell.result.stage >= 0 else ""
    found = f"{app.rstrip('/')}/{_PAGE_OF[cell.command]}?{urlencode({n: v for n, v in values.items() if v})}"
    return found if len(found) <= _LONGEST_ADDRESS else ""


def _packed(text: str) -> str:
    """Write a text as the app's addresses hold it."""
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=") if text else ""


def _sums(matrix: Matrix) -> Iterator[str]:
    for command in matrix.commands:
        yield f"<li><b>{markup(command)}</b> {markup(told(matrix.counts(command)))}</li>"
    changed = sum(bool(cell.change) for cell in matrix.cells)
    if changed:
        yield f"<li>{changed:,} other than in the earlier run</li>"


def _row(row: tuple[Cell, ...], commands: tuple[Command, ...], folder: Path, app: str) -> str:
    cell_of = {cell.command: cell for cell in row}
    is_good = all(cell.state == "passed" and not cell.change for cell in row)
    file = quote(os.path.relpath(row[0].path, folder)) if row[0].path else ""
    name = f'<a href="{markup(file)}">{markup(row[0].name)}</a>' if file else markup(row[0].name)
    cells = "".join(_cell(cell_of.get(command), file, app) for command in commands)
    return f'<tr class="{"passed" if is_good else "other"}"><th scope="row">{name}</th>{cells}</tr>'


def _cell(cell: Cell | None, file: str, app: str) -> str:
    if cell is None:
        return "<td></td>"
    result = cell.result or Result("passed")
    link = (address(app, cell) if app else "") or file
    state = f'<a href="{markup(link)}">{markup(cell.state)}</a>' if link else markup(cell.state)
    place = f" at line {result.line}" if result.line else ""
    change = f"<br><i>{markup(cell.change)}</i>" if cell.change else ""
    words = f"<br><small>{markup(result.words)}</small>" if result.words else ""
    return f'<td class="{_CLASS_OF[cell.state]}">{state}{place}{words}{change}</td>'


def _style() -> str:
    colours = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)
    fonts = f"--mono:{TOKENS.font['mono']};--ui:{TOKENS.font['ui']}"
    rules = files("relax_core.fleet.reporting").joinpath("page.css").read_text(encoding="utf-8")
    return f":root{{{colours}{fonts}}}\n{rules}"
