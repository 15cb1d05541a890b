"""Kernels of a GPU on the simulated one, with all that is looked for: two operators that dlight has scheduled."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import relax_core as rc
from benchmarks.table import Table
from benchmarks.timing import measure

SCRIPT = Path(__file__).resolve().parents[1] / "tests" / "simt" / "dlight.py"
BOUNDS = {"softmax 128x1000": 1.0, "matmul 512": 10.0}
ROUNDS = 5


def run() -> Table:
    """Simulate both; the bounds are 1 s and 10 s."""
    printed = subprocess.run([sys.executable, SCRIPT, *BOUNDS], capture_output=True, text=True, check=True).stdout
    texts: dict[str, str] = json.loads(printed.splitlines()[-1])
    cases = {name: _case(texts[name]) for name in BOUNDS}
    rows = measure(cases, sample_count=ROUNDS)
    slowest = "\n".join(
        f"{row.name}: at most {max(row.seconds):.2f} s; the bound is {BOUNDS[row.name]:g} s" for row in rows
    )
    return Table("Launches on the simulated GPU, with the sanitizer", rows, slowest)


def _case(text: str) -> Any:
    module = rc.parse(text, "kernel.py")
    entry = module.names[0]
    random = np.random.default_rng(0)
    function: Any = module[entry]
    given = [random.uniform(-1, 1, [dim.value for dim in item.buffer.shape]) for item in function.buffers]
    args = [value.astype(np.float32) for value in given]

    def case() -> None:
        if not rc.simulate(module, entry, *args).is_clean:
            raise RuntimeError("the launch is clean")

    return case
