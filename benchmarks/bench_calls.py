"""What a call of a small kernel costs, beside an empty Python function."""

import numpy as np

from benchmarks.table import Table
from benchmarks.timing import Case, measure
from relax_core.frontend.parse import parse_text
from relax_core.jit.engine import Engine

TEXT = """@T.prim_func
def add(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        C[i] = A[i] + B[i]
"""
BATCH = 100
EMPTY, CHECKED, MADE = "an empty function", "kernel through its builtin", "the same, with a new output"


def run() -> Table:
    """Measure batches of calls; every row is the time of one call and of the loop around it."""
    ((_, function),) = parse_text(TEXT, "add").modules[0].prim_funcs
    kernel = Engine().kernel(function, "add")
    call, make = kernel.caller(), kernel.allocating_caller((4,), "float32")
    a, b, out = np.ones(4, "float32"), np.ones(4, "float32"), np.zeros(4, "float32")

    def nothing(a: object, b: object, out: object) -> None:
        pass

    cases: dict[str, Case] = {
        EMPTY: lambda: [nothing(a, b, out) for _ in range(BATCH)],
        CHECKED: lambda: [call(a, b, out) for _ in range(BATCH)],
        MADE: lambda: [make(a, b) for _ in range(BATCH)],
        "NumPy, into an output": lambda: [np.add(a, b, out=out) for _ in range(BATCH)],
        "NumPy, with a new output": lambda: [np.add(a, b) for _ in range(BATCH)],
        "kernel through Python and ctypes": lambda: [kernel(a, b, out) for _ in range(BATCH)],
    }
    rows = measure(cases, sample_count=25)
    median = {row.name: row.median_seconds / BATCH * 1e9 for row in rows}
    note = "per call, beyond an empty function: " + ", ".join(
        f"{name} {median[name] - median[EMPTY]:.0f} ns" for name in (CHECKED, MADE)
    )
    return Table(f"{BATCH} calls of a kernel on 4 elements", rows, note)
