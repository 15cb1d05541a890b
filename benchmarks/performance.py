"""Operators, kernels and the machine beside apache-tvm and NumPy: `python -m benchmarks.performance [--write]`.

Every figure is a median of interleaved rounds in one run. With `--write` the table replaces `docs/performance.md`.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import relax_core as rc
from benchmarks.operator_cases import CASES, Family, OperatorCase
from benchmarks.table import Row
from benchmarks.timing import Case, aligned, measure

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
ROUNDS, SLOW_ROUNDS = 15, 3
SLOW_SECONDS = 0.05
TOLERANCE = 2e-3
PREFACE = (
    "Written by `python -m benchmarks.performance --write`: medians of interleaved rounds in one process.",
    'apache-tvm is its default build, `relax.build(module, "llvm")`, without a schedule; a tuned one is faster: see',
    "the table of schedules. All results are compared before they are timed. `x` tells how often RelaxScope is done",
    "meanwhile. apache-tvm and NumPy run on one thread, RelaxScope takes another for big kernels. All get inputs that",
    "start at a line of the cache, as apache-tvm's own tensors do.",
)
TABLES = (
    "arithmetic",
    "scheduled",
    "ladder",
    "contractions",
    "checks",
    "cancel",
    "vm",
    "vm_calls",
    "vm_scalars",
    "calls",
    "small_calls",
    "first_calls",
    "transformer",
    "text",
    "partition",
    "devices",
    "large_pages",
    "inside",
    "simulated",
)
"""Benchmarks whose tables the document holds below the operators."""
THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"
OURS, TVM, NUMPY = "RelaxScope", "apache-tvm", "NumPy"


@dataclass(frozen=True, slots=True)
class Measured:
    """The medians of a case and how often it was run; `spread` is the middle half of ours by its median."""

    case: OperatorCase
    seconds: Mapping[str, float]
    spread: float
    rounds: int

    def ratio(self, other: str) -> float:
        """Return how often ours is done in the time of another."""
        return self.seconds[other] / self.seconds[OURS]


def measure_case(case: OperatorCase) -> Measured:
    """Check that all three agree, and time them in turns."""
    inputs = [aligned(value) for value in case.inputs()]
    cases: dict[str, Case] = {
        OURS: our_call(case, inputs),
        TVM: tvm_call(case, inputs),
        NUMPY: numpy_call(case, inputs),
    }
    results = {name: np.asarray(run()) for name, run in cases.items()}
    for name, result in results.items():
        np.testing.assert_allclose(result, results[TVM], TOLERANCE, TOLERANCE, err_msg=f"{case.name}: {name}")
    slowest = max(row.median_seconds for row in measure(cases, sample_count=1))
    rounds = SLOW_ROUNDS if slowest > SLOW_SECONDS else ROUNDS
    rows = {row.name: row for row in measure(cases, sample_count=rounds)}
    medians = {name: row.median_seconds for name, row in rows.items()}
    return Measured(case, medians, _spread(rows[OURS]), rounds)


def _spread(row: Row) -> float:
    ordered = sorted(row.seconds)
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / median(ordered)


def our_call(case: OperatorCase, inputs: Sequence[Any]) -> Callable[[], Any]:
    """Build the case here."""
    main = rc.VirtualMachine(rc.build(rc.parse(case.text, "case.py")))["main"]
    return lambda: main(*inputs)


def tvm_call(case: OperatorCase, inputs: Sequence[Any]) -> Callable[[], Any]:
    """Build the case with apache-tvm's default pipeline."""
    # By name: the package has no type stubs.
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    machine = relax.VirtualMachine(relax.build(tvm.script.from_source(case.text), "llvm"), tvm.cpu())
    given, main = [tvm.runtime.tensor(value) for value in inputs], machine["main"]

    class Result:
        """Turns the tensor into an array only when it is looked at."""

        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            del copy
            return np.asarray(self.tensor.numpy(), dtype)

    return lambda: Result(main(*given))


def numpy_call(case: OperatorCase, inputs: Sequence[Any]) -> Callable[[], Any]:
    """Compute the case with NumPy."""
    return lambda: case.reference(*inputs)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return exp(sum(log(value) for value in values) / len(values))


def as_markdown(found: Sequence[Measured]) -> str:
    """Write the table, one section per family, with geometric means and the slowest ratio."""
    families: dict[Family, list[Measured]] = {}
    for item in found:
        families.setdefault(item.case.family, []).append(item)
    lines = [
        "# Performance",
        "",
        *PREFACE,
        "",
        "| family | operators | x apache-tvm | least | x NumPy |",
        "|---|--:|--:|--:|--:|",
    ]
    for family, items in families.items():
        against = [item.ratio(TVM) for item in items]
        numpy = geometric_mean([item.ratio(NUMPY) for item in items])
        lines.append(f"| {family} | {len(items)} | {geometric_mean(against):.2f} | {min(against):.2f} | {numpy:.2f} |")
    everything = [item.ratio(TVM) for item in found]
    numpy = geometric_mean([item.ratio(NUMPY) for item in found])
    lines.append(f"| all | {len(found)} | {geometric_mean(everything):.2f} | {min(everything):.2f} | {numpy:.2f} |")
    for family, items in families.items():
        lines += ["", f"## {family.capitalize()}", ""]
        lines += ["| operator | RelaxScope | spread | apache-tvm | NumPy | x apache-tvm | x NumPy | rounds |"]
        lines += ["|---|--:|--:|--:|--:|--:|--:|--:|"]
        lines += [_row(item) for item in items]
    return "\n".join(lines) + "\n"


def _tables() -> str:
    """Run the benchmarks whose tables the document holds besides."""
    found = (import_module(f"benchmarks.bench_{name}").run() for name in TABLES)
    return "".join(f"\n## {table.title}\n\n```text\n{table.as_text()}\n```\n" for table in found)


def _row(item: Measured) -> str:
    times = [_time(item.seconds[name]) for name in (OURS, TVM, NUMPY)]
    ratios = f"{item.ratio(TVM):.2f} | {item.ratio(NUMPY):.2f}"
    return f"| {item.case.name} | {times[0]} | {item.spread:.0%} | {times[1]} | {times[2]} | {ratios} | {item.rounds} |"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cases whose names hold one of the words, all if none is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="part of an operator's or family's name")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT.name}; only with all operators")
    options = parser.parse_args(arguments)
    words = options.words
    chosen = [case for case in CASES if not words or any(word in f"{case.family} {case.name}" for word in words)]
    if not chosen:
        parser.error("no operator and no family has such a name")
    if options.write and words:
        parser.error("the document holds all operators")
    found: list[Measured] = []
    for case in chosen:
        found.append(measure_case(case))
        sys.stderr.write(f"{_row(found[-1])}\n")
    text = as_markdown(found)
    if options.write:
        DOCUMENT.write_text(text + _tables(), encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    if THREADS_VARIABLE not in os.environ:
        # NumPy's library reads it when it is loaded, so the process starts again with it.
        os.execve(sys.executable, [*sys.orig_argv], {**os.environ, THREADS_VARIABLE: "1"})
    sys.exit(main())
