"""Long texts: seconds per line for reading and printing, which stay the same if both are linear."""

from benchmarks.script_texts import bindings, mixed
from benchmarks.table import Row, Table
from benchmarks.timing import Case, measure
from relax_core.frontend.parse import parse_text
from relax_core.printer.tvmscript import print_module

BINDING_COUNTS = (1000, 10_000, 50_000)
LINE_COUNTS = (1000, 20_000, 200_000)
SAMPLE_COUNT = 2


def run() -> Table:
    """Measure seconds per line over sizes."""
    texts = {f"{count} bindings": bindings(count) for count in BINDING_COUNTS}
    texts |= {f"{count} mixed lines": mixed(count) for count in LINE_COUNTS}
    rows: list[Row] = []
    for name, text in texts.items():
        line_count = text.count("\n")
        for row in measure(_cases(name, text), sample_count=SAMPLE_COUNT):
            rows.append(Row(row.name, tuple(seconds / line_count for seconds in row.seconds)))
    return Table("Long texts, per line", tuple(rows), "Linear: the same for every size of one kind.")


def _cases(name: str, text: str) -> dict[str, Case]:
    (module,) = parse_text(text, "text.py").modules
    return {
        f"read {name}": lambda: parse_text(text, "text.py"),
        f"print {name}": lambda: print_module(module),
    }
