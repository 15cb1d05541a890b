"""Answers the requests that look for faults."""

from collections.abc import Callable
from typing import assert_never

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug import bisect, compared, intermediates, stops
from relax_core.engine.debug.changed import trace_of
from relax_core.engine.debug.compared import machine_for, tolerance_of
from relax_core.engine.debug.means import Means
from relax_core.engine.debug.profile import profiled
from relax_core.engine.debug.replies import Bisection, Dumped, Profiled, Stopped
from relax_core.engine.debug.requests import (
    AnyDebugRequest,
    BisectOf,
    CompareArchiveOf,
    CompareValuesOf,
    DumpOf,
    MemoryOf,
    ProfileOf,
    StopsOf,
)
from relax_core.engine.inputs import write_members
from relax_core.engine.protocol import Progress
from relax_core.engine.study import Study
from relax_core.engine.text_views import executed
from relax_core.present.memory import present_memory
from relax_core.present.memory_models import MemoryView
from relax_core.vm.profile import TimedMachine, profile
from relax_core.vm.trace import Trace
from relax_core.vm.values import Value
from relax_core.vm.virtual_machine import entry_arguments


def answer(message: AnyDebugRequest, study: Study, means: Means) -> object:
    """Answer a request about the program of `study`.

    Raises:
        DiagnosedError: the program or its inputs have errors.
    """
    match message:
        case BisectOf():
            return study.remembered(message, lambda: _bisect(message, study, means))
        case CompareValuesOf():
            return study.remembered(message, lambda: compared.values(message, study, means))
        case CompareArchiveOf():
            return compared.archive(message, study, means)
        case ProfileOf():
            return study.remembered(message, lambda: _profile(study, means))
        case DumpOf():
            return _dump(message, study, means)
        case MemoryOf():
            return study.remembered(message, lambda: _memory(message, study, means))
        case StopsOf():
            return _stops(message, study, means)
        case _:
            assert_never(message)


def _bisect(message: BisectOf, study: Study, means: Means) -> Bisection:
    name, args = study.source.call()
    if message.others:
        studies = (study, *map(means.study_of, message.others))
        # A program may have another pipeline than the one before it, so each is a form of its own.
        candidates = [bisect.Candidate(item.source.program.name, _built(item, means)) for item in studies]
    else:
        candidates = list(
            bisect.stage_candidates(study.source.module, study.compilation.stages(means.report, means.is_cancelled))
        )

    def progress(number: int, name: str) -> None:
        if means.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while comparing the stages"),))
        means.report(Progress(f"Running after {name}" if name else "Comparing", number, len(candidates)))

    def run(executable: Executable, args: tuple[Value, ...]) -> Trace:
        return study.runs.run_machine(machine_for(executable, study, means), name, args, means.is_cancelled)

    return bisect.bisect(
        candidates, bisect.Call(name, args), run, tolerance=tolerance_of(message.closeness), progress=progress
    )


def _built(study: Study, means: Means) -> Callable[[], Executable]:
    return lambda: study.compilation.executable(means.report, means.is_cancelled)


def _dump(message: DumpOf, study: Study, means: Means) -> Dumped:
    trace = trace_of(study, message.program.changes, means)
    found = intermediates.intermediates(trace, means.is_cancelled)
    return Dumped(write_members(intermediates.members(found)), len(found), executed(trace))


def _memory(message: MemoryOf, study: Study, means: Means) -> MemoryView:
    trace = trace_of(study, message.program.changes, means)
    means.report(Progress("Following the memory"))
    return present_memory(trace, intermediates.names_in(study.source.module), means.is_cancelled)


def _stops(message: StopsOf, study: Study, means: Means) -> Stopped:
    trace = trace_of(study, message.program.changes, means)
    times, met, faults = stops.times_of(trace, message.breakpoints, means.is_cancelled)
    texts = stops.stop_texts(trace, times[: message.limit], study.source.program.name, study.source.program.text)
    return Stopped(texts, met, len(times), executed(trace), tuple(dict.fromkeys(item.render() for item in faults)))


def _profile(study: Study, means: Means) -> Profiled:
    executable = study.compilation.executable(means.report, means.is_cancelled)
    name, args = study.source.call()
    means.report(Progress(f"Measuring `{name}`"))
    machine = TimedMachine(executable, means.limits, means.engine_of(study))
    study.runs.machine = machine
    try:
        found = profile(machine, name, entry_arguments(executable, name, args), means.is_cancelled)
    finally:
        study.runs.machine = None
    if found.error is not None and means.is_cancelled():
        raise RunError((found.error,))
    return profiled(executable, found, study.source.parsed.source)
