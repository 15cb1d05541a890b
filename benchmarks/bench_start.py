"""Starting: seconds until the package, the command line and a worker are ready, beside Python and NumPy alone."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.table import Table
from benchmarks.timing import measure

ROOT: Final = Path(__file__).resolve().parents[1]
SAMPLE: Final = "samples/relax/callback.py"
SAMPLES: Final = 7

_WORKER = """
from relax_core.engine.process.client import Client
from relax_core.engine.protocol import {request}, Program
from pathlib import Path
with Client() as client:
    client.request({request}(Program(Path({sample!r}).read_text(encoding="utf-8"))))
"""


def run() -> Table:
    """Measure whole processes, from their start to their end."""
    cases: dict[str, Callable[[], object]] = {
        "python -c 'import numpy'": partial(_carried_out, "-c", "import numpy"),
        "python -c 'pass'": partial(_carried_out, "-c", "pass"),
        "python -c 'import relax_core'": partial(_carried_out, "-c", "import relax_core"),
        "python -m relax_core check FILE": partial(_carried_out, "-m", "relax_core", "check", SAMPLE),
        "a client and a worker that checks": partial(_carried_out, "-c", _program("Check")),
        "a client and a worker that runs": partial(_carried_out, "-c", _program("Execute")),
    }
    target = "import relax_core: less than NumPy. check: at most 5 times NumPy, two processes."
    return Table("Start", measure(cases, sample_count=SAMPLES), target)


def _program(request: str) -> str:
    return _WORKER.format(request=request, sample=SAMPLE)


def _carried_out(*arguments: str) -> None:
    subprocess.run((sys.executable, *arguments), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
