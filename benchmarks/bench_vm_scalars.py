"""The machine: a function of scalars that calls itself, beside apache-tvm's machine."""

from importlib import import_module
from statistics import quantiles
from typing import Any

from benchmarks.bench_vm import HEAD
from benchmarks.table import Table
from benchmarks.timing import measure
from relax_core.bytecode.build import build
from relax_core.frontend.parse import parse_text
from relax_core.vm.machine import Machine
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm import programs

FIB_INPUT = 12
ASKED = 3.0
"""How often ours is to be done in apache-tvm's time."""
FIB = f"@I.ir_module\nclass Module:{programs.FIB}"
TVM, OURS = "apache-tvm's machine", "ours"


def run() -> Table:
    """Compare run to run; the note compares what is reached with what is asked for."""
    executable = build(parse_text(HEAD + FIB, "bench.py").modules[0])
    main, recording = VirtualMachine(executable)["main"], Machine(executable)
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    theirs = relax.VirtualMachine(relax.build(tvm.script.from_source(FIB), "llvm"), tvm.cpu())["main"]
    if int(theirs(FIB_INPUT)) != main(FIB_INPUT):
        raise RuntimeError("the results differ: the figures would mean nothing")
    cases = {
        TVM: lambda: theirs(FIB_INPUT),
        OURS: lambda: main(FIB_INPUT),
        "ours, with a log of all values": lambda: recording.run("main", (FIB_INPUT,)),
    }
    rows = measure(cases, sample_count=15)
    quick = {row.name: quantiles(row.seconds, n=4)[0] for row in rows}
    note = f"apache-tvm takes {quick[TVM] / quick[OURS]:.2f} times as long as ours; asked for is {ASKED:g}"
    return Table(f"fib({FIB_INPUT}) of scalars, which calls itself", rows, note)
