"""A recorded run as the stepper's view model: windows of events with deltas, jump tables and the values they name."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import msgspec
import numpy as np

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import CallInstruction
from relax_core.check.infer import infer
from relax_core.ir.attrs import has_attr
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.tir import HOST_FUNCTION
from relax_core.present.code import code_lines
from relax_core.present.measures import bytes_text
from relax_core.present.models import CodeLine
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.problems import problem_of
from relax_core.present.running.flame import flame_spans
from relax_core.present.running.listing import instruction_lines
from relax_core.present.running.player import Player
from relax_core.present.running.run_models import (
    Dimension,
    FunctionInfo,
    InstructionLine,
    Jumps,
    OutputLine,
    Register,
    Run,
)
from relax_core.present.running.values import Values
from relax_core.present.words import type_text
from relax_core.source import Source, Span
from relax_core.vm.conditions.dimensions import dimension_places
from relax_core.vm.debugger import BACK, BACK_OVER, INTO, OUT, OVER, By, destinations
from relax_core.vm.objects.values import describe
from relax_core.vm.recording.copies import copies_of
from relax_core.vm.recording.trace import Trace

WINDOW = 600
_MARGIN = 200
_LINES_SHOWN = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A trace and what presenting it takes."""

    trace: Trace
    source: Source
    index: NodeIndex
    module: IRModule
    """What the source was read as."""
    revision: str
    title: str


def window_start(total: int, event: int) -> int:
    """Return the first event of the window that shows `event`; windows overlap, so that steps rarely leave one."""
    if total <= WINDOW:
        return 0
    start = (max(0, event - _MARGIN) // _MARGIN) * _MARGIN
    return min(start, (max(0, total - WINDOW + _MARGIN) // _MARGIN) * _MARGIN)


def window(total: int, event: int) -> tuple[int, int]:
    """Return the first event that is shown with `event`, and the one behind the last."""
    first = window_start(total, event)
    return first, min(first + WINDOW, total)


def present_run(recording: Recording, event: int = 0) -> Run:
    """Present the window of a run that holds `event`."""
    trace = recording.trace
    executable = trace.executable
    start, end = window(len(trace), event)
    # Of values that were made again there may be fewer than a window shows.
    first, last = max(start, trace.since), min(end, trace.until)
    shown = {number: place for place, (number, _) in enumerate(_vm_functions(executable))}
    infos = _function_infos(executable, recording.index, recording.module)
    values = Values(trace, lambda number: infos[shown[number]].line if number in shown else 0)
    player = Player(trace, values, shown, range(first, last))
    frames = tuple(player.initial_frames())
    events = tuple(player.event(at) for at in range(first, last))
    before = trace.executed_before(first)
    lines = trace.lines.line_of
    stop = trace.pc_at(len(trace)) if trace.error is not None else None
    return Run(
        f"{recording.revision}:{first}" + (f"-{last}" if last < end else ""),
        recording.title,
        _source_lines(recording.source, trace),
        _instructions(executable),
        infos,
        first,
        len(trace),
        frames,
        events,
        tuple(values.table),
        jumps(trace, first, last, "binding"),
        jumps(trace, first, last, "instruction"),
        flame_spans(trace),
        tuple(OutputLine(item.time, item.text, int(lines[item.pc])) for item in trace.output),
        tuple(sorted({int(lines[pc]) for pc in before} - {0})),
        before,
        trace.outcome,
        _ending(trace),
        problem_of(trace.error) if trace.error is not None else None,
        -1 if stop is None else stop,
        0 if stop is None else int(lines[stop]),
        _kernel_pcs(executable),
        tuple(item.words_for(trace) for item in trace.interventions),
    )


def _kernel_pcs(executable: Executable) -> tuple[int, ...]:
    """Return the calls of kernels; what only computes shapes is none."""
    kernels = {name for name, function in executable.kernels.items() if not has_attr(function.attrs, HOST_FUNCTION)}
    return tuple(
        pc
        for pc, item in enumerate(executable.instructions)
        if isinstance(item, CallInstruction) and executable.functions[item.function].name in kernels
    )


def jumps(trace: Trace, first: int, last: int, by: By) -> Jumps:
    """Return the jump table of the times `first` to `last`, both included."""
    times = range(first, last + 1)
    steps = destinations(trace, times, by, (INTO, OVER, OUT, BACK, BACK_OVER))
    return Jumps(
        *(tuple([-1 if target == at else target for at, target in zip(times, column, strict=True)]) for column in steps)
    )


@lru_cache(maxsize=2)
def _instructions(executable: Executable) -> tuple[InstructionLine, ...]:
    """Return the listing, which all windows of a run share."""
    return instruction_lines(executable)


@lru_cache(maxsize=2)
def _function_infos(executable: Executable, index: NodeIndex, module: IRModule) -> tuple[FunctionInfo, ...]:
    return tuple(
        msgspec.structs.replace(
            _function_info(executable, entry, index),
            dimensions=_dimensions(executable, number),
            home=_home(executable, entry, module),
        )
        for number, entry in _vm_functions(executable)
    )


def _home(executable: Executable, entry: FunctionEntry, module: IRModule) -> str:
    """Return the function of the source that a function is, or the one in whose text it was written."""
    if entry.name in module:
        return entry.name
    span = executable.log.locate(entry.node) if entry.node is not None else None
    holding = (item.var.name for item in module if span is not None and _holds(item.function.span, span))
    return next(holding, "")


def _holds(outer: Span | None, inner: Span) -> bool:
    return outer is not None and outer.source is inner.source and outer.start <= inner.start < outer.end


def _dimensions(executable: Executable, number: int) -> tuple[Dimension, ...]:
    return tuple(
        Dimension(name, tuple((register, max(axis, 0)) for register, axis in places))
        for name, places in dimension_places(executable, number).items()
    )


def _vm_functions(executable: Executable) -> Iterator[tuple[int, FunctionEntry]]:
    return ((number, entry) for number, entry in enumerate(executable.functions) if entry.kind == "vm")


def _function_info(executable: Executable, entry: FunctionEntry, index: NodeIndex) -> FunctionInfo:
    types = infer(executable.module).types
    span = executable.log.locate(entry.node) if entry.node is not None else None
    line = span.line if span is not None else 0
    params = entry.node.params if isinstance(entry.node, Function) else ()
    registers: list[Register] = []
    for number in range(entry.register_count):
        var = entry.register_vars[number] if number < len(entry.register_vars) else None
        if var is None:
            is_parameter = number < entry.param_count
            name = entry.param_names[number] if number < len(entry.param_names) else ""
            registers.append(Register(f"%{number}", name, is_parameter=is_parameter, is_hidden=not is_parameter))
            continue
        place = executable.log.locate(var)
        is_parameter = var in params
        registers.append(
            Register(
                f"%{number}",
                var.name,
                type_text(types.get(var, var.annotation)),
                line if is_parameter else place.line if place is not None else 0,
                index.id_of(var),
                is_parameter,
            )
        )
    return FunctionInfo(entry.name, line, tuple(registers))


def _source_lines(source: Source, trace: Trace) -> tuple[CodeLine, ...]:
    """Return the user's text; lines with code that was not executed in the whole run are dim."""
    lines = trace.lines.line_of
    executed = {int(lines[pc]) for pc in trace.executed_pcs}
    dim = frozenset(int(line) for line in np.unique(lines)) - executed
    if trace.error is not None and trace.error.span is not None:
        dim -= {trace.error.span.line}
    return code_lines(source.text, dim=dim.__contains__)[:_LINES_SHOWN]


def _ending(trace: Trace) -> str:
    if trace.error is not None:
        return trace.error.message
    if not trace.frames:
        return "Nothing ran."
    entry = trace.executable.functions[trace.frames[0].function]
    return f"`{entry.name}` returned {describe(trace.result)}{_copied(trace)}."


def _copied(trace: Trace) -> str:
    """Say how much was copied between devices, such as `; 2 copies between devices, 48 B`."""
    copies = copies_of(trace)
    size = bytes_text(sum(copy.size_bytes for copy in copies))
    return f"; {len(copies)} {'copy' if len(copies) == 1 else 'copies'} between devices, {size}" if copies else ""
