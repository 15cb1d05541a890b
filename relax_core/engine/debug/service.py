"""Answers the requests that look for faults."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import assert_never

import msgspec

from relax_core.bytecode.build import Built, build_as_is
from relax_core.bytecode.build import build as build_executable
from relax_core.bytecode.executable import Executable
from relax_core.check.check import check
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.engine.debug import bisect, compared, intermediates, stops
from relax_core.engine.debug.changed import trace_of
from relax_core.engine.debug.compared import compared_call, is_same_call, machine_for
from relax_core.engine.debug.profile import profiled
from relax_core.engine.debug.replies import Bisection, Dumped, FormRuns, Profiled, Stopped
from relax_core.engine.debug.request_context import Begun, RequestContext
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
from relax_core.engine.programs import reading
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.programs.program import Program
from relax_core.engine.programs.program_source import ProgramSource
from relax_core.engine.protocol import Progress
from relax_core.engine.screens.text_views import executed
from relax_core.engine.splicing import ahead
from relax_core.engine.splicing.forms import forms
from relax_core.engine.splicing.printed import is_printed
from relax_core.engine.splicing.wholes import PrintedStage
from relax_core.frontend.collector import collector_held
from relax_core.frontend.tvmscript.known import KnownFunctions
from relax_core.ir.module import IRModule
from relax_core.present.memory import present_memory
from relax_core.present.running.memory_models import MemoryView
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.profile import TimedMachine, profile
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments


def answer(message: AnyDebugRequest, opened: OpenProgram, context: RequestContext) -> object:
    """Answer a request about the program of `opened`.

    Raises:
        DiagnosedError: the program or its inputs have errors.
    """
    match message:
        case BisectOf(until=0):
            return opened.remembered(_whole(message), lambda: _bisect(message, opened, context))
        case BisectOf():
            return _begin(message, opened, context)
        case CompareValuesOf():
            return opened.remembered(message, lambda: compared.values(message, opened, context))
        case CompareArchiveOf():
            return compared.archive(message, opened, context)
        case ProfileOf():
            return opened.remembered(message, lambda: _profile(opened, context))
        case DumpOf():
            return _dump(message, opened, context)
        case MemoryOf():
            return opened.remembered(message, lambda: _memory(message, opened, context))
        case StopsOf():
            return _stops(message, opened, context)
        case _:
            assert_never(message)


def _whole(message: BisectOf) -> BisectOf:
    """Return the request whoever works for it."""
    return msgspec.structs.replace(message, until=0, ahead=None)


def _bisect(message: BisectOf, opened: OpenProgram, context: RequestContext) -> Bisection:
    begun = None if message.ahead is None else context.begun.pop(_whole(message), None)
    if begun is not None and message.ahead is not None:
        bisecting, candidates = begun
        # Arguments that the program stops at, or makes NaN of, are other ones than the second worker took them to be.
        is_same = is_same_call(bisecting.call, opened.source.call(is_signed=True))
        if is_same and message.ahead.first == bisecting.judged_count:
            candidates = ahead.with_runs(candidates, message.ahead)
    elif message.others:
        bisecting, candidates = _bisecting(message, opened, context)
    else:
        call = bisect.Call(*compared_call(opened, context))
        stages = opened.compilation.stages(context.report, context.is_cancelled)
        progress = partial(_report, context, len(stages) + 1)
        runs = _runs(call, opened, context)
        bisecting = bisect.Bisecting(call, runs, message.closeness.tolerance, progress)
        source = opened.source
        candidates = bisect.stage_candidates(source.module, stages, source.program.as_in, source.program.entry)
    with collector_held(exempts=message.ahead is not None):
        bisecting.judge(candidates)
    return msgspec.structs.replace(bisecting.concluded(message.budget), numbers=message.numbers)


def _begin(message: BisectOf, opened: OpenProgram, context: RequestContext) -> Bisection:
    """Judge the first forms, from where the same bisection came to, and keep it to be gone on with."""
    begun = context.begun.pop(_whole(message), None)
    with collector_held(exempts=True):
        bisecting, candidates = _bisecting(message, opened, context) if begun is None else begun
        bisecting.judge(islice(candidates, max(0, message.until - bisecting.judged_count)))
    context.begun.clear()
    context.begun[_whole(message)] = bisecting, candidates
    return Bisection(bisecting.entry, ())


def run_forms(message: BisectOf, part: slice, opened: OpenProgram, context: RequestContext) -> FormRuns:
    """Run a part of the forms of a bisection.

    Raises:
        DiagnosedError: the first form of all or its inputs have errors, or it was cancelled.
    """
    # Who judges runs the first form to tell which arguments are suitable; here they are taken to be the usual ones.
    call = bisect.Call(*opened.source.call(is_signed=True))
    candidates = forms(islice(_printed_stages(message, opened, context), part.start, part.stop))
    run = _runs(call, opened, context).run
    count = 1 + len(message.others)

    def reported() -> Iterator[bisect.Candidate]:
        for number, candidate in enumerate(candidates, part.start):
            _report(context, count, number, candidate.name)
            yield candidate

    with collector_held(exempts=True):
        return ahead.run_forms(part.start, reported(), call, run)


def _bisecting(message: BisectOf, opened: OpenProgram, context: RequestContext) -> Begun:
    first, *others = _printed_stages(message, opened, context)
    # Who makes up arguments runs the first form, and it is judged as well.
    first = replace(first, build=lru_cache(1)(first.build))
    call = bisect.Call(*compared_call(opened, context, first.executable))
    progress = partial(_report, context, 1 + len(message.others))
    bisecting = bisect.Bisecting(call, _runs(call, opened, context), message.closeness.tolerance, progress)
    return bisecting, forms((first, *others))


def _printed_stages(message: BisectOf, opened: OpenProgram, context: RequestContext) -> Iterator[PrintedStage]:
    """Yield all forms; a program may have another pipeline than the one before it, so each is one of its own."""
    yield _as_written(opened.source.program, context)
    known = KnownFunctions()
    for item in message.others:
        is_lowered = is_printed(item.text) and item.pipeline is None
        yield _as_printed(item, known, context) if is_lowered else _as_written(item, context)


def _report(context: RequestContext, count: int, number: int, name: str) -> None:
    if context.is_cancelled():
        raise RunError((Diagnostic("VM008", "cancelled while comparing the stages"),))
    context.report(Progress(f"Running after {name}" if name else "Comparing", number, count))


def _runs(call: bisect.Call, opened: OpenProgram, context: RequestContext) -> bisect.RunForms:
    def run(executable: Executable, args: tuple[Value, ...]) -> Trace:
        machine = machine_for(executable, opened, context, is_brief=True)
        return opened.runs.run_machine(machine, call.entry, args, context.is_cancelled)

    def record(executable: Executable, args: tuple[Value, ...]) -> Trace:
        machine = machine_for(executable, opened, context, records=True, is_brief=True)
        return opened.runs.run_machine(machine, call.entry, args, context.is_cancelled)

    return bisect.RunForms(run, record)


def _as_written(program: Program, context: RequestContext) -> PrintedStage:
    """Return a program as a stage; it is opened when it is needed, and need not be kept."""

    def read() -> IRModule:
        return _module(context.opened_by(program).source)

    def build() -> Built:
        opened = context.opened_by(program)
        if is_printed(program.text) and program.pipeline is None:
            return _lowered(opened.source)
        return Built(opened.compilation.executable(context.report, context.is_cancelled))

    def make(module: IRModule) -> Executable:
        is_finished = is_printed(program.text) and program.pipeline is None
        return build_executable(with_entries(module, program.entry), passes="" if is_finished else program.pipeline)

    return PrintedStage(program.name, _key(program), program.text, read, read, build, make)


def _as_printed(program: Program, known: KnownFunctions, context: RequestContext) -> PrintedStage:
    """Return what a compiler printed after a pass, of which those functions are read that the pass changed."""

    def read() -> IRModule:
        return _module(ProgramSource(program, reading.read(*reading.fitting(program), known)))

    def lower(module: IRModule) -> Built:
        errors = tuple(item for item in check(module) if item.severity == "error")
        if errors:
            raise CompileError(errors)
        return build_as_is(with_entries(module, program.entry))

    return replace(_as_written(program, context), read=read, lower=lower)


def _module(source: ProgramSource) -> IRModule:
    errors = tuple(item for item in source.parsed.diagnostics if item.severity == "error")
    if errors:
        raise CompileError(errors)
    return source.module


def _key(program: Program) -> Program:
    return msgspec.structs.replace(program, name="")


def _lowered(source: ProgramSource) -> Built:
    # A pass of ours might repair what is to be judged, so that no more of them run than the machine needs.
    source.require_sound()
    return build_as_is(with_entries(source.module, source.program.entry))


def _dump(message: DumpOf, opened: OpenProgram, context: RequestContext) -> Dumped:
    trace = trace_of(opened, message.program.changes, context)
    found = intermediates.intermediates(trace, context.is_cancelled)
    return Dumped(write_members(intermediates.members(found)), len(found), executed(trace))


def _memory(message: MemoryOf, opened: OpenProgram, context: RequestContext) -> MemoryView:
    trace = trace_of(opened, message.program.changes, context)
    context.report(Progress("Following the memory"))
    return present_memory(trace, intermediates.names_in(opened.source.module), context.is_cancelled)


def _stops(message: StopsOf, opened: OpenProgram, context: RequestContext) -> Stopped:
    trace = trace_of(opened, message.program.changes, context)
    times, met, faults = stops.times_of(trace, message.breakpoints, context.is_cancelled)
    texts = stops.stop_texts(trace, times[: message.limit], opened.source.program.name, opened.source.program.text)
    return Stopped(texts, met, len(times), executed(trace), tuple(dict.fromkeys(item.render() for item in faults)))


def _profile(opened: OpenProgram, context: RequestContext) -> Profiled:
    opened.runs.require_machine("it cannot be measured where the time goes")
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    name, args = opened.source.call()
    context.report(Progress(f"Measuring `{name}`"))
    machine = TimedMachine(executable, context.limits, context.engine_of(opened), opened.source.stand_ins)
    given, stop = entry_arguments(executable, name, args), context.is_cancelled
    found = opened.runs.watched(machine, lambda: profile(machine, name, given, stop), stop)
    if found.error is not None and context.is_cancelled():
        raise RunError((found.error,))
    return profiled(executable, found, opened.source.parsed.source)
