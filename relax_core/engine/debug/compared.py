"""The values of two runs beside each other: of bindings by name, and of what the runs came to."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from relax_core.bytecode.build import build_stages
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug import intermediates
from relax_core.engine.debug.changed import trace_of, unchanged
from relax_core.engine.debug.differences import compare, compare_arrays, type_of
from relax_core.engine.debug.intermediates import Intermediate
from relax_core.engine.debug.outcomes import Outcome, diagnostic_words, hindered, judge, outcome_of
from relax_core.engine.debug.replies import Parting, ValueRow, ValuesCompared
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import CompareArchiveOf, CompareValuesOf
from relax_core.engine.debug.tolerance import EXACT, Tolerance
from relax_core.engine.forks.parting import parting_of
from relax_core.engine.inputs import members_of, read_members
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.protocol import Program, Progress
from relax_core.vm.external.stand_ins import are_alike, calls_words
from relax_core.vm.machine import Machine
from relax_core.vm.objects.convert import to_value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

Call = tuple[str, tuple[Any, ...]]
_OUTCOME = "result"
_MEMORY: Final = re.compile(r"(?:alloc|storage)\d*")
"""Names that passes give to tensors and storages that they allocate."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ran:
    """A run, if there was one, and what it came to; `said` are the diagnostics that stand in its way or ended it."""

    trace: Trace | None
    outcome: Outcome
    said: tuple[Diagnostic, ...] = ()


def machine_for(
    executable: Executable,
    opened: OpenProgram,
    context: RequestContext,
    *,
    records: bool = False,
    is_brief: bool = False,
) -> Machine:
    """Return a machine with the limits and the compiler of a session, whose kernels run a few times if it `is_brief`.

    Raises:
        RunError: PL018, the program is only shown as it was recorded.
    """
    opened.runs.require_machine("nothing can be compared with another run")
    engine = context.brief_engine_of(opened) if is_brief else context.engine_of(opened)
    source = opened.source
    return Machine(
        executable,
        limits=context.limits,
        record=records,
        engine=engine,
        # To generate code for what runs once takes longer than to interpret it.
        tier="explicit" if executable.runs_each_once else "generated",
        options=engine.options,
        poisons_memory=source.program.poisons_memory,
        stand_ins=source.stand_ins,
    )


def values(message: CompareValuesOf, opened: OpenProgram, context: RequestContext) -> ValuesCompared:
    """Compare two runs, both on the arguments of the first.

    Raises:
        DiagnosedError: there is no such stage, the values are too large together, or it was cancelled.
    """
    # Both are asked for first: the run of one must not push the other out of the session.
    other = opened if message.other == message.program else context.opened_by(message.other)
    if other is not opened:
        message = _with_own_sizes(message, opened, other)
        opened, other = context.opened_by(message.program), context.opened_by(message.other)
    tolerance = message.closeness.tolerance
    left = _ran(opened, message.program, message.stage, context, None)
    call = None if left.trace is None else opened.source.call()
    if call is not None and message.other.entry:
        call = _entry_of(other), call[1]
    right = _ran(other, message.other, message.other_stage, context, call)
    rows: list[ValueRow] = []
    names = _names(message, opened, other)
    if left.trace is not None and right.trace is not None:
        written = _common(*(intermediates.names_in(item.source.module) for item in (opened, other)))
        bound = _values(left.trace, written, context)
        found_rows = _rows(bound, _values(right.trace, written, context), names, tolerance)
        rows += _before_stand_ins(found_rows, bound, (left.trace, right.trace))
    found = judge(left.outcome, right.outcome, tolerance)
    outcome = ValueRow(_OUTCOME, 0, found.verdict, "", found.words, found.largest)
    return ValuesCompared(tuple(rows), *names, _notes(left, right), outcome, _parting(message, left, right, context))


def _notes(left: _Ran, right: _Ran) -> tuple[str, ...]:
    """Return the errors of both runs, and what the host did to them besides setting values."""
    traces = [ran.trace for ran in (left, right) if ran.trace is not None]
    said = (f"note: {item.words_for(trace)}" for trace in traces for item in trace.interventions)
    return tuple(dict.fromkeys((*(item.render() for item in (*left.said, *right.said)), *said)))


def _parting(message: CompareValuesOf, left: _Ran, right: _Ran, context: RequestContext) -> Parting | None:
    """Return where two forks of one run part."""
    forks = message.program.changes, message.other.changes
    is_forked = forks[0] != forks[1] and unchanged(message.program) == unchanged(message.other)
    if not is_forked or message.stage != message.other_stage or left.trace is None or right.trace is None:
        return None
    # Until the first change that only one of them has, they are the same run.
    others = [pair for pair in zip_longest(*forks) if pair[0] != pair[1]]
    moments = {item.time for pair in others for item in pair if item is not None}
    return parting_of(left.trace, right.trace, moments, context.is_cancelled)


def _entry_of(opened: OpenProgram) -> str:
    """Return what runs of a program that names its entry; what it has not is told when that is to run."""
    try:
        return opened.source.entry()[0]
    except RunError:
        return opened.source.program.entry


def _common(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """Return the names that both texts have; those of memory, which passes count, only where both have the same."""
    counted = frozenset(name for name in one | other if _MEMORY.fullmatch(name))
    return one & other if counted & one == counted & other else (one & other) - counted


def _with_own_sizes(message: CompareValuesOf, opened: OpenProgram, other: OpenProgram) -> CompareValuesOf:
    """Leave each program the sizes of its own dimensions; a size that neither of them has stays, and is refused."""
    programs: list[Program] = []
    for program, own, others in (
        (message.program, opened.source.dimensions(), other.source.dimensions()),
        (message.other, other.source.dimensions(), opened.source.dimensions()),
    ):
        sizes = tuple(item for item in program.sizes if item[0] in own or item[0] not in others)
        programs.append(msgspec.structs.replace(program, sizes=sizes))
    return msgspec.structs.replace(message, program=programs[0], other=programs[1])


def archive(message: CompareArchiveOf, opened: OpenProgram, context: RequestContext) -> ValuesCompared:
    """Compare the bindings of a run with the arrays of an archive, which is the reference.

    Raises:
        DiagnosedError: the program or the archive cannot be read, or the program does not run at all.
    """
    trace = trace_of(opened, message.program.changes, context)
    given = read_members(message.archive)
    tolerance = message.closeness.tolerance
    rows: list[ValueRow] = []
    for item in intermediates.intermediates(trace, context.is_cancelled):
        for name, array in item.arrays.items():
            key = next((key for key in (name, name.partition(".")[2]) if key in given), None)
            if key is None:
                rows.append(_only(name, item.line, array, "the run"))
                continue
            # What an archive holds is the reference: it comes from where the results are as they should be.
            found = compare_arrays(name, _as_stored(given.pop(key), array), array, tolerance)
            rows.append(ValueRow(name, item.line, found.verdict, found.type, found.words, found.largest))
    rows += [_only(name, 0, array, "the file") for name, array in given.items()]
    notes = (trace.error.render(),) if trace.error is not None else ()
    return ValuesCompared(tuple(rows), "The run", "the file", notes)


def _as_stored(given: npt.NDArray[Any], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what an archive holds in the dtype that was stored there: it holds a bfloat16 as float32."""
    is_stored = array.dtype.name == "bfloat16" and given.dtype == np.float32
    return given.astype(array.dtype) if is_stored else given


def _ran(opened: OpenProgram, program: Program, stage: int, context: RequestContext, call: Call | None) -> _Ran:
    """Run a program after a stage on the arguments of `call`, its own if `None`; if it cannot run, say why."""
    try:
        stages = opened.compilation.stages(context.report, context.is_cancelled)
    except DiagnosedError as error:
        return _not_run(error, context)
    if stage > len(stages):
        where = f"; it stopped at {stages[-1].pass_name}" if stages and stages[-1].is_failed else ""
        raise CompileError((Diagnostic("EN005", f"the pipeline has no stage {stage}{where}"),))
    try:
        own = opened.source.call()
        wanted = own if call is None else call
        is_whole = (stage < 0 or stage == len(stages)) and (call is None or is_same_call(call, own))
        if program.changes and not is_whole:
            return _Ran(None, hindered("its values were changed in a run on other arguments"))
        trace = trace_of(opened, program.changes, context) if is_whole else _run_after(opened, stage, context, wanted)
    except DiagnosedError as error:
        return _not_run(error, context)
    held = trace.frames[0].args if trace.frames else ()
    args = wanted[1] if len(held) == len(wanted[1]) else ()
    said = (trace.error,) if trace.error is not None else ()
    return _Ran(trace, outcome_of(trace, wanted[0], args, held[: len(args)]), said)


def _not_run(error: DiagnosedError, context: RequestContext) -> _Ran:
    if context.is_cancelled():
        raise error
    return _Ran(None, hindered(diagnostic_words(error.diagnostics[0])), error.diagnostics)


def _run_after(opened: OpenProgram, stage: int, context: RequestContext, call: Call) -> Trace:
    """Record a run of the module after a stage, -1 for the last.

    Raises:
        DiagnosedError: the machine cannot run its module, or not on these arguments.
    """
    stages = opened.compilation.stages(context.report, context.is_cancelled)
    count = len(stages) if stage < 0 else stage
    context.report(Progress(f"Running stage {count}"))
    program = opened.source.program
    around = partial(with_entries, entry=program.entry)
    executable = build_stages(opened.source.module, stages[:count], as_in=program.as_in, around=around)
    name, args = call
    machine = machine_for(executable, opened, context, records=True)
    trace = opened.runs.run_machine(machine, name, entry_arguments(executable, name, args), context.is_cancelled)
    if trace.error is not None and context.is_cancelled():
        raise RunError((trace.error,))
    return trace


def is_same_call(one: Call, other: Call) -> bool:
    """Tell whether two calls are of functions of one name, with arguments that are the same bit by bit."""
    was, is_ = (members_of("in", tuple(map(to_value, args))) for _, args in (one, other))
    found = compare(was, is_, EXACT)
    return one[0] == other[0] and len(one[1]) == len(other[1]) and all(item.is_same for item in found)


def _values(trace: Trace, written: frozenset[str], context: RequestContext) -> list[Intermediate]:
    """Return the values of the variables that the text names: those that passes make have no fixed names."""
    return [item for item in intermediates.intermediates(trace, context.is_cancelled) if item.variable in written]


def _rows(
    left: list[Intermediate], right: list[Intermediate], names: tuple[str, str], tolerance: Tolerance
) -> list[ValueRow]:
    found = {item.name: item for item in right}
    rows: list[ValueRow] = []
    for item in left:
        match = found.pop(item.name, None)
        rows.append(_alone(item, names[0]) if match is None else _row(item, match, tolerance))
    return [*rows, *(_alone(item, names[1]) for item in found.values())]


def _before_stand_ins(rows: list[ValueRow], bound: list[Intermediate], traces: tuple[Trace, Trace]) -> list[ValueRow]:
    """Leave the verdicts on bindings before the first stand-in, if what was bound behind it is not comparable."""
    calls = tuple(trace.stand_ins for trace in traces)
    if are_alike(*calls):
        return rows
    start = min((call.event for call in calls[0]), default=0)
    before = {item.name for item in bound if item.time <= start}
    words = calls_words(calls[0] or calls[1])
    return [
        row
        if row.name in before or row.verdict == "not comparable"
        else ValueRow(row.name, row.line, "not comparable", row.type, f"{words} before it")
        for row in rows
    ]


def _row(left: Intermediate, right: Intermediate, tolerance: Tolerance) -> ValueRow:
    """Compare two values of a binding: the first leaf that differs speaks for all."""
    types = ", ".join(map(type_of, left.arrays.values()))
    if tuple(left.arrays) != tuple(right.arrays):
        return ValueRow(left.name, left.line, "different", types, "they have other fields")
    found = [compare_arrays(name, array, right.arrays[name], tolerance) for name, array in left.arrays.items()]
    worst = next((item for item in found if not item.is_same), None) or max(found, key=lambda item: item.largest)
    return ValueRow(left.name, left.line, worst.verdict, types, worst.words, worst.largest)


def _alone(item: Intermediate, owner: str) -> ValueRow:
    types = ", ".join(map(type_of, item.arrays.values()))
    return ValueRow(item.name, item.line, "not comparable", types, f"only {owner} has it")


def _only(name: str, line: int, array: npt.NDArray[Any], owner: str) -> ValueRow:
    return ValueRow(name, line, "not comparable", type_of(array), f"only {owner} has it")


def _names(message: CompareValuesOf, opened: OpenProgram, other: OpenProgram) -> tuple[str, str]:
    if other is not opened:
        return opened.source.program.name, other.source.program.name
    if message.program.changes != message.other.changes:
        return "The run", "the changed run"
    return _stage_name(opened, message.stage), _stage_name(opened, message.other_stage)


def _stage_name(opened: OpenProgram, stage: int) -> str:
    known = opened.compilation.known_stages
    return "Source" if stage == 0 else known[stage - 1].pass_name if 0 < stage <= len(known) else "End of the pipeline"


def compared_call(
    opened: OpenProgram, context: RequestContext, build: Callable[[], Executable] | None = None
) -> tuple[str, tuple[Any, ...]]:
    """Return the function that runs and its arguments: given ones, or made-up ones that tell forms apart.

    Made-up floats have both signs, because on positive numbers alone a ReLU that is lost changes nothing. Where the
    program stops or makes NaN of them, as a logarithm does, they are those of a run: from 0 to 1. Where it still stops,
    integers are 0 or 1, which are indices of nearly any tensor. What runs to tell is what `build` makes, by default
    what the program's own pipeline does.
    """
    source = opened.source
    if source.program.inputs is not None:
        return source.call()
    signed = source.call(is_signed=True)
    try:
        whole = opened.compilation.executable(context.report, context.is_cancelled) if build is None else build()

        def suits(call: Call) -> bool:
            held = entry_arguments(whole, *call)
            machine = machine_for(whole, opened, context, is_brief=build is not None)
            trace = opened.runs.run_machine(machine, call[0], held, context.is_cancelled)
            return trace.error is None and not any(map(_has_nan, members_of("out", trace.result).values()))

        if suits(signed):
            return signed
        plain, small = source.call(), source.call(below=2)
        return plain if is_same_call(plain, small) or suits(plain) or not suits(small) else small
    except DiagnosedError:
        # The comparison says why.
        return signed


def _has_nan(array: "np.ndarray[Any, Any]") -> bool:
    return array.dtype.kind in "fV" and bool(np.isnan(array.astype(np.float32)).any())
