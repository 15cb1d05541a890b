"""The matrix product beside apache-tvm's default build, apache-tvm scheduled by hand, and NumPy."""

from benchmarks.operator_cases import CASES
from benchmarks.performance import numpy_call, our_call, tvm_call
from benchmarks.scheduled import scheduled_matmul
from benchmarks.table import Row, Table
from benchmarks.timing import measure
from relax_core.jit.compilation.target import Target

SIZES = (512, 1024)
ROUNDS = 5


def run() -> Table:
    """Measure products of square matrices; the note has the rate of each."""
    rows = [row for size in SIZES for row in _rows(size)]
    rates = {row.name: _operations(row.name) / row.median_seconds / 1e9 for row in rows}
    return Table("Schedules", tuple(rows), "\n".join(f"{name}: {rate:.0f} GFLOP/s" for name, rate in rates.items()))


def _operations(name: str) -> int:
    size = next(size for size in SIZES if f" {size}," in name)
    return 2 * size**3


def _rows(size: int) -> tuple[Row, ...]:
    name = f"matmul {size}"
    case = next(item for item in CASES if item.name == name)
    a, b = case.inputs()
    scheduled = scheduled_matmul(size, Target().processor)
    return measure(
        {
            f"{name}, RelaxScope": our_call(case, (a, b)),
            f"{name}, apache-tvm": tvm_call(case, (a, b)),
            f"{name}, apache-tvm with a schedule by hand": lambda: scheduled(a, b),
            f"{name}, NumPy": numpy_call(case, (a, b)),
        },
        sample_count=ROUNDS,
    )
