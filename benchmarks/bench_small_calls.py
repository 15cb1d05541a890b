"""Calls from Python of a small operator, with sizes that are known when it is built and with any, beside apache-tvm."""

from collections.abc import Mapping
from importlib import import_module
from statistics import quantiles
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.bench_vm import HEAD
from benchmarks.table import Table
from benchmarks.timing import Case, measure
from relax_core.bytecode.build import build
from relax_core.frontend.parse import parse_text
from relax_core.vm.virtual_machine import VirtualMachine

BATCH = 100
ASKED = 1.0
"""How often ours is to be done in apache-tvm's time."""
SOFTMAX = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, COLUMNS), "float32")) -> R.Tensor((8, COLUMNS), "float32"):
        return R.nn.softmax(x, axis=-1)
"""
PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "softmax 8 x 16": SOFTMAX.replace("COLUMNS", "16"),
        "softmax 8 x n": SOFTMAX.replace("COLUMNS", '"n"'),
    }
)
TVM = ", apache-tvm"


def run() -> Table:
    """Measure batches of calls; the note compares what is reached with what is asked for."""
    value = np.random.default_rng(0).random((8, 16), "float32")
    cases: dict[str, Case] = {}
    for name, text in PROGRAMS.items():
        ours, theirs = _ours(text, value), _theirs(text, value)
        np.testing.assert_allclose(ours(), theirs().numpy(), 1e-5, err_msg=name)
        cases |= {name: _batch(ours), name + TVM: _batch(theirs)}
    rows = measure(cases, sample_count=25)
    quick = {row.name: quantiles(row.seconds, n=4)[0] for row in rows}
    said = (
        f"{name}: apache-tvm takes {quick[name + TVM] / quick[name]:.2f} times as long; asked for is {ASKED:g}"
        for name in PROGRAMS
    )
    return Table(f"{BATCH} calls of a small operator", rows, "\n".join(said))


def _ours(text: str, value: Any) -> Any:
    main = VirtualMachine(build(parse_text(HEAD + text, "bench.py").modules[0]))["main"]
    return lambda: main(value)


def _theirs(text: str, value: Any) -> Any:
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    main = relax.VirtualMachine(relax.build(tvm.script.from_source(text), "llvm"), tvm.cpu())["main"]
    tensor = tvm.runtime.tensor(value)
    return lambda: main(tensor)


def _batch(call: Case) -> Case:
    return lambda: [call() for _ in range(BATCH)]
