"""Programs and tables that partitioning refuses or warns of: the codes that the sample announces."""

import re
from pathlib import Path

import pytest

from relax_core.analysis.lint.regions import region_problems
from relax_core.codes import CODES
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.frontend.parse import parse_text
from relax_core.passes.pipeline import run_pipeline
from relax_core.pattern.partition.tables import NO_TABLES, read_tables

ERRORS = Path(__file__).parents[3] / "samples" / "errors"
SAMPLES = sorted(file for letters in ("by", "pt") for file in ERRORS.glob(f"{letters}_*.relay"))
OF_CALLBACKS = {"PT004", "PT008", "PT009", "PT012", "PT013", "PT014", "PT015"}
"""What only a callback of the Python interface can do; no text shows it."""
OF_LARGE_PATTERNS = {"PT006", "PT007", "PT010"}
"""What only patterns of thousands of parts or steps meet; `tests/pattern/test_hostile_tables.py` makes them."""
OF_GRAPHS = {"PT011"}
"""What only patterns of several bindings meet; see `tests/pattern/test_graph_search.py`."""


def _header(text: str, key: str) -> str:
    found = re.search(rf"^// {key}: (.+)$", text, re.MULTILINE)
    return found[1] if found else ""


def _announced(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), 1)
    return [(number, code) for number, line in lines for code in re.findall(r"//! (\w{2}\d{3})", line)]


def _found(text: str) -> tuple[Diagnostic, ...]:
    module = parse_text(text, "m.relay").modules[0]
    table = _header(text, "table")
    try:
        tables = read_tables(table) if table else NO_TABLES
    except CompileError as error:
        return error.diagnostics
    passes = _header(text, "passes")
    # Without a pass it is the lint that warns.
    return run_pipeline(module, passes, tables=tables)[-1].diagnostics if passes else region_problems(module)


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_a_sample_is_refused_as_announced(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    ((line, code),) = _announced(text)
    (found,) = _found(text)
    assert found.code == code
    if code.startswith("BY"):
        assert found.span is not None
        assert found.span.line == line
    assert found.hint or code.startswith("PT")


def test_every_code_of_patterns_and_regions_has_a_sample() -> None:
    shown = {code for file in SAMPLES for _, code in _announced(file.read_text(encoding="utf-8"))}
    assert shown == {code for code in CODES if code[:2] in ("BY", "PT")} - OF_CALLBACKS - OF_LARGE_PATTERNS - OF_GRAPHS
