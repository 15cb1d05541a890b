"""The machine: a chain of small kernels, and what recording costs, beside apache-tvm's machine."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.table import Table
from benchmarks.timing import measure
from relax_core.bytecode.build import build
from relax_core.frontend.parse import parse_text
from relax_core.vm.machine import Machine
from relax_core.vm.virtual_machine import VirtualMachine

CHAIN_COUNT = 1000
HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n"

ADD_ONE = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_one(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.float32(1)
"""


def calls_of_add_one(count: int) -> str:
    """Write bindings x1, x2, ... of so many calls, each on what the one before gives."""
    return "".join(
        f'        x{i + 1} = R.call_tir(cls.add_one, (x{i},), out_ty=R.Tensor((4,), "float32"))\n' for i in range(count)
    )


CHAIN = (
    ADD_ONE
    + """
    @R.function
    def main(x0: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
"""
    + calls_of_add_one(CHAIN_COUNT)
    + f"        return x{CHAIN_COUNT}\n"
)


def run() -> Table:
    """Compare run to run: apache-tvm, ours on each tier, and with the log read."""
    chain = np.zeros(4, np.float32)
    rows = measure(cases_of(CHAIN, chain), sample_count=15)
    return Table(f"A chain of {CHAIN_COUNT} small call_tir", rows, "Ratios are to the first row.")


def cases_of(text: str, value: npt.NDArray[Any]) -> dict[str, Callable[[], object]]:
    """Return what runs `main` of a program, in all ways. apache-tvm's parser wants no imports."""
    executable = build(parse_text(HEAD + text, "bench.py").modules[0])
    main = VirtualMachine(executable)["main"]
    recording, explicit = Machine(executable), Machine(executable, record=False, tier="explicit")
    return {
        "apache-tvm's machine": _theirs(text, value),
        "ours": lambda: main(value),
        "ours, with a log of all values": lambda: recording.run("main", (value,)),
        "ours, with a log that is read": lambda: len(recording.run("main", (value,)).pcs),
        "ours, instruction by instruction": lambda: explicit.run("main", (value,)),
    }


def _theirs(text: str, value: npt.NDArray[Any]) -> Callable[[], object]:
    # By name: the package has no type stubs.
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    machine = relax.VirtualMachine(relax.build(tvm.script.from_source(text), "llvm"), tvm.cpu())
    given, main = tvm.runtime.tensor(value), machine["main"]
    return lambda: main(given)
