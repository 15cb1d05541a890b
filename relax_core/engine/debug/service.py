"""Answers the requests that look for faults."""

from collections.abc import Callable
from typing import Literal, assert_never

from relax_core.bytecode.build import build_stages
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.engine.debug import bisect, intermediates, stops
from relax_core.engine.debug.changed import trace_of
from relax_core.engine.debug.differences import Tolerance, compare_arrays, type_of
from relax_core.engine.debug.means import Means
from relax_core.engine.debug.profile import profiled
from relax_core.engine.debug.replies import Bisection, Dumped, Profiled, Stopped, ValueRow, ValuesCompared
from relax_core.engine.debug.requests import (
    AnyDebugRequest,
    BisectOf,
    Closeness,
    CompareArchiveOf,
    CompareValuesOf,
    DumpOf,
    MemoryOf,
    ProfileOf,
    StopsOf,
)
from relax_core.engine.inputs import read_members, write_members
from relax_core.engine.protocol import Program, Progress
from relax_core.engine.study import Study
from relax_core.engine.text_views import executed
from relax_core.present.memory import present_memory
from relax_core.present.memory_models import MemoryView
from relax_core.vm.machine import Machine
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
            return study.remembered(message, lambda: _compare(message, study, means))
        case CompareArchiveOf():
            return _compare_archive(message, study, means)
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


def _tolerance(closeness: Closeness) -> Tolerance:
    relative, absolute = (None if item < 0 else item for item in (closeness.relative, closeness.absolute))
    return Tolerance(relative, absolute)


def _bisect(message: BisectOf, study: Study, means: Means) -> Bisection:
    name, args = study.call()
    if message.others:
        studies = (study, *map(means.study_of, message.others))
        # A program may have another pipeline than the one before it, so each is a form of its own.
        candidates = [bisect.Candidate(item.program.name, _built(item, means)) for item in studies]
    else:
        candidates = list(bisect.stage_candidates(study.module, study.stages(means.report, means.is_cancelled)))

    def progress(number: int, name: str) -> None:
        if means.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while comparing the stages"),))
        means.report(Progress(f"Running after {name}" if name else "Comparing", number, len(candidates)))

    def run(executable: Executable, args: tuple[Value, ...]) -> Trace:
        return study.run_machine(_machine(executable, study, means), name, args, means.is_cancelled)

    return bisect.bisect(
        candidates, bisect.Call(name, args), run, tolerance=_tolerance(message.closeness), progress=progress
    )


def _built(study: Study, means: Means) -> Callable[[], Executable]:
    return lambda: study.executable(means.report, means.is_cancelled)


def _machine(executable: Executable, study: Study, means: Means, *, records: bool = False) -> Machine:
    engine = means.engine_of(study)
    poisons, options = study.program.poisons_memory, engine.options
    return Machine(
        executable, limits=means.limits, record=records, engine=engine, options=options, poisons_memory=poisons
    )


def _compare(message: CompareValuesOf, study: Study, means: Means) -> ValuesCompared:
    # Both are asked for first: the run of one must not push the other out of the session.
    other = study if message.other == message.program else means.study_of(message.other)
    tolerance = _tolerance(message.closeness)
    left = _run_after(study, message.program, message.stage, means)
    right = _run_after(other, message.other, message.other_stage, means)
    written = intermediates.names_in(study.module) & intermediates.names_in(other.module)
    found = {item.name: item for item in _values(right, written, means)}
    rows: list[ValueRow] = []
    for item in _values(left, written, means):
        match = found.pop(item.name, None)
        rows.append(_only(item, "missing") if match is None else _row(item, match, tolerance))
    rows += [_only(item, "added") for item in found.values()]
    if message.program.changes != message.other.changes and other is study:
        names = "The run", "the changed run"
    elif other is study:
        names = _stage_name(study, message.stage), _stage_name(study, message.other_stage)
    else:
        names = study.program.name, other.program.name
    notes = tuple(trace.error.render() for trace in (left, right) if trace.error is not None)
    return ValuesCompared(tuple(rows), *names, notes)


def _compare_archive(message: CompareArchiveOf, study: Study, means: Means) -> ValuesCompared:
    trace = trace_of(study, message.program.changes, means)
    given = read_members(message.archive)
    tolerance = _tolerance(message.closeness)
    rows: list[ValueRow] = []
    for item in intermediates.intermediates(trace, means.is_cancelled):
        for name, array in item.arrays.items():
            key = next((key for key in (name, name.partition(".")[2]) if key in given), None)
            if key is None:
                rows.append(ValueRow(name, item.line, "missing", type_of(array)))
                continue
            # What an archive holds is the reference: it comes from where the results are as they should be.
            found = compare_arrays(name, given.pop(key), array, tolerance)
            rows.append(ValueRow(name, item.line, found.verdict, found.type, found.words))
    rows += [ValueRow(name, 0, "added", type_of(array)) for name, array in given.items()]
    notes = (trace.error.render(),) if trace.error is not None else ()
    return ValuesCompared(tuple(rows), "the run", "the file", notes)


def _values(trace: Trace, written: frozenset[str], means: Means) -> list[intermediates.Intermediate]:
    """Return the values of the variables that the text names: those that passes make have no fixed names."""
    return [item for item in intermediates.intermediates(trace, means.is_cancelled) if item.variable in written]


def _row(left: intermediates.Intermediate, right: intermediates.Intermediate, tolerance: Tolerance) -> ValueRow:
    """Compare two values of a binding: the first leaf that differs speaks for all."""
    types = ", ".join(map(type_of, left.arrays.values()))
    if tuple(left.arrays) != tuple(right.arrays):
        return ValueRow(left.name, left.line, "different", types, "they have other fields")
    found = [compare_arrays(name, array, right.arrays[name], tolerance) for name, array in left.arrays.items()]
    order = ("different", "close", "equal")
    worst = min(found, key=lambda item: order.index(item.verdict) if item.verdict in order else 0)
    return ValueRow(left.name, left.line, worst.verdict, types, worst.words)


def _only(item: intermediates.Intermediate, verdict: Literal["missing", "added"]) -> ValueRow:
    return ValueRow(item.name, item.line, verdict, ", ".join(map(type_of, item.arrays.values())))


def _stage_name(study: Study, stage: int) -> str:
    known = study.known_stages
    return "Source" if stage == 0 else known[stage - 1].pass_name if 0 < stage <= len(known) else "End of the pipeline"


def _run_after(study: Study, program: Program, stage: int, means: Means) -> Trace:
    """Record a run of the module after a stage.

    Raises:
        CompileError: there is no such stage, or the machine cannot run its module.
    """
    stages = study.stages(means.report, means.is_cancelled)
    if stage < 0 or stage == len(stages):
        return trace_of(study, program.changes, means)
    if stage > len(stages):
        raise CompileError((Diagnostic("EN005", f"the pipeline has no stage {stage}"),))
    means.report(Progress(f"Running stage {stage}"))
    executable = build_stages(study.module, stages[:stage])
    name, args = study.call()
    machine = _machine(executable, study, means, records=True)
    trace = study.run_machine(machine, name, entry_arguments(executable, name, args), means.is_cancelled)
    if trace.error is not None and means.is_cancelled():
        raise RunError((trace.error,))
    return trace


def _dump(message: DumpOf, study: Study, means: Means) -> Dumped:
    trace = trace_of(study, message.program.changes, means)
    found = intermediates.intermediates(trace, means.is_cancelled)
    return Dumped(write_members(intermediates.members(found)), len(found), executed(trace))


def _memory(message: MemoryOf, study: Study, means: Means) -> MemoryView:
    trace = trace_of(study, message.program.changes, means)
    means.report(Progress("Following the memory"))
    return present_memory(trace, intermediates.names_in(study.module), means.is_cancelled)


def _stops(message: StopsOf, study: Study, means: Means) -> Stopped:
    trace = trace_of(study, message.program.changes, means)
    times, met, faults = stops.times_of(trace, message.breakpoints, means.is_cancelled)
    texts = stops.stop_texts(trace, times[: message.limit], study.program.name, study.program.text)
    return Stopped(texts, met, len(times), executed(trace), tuple(dict.fromkeys(item.render() for item in faults)))


def _profile(study: Study, means: Means) -> Profiled:
    executable = study.executable(means.report, means.is_cancelled)
    name, args = study.call()
    means.report(Progress(f"Measuring `{name}`"))
    machine = TimedMachine(executable, means.limits, means.engine_of(study))
    study.machine = machine
    try:
        found = profile(machine, name, entry_arguments(executable, name, args), means.is_cancelled)
    finally:
        study.machine = None
    if found.error is not None and means.is_cancelled():
        raise RunError((found.error,))
    return profiled(executable, found, study.parsed.source)
