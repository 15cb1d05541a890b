"""Answers about runs: windows of a recorded run, breakpoints, values in registers, results."""

from typing import Any, cast

import msgspec
import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine import breakpoints
from relax_core.engine.debug import changed
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.pipelines.run_files import reading
from relax_core.engine.pipelines.run_files.writing import write_run
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import declared
from relax_core.engine.protocol import (
    Execute,
    Executed,
    HitsOf,
    OpenedRunOf,
    Progress,
    RunOf,
    SavedRunOf,
    Stop,
    StopOf,
    Try,
    ValueOf,
)
from relax_core.engine.replies import OpenedRun, SavedRun, TensorPage, WrittenBuffer
from relax_core.engine.screens import catalog_view, text_views
from relax_core.present.catalog_of.catalog_models import Tried
from relax_core.present.running.run import present_run, window
from relax_core.present.running.run_models import PointList, Run
from relax_core.present.running.tensor import matrix, tensor_model
from relax_core.vm.external.stand_ins import calls_words
from relax_core.vm.kernels import written_params
from relax_core.vm.objects.convert import to_value
from relax_core.vm.objects.values import show
from relax_core.vm.recording.trace import Trace

_PAGE_SIDE = 64


def recorded(message: RunOf, context: RequestContext) -> Run:
    """Run the program and record it, and show a window of the run."""
    opened = context.opened_by(message.program)
    trace = changed.trace_of(opened, message.program.changes, context)
    near = trace.near(min(max(message.event, 0), len(trace)), *window(len(trace), message.event))
    return present_run(changed.recording(opened, near, message.program.changes), message.event)


def stop(message: StopOf, context: RequestContext) -> Stop:
    """Continue to a breakpoint."""
    trace = changed.trace_of(context.opened_by(message.program), message.program.changes, context)
    return Stop(breakpoints.stop_of(trace, message))


def hits(message: HitsOf, context: RequestContext) -> PointList:
    """Evaluate the conditions of breakpoints at every hit."""
    trace = changed.trace_of(context.opened_by(message.program), message.program.changes, context)
    return breakpoints.point_list(trace, message.breakpoints, range(message.first, message.last), context.is_cancelled)


def value(message: ValueOf, context: RequestContext) -> TensorPage:
    """Show a page of the tensor in a register."""
    trace = changed.trace_of(context.opened_by(message.program), message.program.changes, context)
    frames = trace.frames_at(message.time)
    if not 0 <= message.depth < len(frames):
        raise CompileError((Diagnostic("EN005", f"there is no frame {message.depth} at time {message.time}"),))
    registers = trace.registers_at(message.time, frames[message.depth].frame)
    found = registers[message.register] if 0 <= message.register < len(registers) else None
    if not isinstance(found, np.ndarray):
        raise CompileError((Diagnostic("EN005", f"register %{message.register} holds no tensor then"),))
    return _page(cast("np.ndarray[Any, Any]", found), message)


def executed(message: Execute, context: RequestContext) -> Executed:
    """Run, and return what was printed and the result."""
    opened = context.opened_by(message.program)
    if message.program.changes:
        return text_views.executed(changed.trace_of(opened, message.program.changes, context))
    engine = context.engine_of(opened)
    trace = opened.runs.run(context.report, context.is_cancelled, context.limits, engine, records=False)
    return msgspec.structs.replace(text_views.executed(trace), written=_written(opened, trace))


def _written(opened: OpenProgram, trace: Trace) -> tuple[WrittenBuffer, ...]:
    """Return what a prim func that was run wrote beside what was there before."""
    found = opened.source.prim_entry()
    if found is None or trace.error is not None:
        return ()
    # The run may have written into its arguments; these are made or read anew.
    _, args = opened.source.call()
    function = found[1]
    positions = written_params(function)
    results = trace.result if isinstance(trace.result, tuple) else (trace.result,)
    names = [param.name for param in declared(function).params]
    return tuple(
        WrittenBuffer(names[place], show(to_value(args[place])), show(after))
        for place, after in zip(positions, results, strict=False)
    )


def saved(message: SavedRunOf, context: RequestContext) -> SavedRun:
    """Run the program and write the run as a file; a run that comes from a file is that file."""
    opened = context.opened_by(message.program)
    trace = changed.trace_of(opened, message.program.changes, context)
    content = message.program.run_file
    if not content:
        context.report(Progress("Writing the run"))
        content = write_run(trace, message.program, opened.source.parsed.source)
    shown = msgspec.structs.replace(text_views.executed(trace), written=_written(opened, trace))
    return SavedRun(content, shown)


def opened_run(message: OpenedRunOf, _context: RequestContext) -> OpenedRun:
    """Read the program of a recorded run."""
    file = reading.read_run_file(message.name, message.content)
    record = file.record
    return OpenedRun(
        reading.program_of_file(message.name, message.content),
        file.entry,
        len(file.columns[0]),
        record.outcome,
        calls_words(reading.stand_ins_of(record)) if record.stand_ins else "",
    )


def tried(message: Try, context: RequestContext) -> Tried:
    """Run an example, and show its arguments and its result."""
    opened = context.opened_by(message.program)
    engine = context.engine_of(opened)
    trace = opened.runs.run(context.report, context.is_cancelled, context.limits, engine, records=False)
    return catalog_view.tried(opened, trace)


def _page(array: "np.ndarray[Any, Any]", message: ValueOf) -> TensorPage:
    model = tensor_model(array, message.row, message.column, message.leading, _PAGE_SIDE)
    padded = (*message.leading, *(0,) * array.ndim)[: max(0, array.ndim - 2)]
    leading = tuple(min(max(at, 0), max(size - 1, 0)) for at, size in zip(padded, array.shape, strict=False))
    rows = slice(message.row, message.row + _PAGE_SIDE)
    columns = slice(message.column, message.column + _PAGE_SIDE)
    part = matrix(array, leading)[rows, columns]
    return TensorPage(model, array.shape, str(array.dtype), np.array2string(part, threshold=part.size + 1))
