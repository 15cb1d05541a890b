"""Text: reading and printing here and in apache-tvm, on several kinds of text and over a range of sizes."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from benchmarks.script_texts import bindings, mixed
from benchmarks.table import Row, Table
from benchmarks.timing import Case, measure
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.printer.tvmscript import print_module

SIZES = (100, 1000, 4000)
LAYER_COUNTS = (1, 4)
SAMPLE_COUNT = 5


def run() -> Table:
    """Measure reading and printing per text, here and in TVM if that is installed; the note gives the ratios."""
    try:
        tvm: Any = import_module("tvm")
    except ImportError:
        sys.stderr.write("apache-tvm is not installed: no comparison, and no text that it prints\n")
        tvm = None
    rows: list[Row] = []
    notes: list[str] = []
    for name, text in _texts(tvm):
        found = {row.name: row for row in measure(_cases(name, text, tvm), sample_count=SAMPLE_COUNT)}
        rows += found.values()
        for verb in ("read", "print"):
            here, there = found[f"{verb} {name}"], found.get(f"{verb} {name} in TVM")
            if there is not None:
                notes.append(f"{verb} {name}: TVM takes {there.median_seconds / here.median_seconds:.2f} times as long")
    return Table("Text", tuple(rows), "\n".join(notes))


def _texts(tvm: Any) -> Iterator[tuple[str, str]]:
    for size in SIZES:
        yield f"{size} mixed lines", mixed(size)
        yield f"{size} bindings", bindings(size)
    if tvm is None:
        return
    for name, module in import_module("benchmarks.relax_models").models(LAYER_COUNTS):
        if name.startswith("decoder"):
            yield f"a {name}", module.script(show_meta=True)
            legalized = tvm.relax.transform.LegalizeOps()(module)
            yield f"a {name}, legalized", legalized.script(show_meta=True)


def _cases(name: str, text: str, tvm: Any) -> dict[str, Case]:
    module = _read(text)
    cases: dict[str, Case] = {
        f"read {name}": lambda: _read(text),
        f"print {name}": lambda: print_module(module),
    }
    if tvm is not None:
        theirs = tvm.script.from_source(text, check_well_formed=False)
        cases[f"read {name} in TVM"] = lambda: tvm.script.from_source(text, check_well_formed=False)
        cases[f"print {name} in TVM"] = lambda: theirs.script(show_meta=True)
    return cases


def _read(text: str) -> IRModule:
    parsed = parse_text(text, "text.py")
    assert all(item.severity != "error" for item in parsed.diagnostics), parsed.diagnostics[0].render()
    return parsed.modules[0]
