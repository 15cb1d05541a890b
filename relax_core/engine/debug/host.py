"""The public functions that run and look for faults, in this process: which pass changed a result, and values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from relax_core.bytecode.build import Built, build
from relax_core.bytecode.compile import AsIn
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import RunError
from relax_core.engine.debug import bisect
from relax_core.engine.debug.intermediates import intermediates, members, names_in
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Tolerance
from relax_core.engine.halving.reply import DEFAULT_BUDGET, Budget
from relax_core.engine.programs.prim_entry import called, with_entries
from relax_core.engine.splicing.forms import forms
from relax_core.engine.splicing.wholes import PrintedStage
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import Passes, run_pipeline
from relax_core.present.memory import present_memory
from relax_core.present.running.memory_models import MemoryView
from relax_core.vm.external.stand_ins import StandIn, StandInCall, calls_words
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import VirtualMachine, entry_arguments


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """What a run came to: the value, what was printed, and which calls of packed functions were stand-ins."""

    value: Any
    output: tuple[str, ...] = ()
    stand_ins: tuple[StandInCall, ...] = ()

    def to_text(self) -> str:
        """Print what the program printed, its result, and which calls were stand-ins."""
        notes = (f"note: {calls_words(self.stand_ins)}",) if self.stand_ins else ()
        return "\n".join((*self.output, str(self.value), *notes))


def run(
    module: IRModule,
    *args: Any,
    entry: str = "main",
    passes: Passes | None = None,
    stand_ins: Mapping[str, StandIn] | None = None,
    as_in: AsIn = "fixed",
) -> Ran:
    """Run a function of a module on NumPy arrays, through the default pipeline unless `passes` say otherwise.

    A prim func takes an array for each buffer and a number for each scalar, and gives the buffers that it writes. In a
    module that has nothing else the first one runs if `entry` names none.
    `stand_ins` answer for packed functions by name: "zeros" of the type that the call declares, a Python function, or
    what a recorded run gave (`recorded_results`). `as_in="reported"` switches on the bugs that were reported.

    Raises:
        CompileError: the module has errors.
        RunError: the program failed.
    """
    lines: list[str] = []
    executable = build(with_entries(module, entry), passes=passes, as_in=as_in)
    machine = VirtualMachine(executable, on_output=lines.append, stand_ins=stand_ins)
    value = machine[called(module, entry)](*args)
    return Ran(value, tuple(lines), machine.stand_in_calls)


def bisect_passes(
    module: IRModule,
    passes: Passes | None = None,
    *args: Any,
    entry: str = "main",
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    stand_ins: Mapping[str, StandIn] | None = None,
    budget: Budget = DEFAULT_BUDGET,
) -> Bisection:
    """Run `module` as it is and after each of `passes`, the default pipeline if `None`, on the same arguments.

    `found.verdict` is "same" only if every stage was compared. `found.first_different` is the number of the first stage
    whose result, output or changed arguments are not those of the source, -1 if there is none; `found.suspects` are the
    stages that may have changed it; `found.to_text()` says what came of each. `found.halved` says which changes of the
    guilty pass make the result wrong, for which a part of them was applied within the `budget`. With `stand_ins` for
    packed functions no stage is comparable, unless they are recorded results.

    Raises:
        CompileError: the module or the text of the pipeline has errors.
    """
    candidates = bisect.stage_candidates(module, run_pipeline(module, passes), entry=entry)
    return _bisect(candidates, bisect.Call(called(module, entry), args), tolerance, stand_ins, budget)


def bisect_modules(
    modules: Mapping[str, IRModule],
    *args: Any,
    entry: str = "main",
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    stand_ins: Mapping[str, StandIn] | None = None,
    budget: Budget = DEFAULT_BUDGET,
) -> Bisection:
    """Run several forms of a module on the same arguments, such as `parse_all` of what another compiler printed.

    The first one is the reference for those behind it; if it does not run, nothing is comparable. The prim funcs of a
    module that has nothing else take the places of those in the last whole one; without one `entry` names one of them.
    """
    stages = (_stage(name, module) for name, module in modules.items())
    first = next(iter(modules.values()), None)
    if first is not None:
        entry = called(first, entry)
    return _bisect(forms(stages), bisect.Call(entry, args), tolerance, stand_ins, budget)


def _stage(name: str, module: IRModule) -> PrintedStage:
    return PrintedStage(name, id(module), "", lambda: module, lambda: module, lambda: Built(_built(module)), _built)


def _built(module: IRModule) -> Executable:
    return build(with_entries(module))


def binding_values(
    module: IRModule, *args: Any, entry: str = "main", passes: Passes | None = None
) -> Mapping[str, npt.NDArray[Any]]:
    """Run `module` and return the value of every binding as it was when it was bound, in the order of time.

    Names are `FUNCTION.VARIABLE`, `FUNCTION.VARIABLE#2` for the second time; fields of tuples add `_0`.

    Raises:
        CompileError: the module has errors.
        RunError: the program failed, or the values are too large together.
    """
    executable = build(with_entries(module, entry), passes=passes)
    entry = called(module, entry)
    trace = Machine(executable).run(entry, entry_arguments(executable, entry, args))
    if trace.error is not None:
        raise RunError((trace.error,))
    return members(intermediates(trace))


def memory_report(module: IRModule, *args: Any, entry: str = "main", passes: Passes | None = None) -> MemoryView:
    """Run `module` and return which storages and tensors it held when, and which were used too late.

    `to_text()` prints it; `faults` are tensors that were used after their storage was taken again.

    Raises:
        CompileError: the module has errors.
        RunError: an argument has no counterpart in the machine. A run that fails is reported until then.
    """
    executable = build(with_entries(module, entry), passes=passes)
    entry = called(module, entry)
    trace = Machine(executable).run(entry, entry_arguments(executable, entry, args))
    return present_memory(trace, names_in(module))


def _bisect(
    candidates: Iterable[bisect.Candidate],
    call: bisect.Call,
    tolerance: Tolerance,
    stand_ins: Mapping[str, StandIn] | None,
    budget: Budget,
) -> Bisection:
    def run(executable: Executable, values: tuple[Value, ...]) -> Trace:
        return Machine(executable, record=False, stand_ins=stand_ins).run(call.entry, values)

    def record(executable: Executable, values: tuple[Value, ...]) -> Trace:
        return Machine(executable, stand_ins=stand_ins).run(call.entry, values)

    return bisect.bisect(candidates, call, bisect.RunForms(run, record), tolerance=tolerance, budget=budget)
