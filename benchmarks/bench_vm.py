"""The machine: chains of small kernels, calls, and what recording costs, beside apache-tvm's machine."""

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
FIB_INPUT = 12
HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n"

CHAIN = (
    """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_one(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.float32(1)

    @R.function
    def main(x0: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
"""
    + "".join(
        f'        x{i + 1} = R.call_tir(cls.add_one, (x{i},), out_ty=R.Tensor((4,), "float32"))\n'
        for i in range(CHAIN_COUNT)
    )
    + f"        return x{CHAIN_COUNT}\n"
)
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
    """Compare run to run: apache-tvm, ours without and with a log of every event."""
    chain, fib = np.zeros(4, np.float32), np.array(FIB_INPUT, np.int64)
    cases = {
        f"chain of {CHAIN_COUNT} call_tir, apache-tvm": _theirs(CHAIN, chain),
        "chain, ours": _ours(CHAIN, chain),
        "chain, ours, recorded": _recorded(CHAIN, chain),
        f"fib({FIB_INPUT}), apache-tvm": _theirs(FIB, fib),
        f"fib({FIB_INPUT}), ours": _ours(FIB, fib),
        f"fib({FIB_INPUT}), ours, recorded": _recorded(FIB, fib),
    }
    return Table("Machine", measure(cases, sample_count=7), "Ratios are to the first row.")


def _ours(text: str, value: npt.NDArray[Any]) -> Callable[[], object]:
    main = VirtualMachine(build(parse_text(HEAD + text, "bench.py").modules[0]))["main"]
    return lambda: main(value)


def _recorded(text: str, value: npt.NDArray[Any]) -> Callable[[], object]:
    machine = Machine(build(parse_text(HEAD + text, "bench.py").modules[0]))
    return lambda: machine.run("main", (value,))


def _theirs(text: str, value: npt.NDArray[Any]) -> Callable[[], object]:
    # By name: the package has no type stubs.
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    machine = relax.VirtualMachine(relax.build(tvm.script.from_source(text), "llvm"), tvm.cpu())
    given, main = tvm.runtime.tensor(value), machine["main"]
    return lambda: main(given)
