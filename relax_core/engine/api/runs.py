"""Passes, bytecode and runs, and what looks for faults in them."""

from typing import Any

from relax_core.bytecode.build import build
from relax_core.check.check import check
from relax_core.diagnostics import CompileError, has_errors
from relax_core.engine.debug.host import Ran, binding_values, bisect_modules, bisect_passes, memory_report, run
from relax_core.engine.debug.requests import ThreadsOf
from relax_core.engine.debug.tolerance import Tolerance
from relax_core.engine.inside.host import Inside, Threads, inside, threads
from relax_core.engine.pipelines.run_files.host import RunRecording, open_run, record_run
from relax_core.engine.screens.origins_view import origins
from relax_core.engine.simulation.host import Simulated, simulate
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.historic import as_reported
from relax_core.passes.own import register_pass
from relax_core.passes.pipeline import pass_, run_pipeline, verify
from relax_core.passes.single_rewrites import after_rewrites, without_rewrite
from relax_core.simt.roofline import Machine
from relax_core.vm.external.packed import register_packed
from relax_core.vm.relay.host import run_relay
from relax_core.vm.virtual_machine import VirtualMachine

__all__ = [
    "Inside",
    "Machine",
    "Pass",
    "PassContext",
    "Ran",
    "RunRecording",
    "Simulated",
    "Threads",
    "ThreadsOf",
    "Tolerance",
    "VirtualMachine",
    "after_rewrites",
    "as_reported",
    "binding_values",
    "bisect_modules",
    "bisect_passes",
    "build",
    "evaluate",
    "inside",
    "memory_report",
    "open_run",
    "origins",
    "pass_",
    "record_run",
    "register_packed",
    "register_pass",
    "run",
    "run_pipeline",
    "simulate",
    "threads",
    "verify",
    "without_rewrite",
]


def evaluate(module: IRModule, entry: str = "main", *args: Any) -> Any:
    """Run a function of a module by definition: without passes, an operator at a time by the table of operators.

    Relay is run by an interpreter of its own, Relax by the machine with nothing lowered that need not be.
    Arguments and results are those of `VirtualMachine`.

    Raises:
        CompileError: the module has errors.
        RunError: the program failed.
    """
    if dialect_of(module) != "relay":
        return VirtualMachine(build(module, passes=""))[entry](*args)
    diagnostics = check(module)
    if has_errors(diagnostics):
        raise CompileError(diagnostics)
    return run_relay(module, entry, args)
