"""The machine: a function that calls itself, and what recording costs, beside apache-tvm's machine."""

import numpy as np

from benchmarks.bench_vm import cases_of
from benchmarks.table import Table
from benchmarks.timing import measure

FIB_INPUT = 12
FIB = """@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        is_small = R.less(n, R.const(2, "int64"))
        if is_small:
            r = n
        else:
            one = R.subtract(n, R.const(1, "int64"))
            a = cls.main(one)
            two = R.subtract(n, R.const(2, "int64"))
            b = cls.main(two)
            r = R.add(a, b)
        return r
"""


def run() -> Table:
    """Compare run to run: apache-tvm, ours on each tier, and with the log read."""
    rows = measure(cases_of(FIB, np.array(FIB_INPUT, np.int64)), sample_count=15)
    return Table(f"fib({FIB_INPUT}), which calls itself", rows, "Ratios are to the first row.")
