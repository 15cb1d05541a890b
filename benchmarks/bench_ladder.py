"""The matrix product on the rungs of a schedule: by our compiler as it stands there, and by apache-tvm's."""

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.scheduled import TEXT
from benchmarks.table import Row, Table
from benchmarks.timing import Case, measure
from relax_core.engine.protocol import Failure, Program, ScheduleOf
from relax_core.engine.session import Session
from relax_core.jit.compilation.target import Target
from relax_core.present.kernel_models import ScheduleTable

SIZE = 512
ROUNDS = 5
RUNGS = (
    "CacheWrite(block='C', storage_scope='local')",
    "Split(block='C', loop='i', factors=[None, 8])",
    "Split(block='C', loop='j', factors=[None, 32])",
    "Reorder(block='C', loops=['i_0', 'j_0', 'k', 'i_1', 'j_1'])",
    "ReverseComputeAt(block='C_local', loop='j_0')",
    "DecomposeReduction(block='C', loop='k')",
    "Parallel(block='C_update', loop='i_0')",
    "Vectorize(block='C_update', loop='j_1')",
)


def run() -> Table:
    """Time each rung by both compilers; ours are medians of one run, those of apache-tvm of another one."""
    found = _ours()
    theirs = _theirs(found)
    rows = [Row(f"{name}: RelaxScope", (rung.seconds, rung.seconds)) for name, rung in found.rows]
    rows += theirs
    rates = "\n".join(f"{row.name}: {found.operations / row.median_seconds / 1e9:.1f} GFLOP/s" for row in rows)
    return Table(f"A ladder of schedules, a product of {SIZE} x {SIZE} x {SIZE}", tuple(rows), rates)


def _ours() -> ScheduleTable:
    program = Program(TEXT.format(n=SIZE), "matmul.py")
    found = Session().request(ScheduleOf(program, "main", schedule=", ".join(RUNGS)))
    if isinstance(found, Failure) or found.problems or not all(item.words == "the same bits" for item in found.rungs):
        raise RuntimeError(f"the ladder is broken: {found}")
    return found


def _theirs(found: ScheduleTable) -> tuple[Row, ...]:
    # By name: the package has no type stubs.
    tvm: Any = import_module("tvm")
    target = tvm.target.Target({"kind": "llvm", "mcpu": Target().processor})
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((SIZE, SIZE), np.float32) for _ in range(2))
    given = [tvm.runtime.tensor(value) for value in (a, b, np.zeros((SIZE, SIZE), np.float32))]
    cases: dict[str, Case] = {}
    for rung in found.rungs:
        function = tvm.compile(tvm.script.from_source(rung.text), target=target)["main"]
        function(*given)
        np.testing.assert_allclose(given[2].numpy(), a @ b, 2e-3, 2e-3)
        cases[f"{rung.step or 'as it is written'}: apache-tvm"] = lambda function=function: function(*given)
    return measure(cases, sample_count=ROUNDS)
