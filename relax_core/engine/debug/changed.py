"""Runs in which the host changed values: each goes on from a time of the one before it, which stays as it was."""

from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, dropwhile, groupby, pairwise

import msgspec
import numpy as np

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.forks.references import reference_of
from relax_core.engine.npy import read_npy
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import ChangeAt, Program
from relax_core.engine.protocol import Progress
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.present.running.run import Recording
from relax_core.vm.changes.change import Change, is_file
from relax_core.vm.changes.interventions import interventions
from relax_core.vm.changes.replace import executable_for
from relax_core.vm.external.packed import Packed
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Array
from relax_core.vm.recording.trace import Trace

Changes = tuple[ChangeAt, ...]


def unchanged(program: Program) -> Program:
    """Return the program as it runs without changes."""
    return msgspec.structs.replace(program, changes=()) if program.changes else program


def trace_of(opened: OpenProgram, changes: Changes, context: RequestContext) -> Trace:
    """Record the run of a program, with changes if there are any; the first run and the latest changed one are kept.

    Changes of one time are made together: each sees what was there before all of them.

    Raises:
        DiagnosedError: a change cannot be read or does not fit, or the run cannot go on from its time.
    """
    trace = opened.runs.run(context.report, context.is_cancelled, context.limits, context.engine_of(opened))
    if changes:
        opened.runs.require_machine("a value cannot be changed")
    _check_order(changes)
    moments = [tuple(group) for _, group in groupby(changes, lambda change: change.time)]
    known, latest = opened.runs.changed_run or ((), trace)
    parts = [tuple(chain.from_iterable(moments[:count])) for count in range(len(moments) + 1)]
    start = parts.index(known) if known in parts else 0
    trace = latest if start else trace
    for moment, made in zip(moments[start:], parts[start + 1 :], strict=True):
        trace = _gone_on(opened, trace, moment, context)
        opened.runs.changed_run = made, trace
    return trace


def _check_order(changes: Changes) -> None:
    for before, after in pairwise(changes):
        if after.time < before.time:
            message = f"`{after.text}` at time {after.time} stands behind a change at time {before.time}"
            raise RunError((Diagnostic("EN005", message, hint="give changes in the order of time"),))


def _gone_on(opened: OpenProgram, trace: Trace, moment: Changes, context: RequestContext) -> Trace:
    at = moment[0].time
    asked = [Change(item.text, item.depth, item.is_in_place, _array(item)) for item in moment]
    made = interventions(trace.near(at), at, asked, partial(definitions, opened=opened, limits=context.limits))
    context.report(Progress(f"Running on from time {at}"))
    engine, source = context.engine_of(opened), opened.source
    machine = Machine(
        executable_for(trace, made),
        limits=context.limits,
        engine=engine,
        options=engine.options,
        poisons_memory=source.program.poisons_memory,
        stand_ins=source.stand_ins,
    )
    found = opened.runs.watched(machine, lambda: machine.resume(trace, at, made), context.is_cancelled)
    if context.is_cancelled() and found.error is not None:
        raise RunError((found.error,))
    return found


def definitions(executable: Executable, entry: FunctionEntry, opened: OpenProgram, limits: Limits) -> Packed:
    """Return the definition of a function of a program in NumPy.

    Raises:
        NoReferenceError: there is none.
    """
    return reference_of(executable, entry, lambda: _forms(opened), limits)


def _forms(opened: OpenProgram) -> tuple[IRModule, ...]:
    """Return the forms of a program in Relax, from the first one on."""
    compilation = opened.compilation
    forms = map(compilation.module_at, range(len(compilation.known_stages) + 1))
    return tuple(dropwhile(lambda module: dialect_of(module) == "relay", forms))


def _array(change: ChangeAt) -> Array | None:
    if not change.content or not is_file(change.text):
        return None
    return np.ascontiguousarray(read_npy(change.content))


def recording(opened: OpenProgram, trace: Trace, changes: Changes) -> Recording:
    """Return a run with what its presentation needs; one with changes has a revision of its own."""
    found = opened.recording(trace)
    if not changes:
        return found
    digest = sha256(repr(changes).encode("utf-8", "replace")).hexdigest()[:8]
    return replace(found, revision=f"{found.revision}+{digest}")
