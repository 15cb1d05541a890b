"""Each call of a recorded run of TVM beside what is computed here: by the same stage, and by definition in NumPy."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
import numpy as np

from relax_core.bytecode.build import build
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug.compared import machine_for
from relax_core.engine.debug.differences import type_of
from relax_core.engine.debug.intermediates import Intermediate, intermediates, names_in
from relax_core.engine.debug.outcomes import diagnostic_words
from relax_core.engine.debug.replies import CallRow, CallsCompared, CallSide
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    RecordedCallsOf,
)
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Tolerance
from relax_core.engine.pipelines import recorded
from relax_core.engine.pipelines.calls.closeness import Array, CallTolerance, carried, closeness_of, side
from relax_core.engine.pipelines.calls.order import MachineCall, aligned, calls_of
from relax_core.engine.pipelines.calls.results import first_omitted, machine_value, refuse_run, results_of
from relax_core.engine.pipelines.constants import inputs_archive
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedValue
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program, StandInFor
from relax_core.engine.protocol import (
    Progress,
)
from relax_core.ir.tir import PrimFunc
from relax_core.present.running.tensor import short_text
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.external.packed import HOST
from relax_core.vm.external.stand_ins import calls_words
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Closure
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

_MADE: Final = re.compile(r"(?:gv|lv|alloc|storage|cse_v)\d*|shape_heap")
"""Names that passes make, and count anew."""
_CALL_TIR: Final = "R.call_tir("
_STOOD_IN: Final = "the function is not here, and what it gave in the recorded run stands in for it"


@dataclass(frozen=True, slots=True, eq=False)
class _FormRun:
    """A form of the program that was run from the recorded inputs, or why it was not."""

    opened: OpenProgram | None = None
    executable: Executable | None = None
    trace: Trace | None = None
    calls: tuple[MachineCall, ...] = ()
    hindrance: str = ""


def compared_calls(message: RecordedCallsOf, context: RequestContext) -> CallsCompared:
    """Compare the calls of a recorded run.

    Raises:
        CompileError: PL014, there is no such run.
        RunError: it was cancelled.
    """
    pipeline = context.recorded_by(message.parcel)
    if not 0 <= message.run < len(pipeline.runs):
        refuse_run(pipeline, f" {message.run}" if pipeline.runs else "")
    return _Comparison(message, pipeline, context).found()


class _Comparison:
    """The forms that are run for one comparison, and the rows that come of it."""

    def __init__(self, message: RecordedCallsOf, pipeline: Pipeline, context: RequestContext) -> None:
        self._run = pipeline.runs[message.run]
        self._number, self._is_fed = message.run, message.is_fed
        self._pipeline, self._context = pipeline, context
        own = message.closeness.tolerance
        self._tolerance: Tolerance | None = None if own == DEFAULT_TOLERANCE else own
        self._inputs = inputs_archive(self._run)
        self._forms = tuple(item for item in pipeline.forms() if pipeline.kind(item) == "module")
        self._known: dict[int, _FormRun] = {}
        self._caller: Machine | None = None
        self._stand_ins: set[str] = set()
        """The packed functions that are not here, for which what they gave in the recorded run stands in."""
        self._root = 1.0
        """The largest factor for sums of the calls so far."""

    def found(self) -> CallsCompared:
        """Return the comparison."""
        run = self._run
        last = self._forms[-1] if self._forms else None
        ours = self._ran(last)
        kept = [call for call in run.calls if call.name not in BUILTINS]
        source = self._ran(self._forms[0] if self._forms else None)
        names, lines = self._variables(kept, source)
        values = self._evaluated(source)
        order = aligned([call.name for call in kept], [call.name for call in ours.calls])
        rows: list[CallRow] = []
        for at, call in enumerate(kept):
            self._poll(at, len(kept))
            name = names.get(at, "")
            mine = ours.calls[order[at]] if at in order else None
            row = self._row(call, (ours, mine), values.get(name), source.hindrance)
            variable = name.partition(".")[2].partition("#")[0]
            rows.append(_placed(row, variable, lines.get(name, 0)))
        rows.append(self._result(ours, source))
        position = {stage.number: at for at, stage in enumerate(self._pipeline.stages)}
        return CallsCompared(
            run.entry,
            tuple(rows),
            self._number,
            position[last.number] if last is not None else -1,
            last.pass_name if last is not None else "",
            self._is_fed,
            len(run.calls) - len(kept),
            tuple(self._notes(ours, source)),
        )

    def _notes(self, ours: _FormRun, source: _FormRun) -> list[str]:
        notes = [f"note: the stage does not run here: {ours.hindrance}"] if ours.hindrance else []
        if source.hindrance and source.hindrance != ours.hindrance:
            notes.append(f"note: the first form does not run here: {source.hindrance}")
        if ours.trace is not None and ours.trace.stand_ins:
            notes.append(f"note: {calls_words(ours.trace.stand_ins)}")
        if self._run.error:
            notes.append(f"note: the recorded run ended with {self._run.error}")
        elif not self._run.is_finished:
            notes.append("note: the recorded run did not end")
        return notes

    def _poll(self, done: int, total: int) -> None:
        if self._context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while comparing the calls"),))
        self._context.report(Progress("Comparing calls", done, total))

    def _ran(self, stage: RecordedStage | None) -> _FormRun:
        """Run a form from the recorded inputs, once."""
        if stage is None:
            return _FormRun(hindrance="the recording holds no form of the program")
        if stage.number not in self._known:
            self._known[stage.number] = self._new_run(stage)
        return self._known[stage.number]

    def _new_run(self, stage: RecordedStage) -> _FormRun:
        context = self._context
        options = Program("", pipeline="", entry=self._run.entry, inputs=self._inputs)
        context.report(Progress(f"Running {stage.pass_name}"))
        try:
            opened, executable = self._built(stage, options)
            unknown = self._unknown_in(executable)
            if unknown:
                stand_ins = tuple(StandInFor(name, "recorded") for name in unknown)
                results = results_of(self._run, unknown)
                options = msgspec.structs.replace(options, stand_ins=stand_ins, recorded=results)
                opened, executable = self._built(stage, options)
                self._stand_ins.update(unknown)
            if self._inputs is None:
                return _FormRun(opened, executable, hindrance="the recording does not hold all inputs")
            name, args = opened.source.call()
            machine = machine_for(executable, opened, context, records=True)
            held = entry_arguments(executable, name, args)
            trace = opened.runs.run_machine(machine, name, held, context.is_cancelled)
        except DiagnosedError as error:
            if context.is_cancelled():
                raise
            return _FormRun(hindrance=diagnostic_words(error.diagnostics[0]))
        if trace.error is not None and context.is_cancelled():
            raise RunError((trace.error,))
        hindrance = diagnostic_words(trace.error) if trace.error is not None else ""
        return _FormRun(opened, executable, trace, calls_of(trace), hindrance)

    def _built(self, stage: RecordedStage, options: Program) -> tuple[OpenProgram, Executable]:
        opened = self._context.opened_by(recorded.program_of(self._pipeline, stage, options))
        opened.source.require_sound()
        return opened, build(opened.source.module, passes="")

    def _unknown_in(self, executable: Executable) -> tuple[str, ...]:
        """Return the packed functions that the recorded run called and that are not here."""
        called = {call.name for call in self._run.calls}
        packed = (entry.name for entry in executable.functions if entry.kind == "packed" and entry.name in called)
        return tuple(name for name in packed if name not in BUILTINS and HOST.find(name) is None)

    def _variables(self, kept: list[RecordedCall], source: _FormRun) -> tuple[dict[int, str], dict[str, int]]:
        """Return for each call the value of the first form that it computes, as `intermediates` names it, and lines.

        The last form that still has `call_tir` tells which variable is given what a kernel writes.
        """
        naming = next((form for form in reversed(self._forms) if _CALL_TIR in (form.text or "")), None)
        ran = self._ran(naming or (self._forms[-1] if self._forms else None))
        if ran.opened is None or source.opened is None or source.trace is None:
            return {}, {}
        written, other = (names_in(item.opened.source.module) for item in (source, ran) if item.opened is not None)
        common = written & other
        made = [{name for name in names if _MADE.fullmatch(name)} for names in (written, other)]
        if made[0] != made[1]:
            common -= made[0]
        order = aligned([call.name for call in kept], [call.name for call in ran.calls])
        counts: Counter[str] = Counter()
        names: dict[int, str] = {}
        for at in range(len(kept)):
            call = ran.calls[order[at]] if at in order else None
            if call is None or call.variable not in common:
                continue
            name = f"{call.function}.{call.variable}"
            counts[name] += 1
            names[at] = name if counts[name] == 1 else f"{name}#{counts[name]}"
        return names, {item.name: item.line for item in self._intermediates(source)}

    def _intermediates(self, source: _FormRun) -> tuple[Intermediate, ...]:
        if source.trace is None:
            return ()
        try:
            return intermediates(source.trace, self._context.is_cancelled)
        except RunError:
            if self._context.is_cancelled():
                raise
            return ()

    def _evaluated(self, source: _FormRun) -> Mapping[str, Array]:
        """Return the values of the first form's variables, each operator by its definition."""
        return {
            item.name: next(iter(item.arrays.values())) for item in self._intermediates(source) if len(item.arrays) == 1
        }

    def _row(
        self, call: RecordedCall, ours: tuple[_FormRun, MachineCall | None], evaluated: Array | None, hindrance: str
    ) -> CallRow:
        ran, mine = ours
        kernel = None if ran.executable is None else ran.executable.kernels.get(call.name)
        result = call.result
        row = CallRow(call.number, call.name, type=_type(result), value=_value(result))
        missing = _STOOD_IN if call.name in self._stand_ins else _missing(call)
        closeness = _closeness(kernel, call)
        self._root = max(self._root, closeness.root)
        later = carried(_dtype(result), self._root)
        if missing:
            lacking = CallSide("not comparable", missing)
            return _with(row, closeness, (lacking, lacking))
        if self._is_fed:
            machine = self._fed(call, ran, closeness)
        elif mine is None:
            machine = CallSide("not comparable", ran.hindrance or "the run here makes no such call")
        else:
            machine = self._side(result, mine.result, later)
        if evaluated is None:
            numpy = CallSide("not comparable", hindrance or "no variable of the first form is known for it")
        else:
            numpy = self._side(result, evaluated, later)
        return _with(row, closeness, (machine, numpy))

    def _side(self, result: RecordedValue, computed: Any, closeness: CallTolerance) -> CallSide:
        return side(machine_value(result), computed, closeness, given=self._tolerance)

    def _fed(self, call: RecordedCall, ran: _FormRun, closeness: CallTolerance) -> CallSide:
        """Make a call on the arguments that were recorded."""
        omitted = first_omitted(call.args)
        if omitted is not None:
            return CallSide("not comparable", f"an argument was not kept: {omitted.what}")
        if ran.executable is None or ran.opened is None:
            return CallSide("not comparable", ran.hindrance)
        index = ran.executable.index_of.get(call.name)
        if index is None:
            return CallSide("not comparable", "the stage has no such function")
        args = cast("tuple[Any, ...]", machine_value(call.args))
        machine = self._machine(ran.executable, ran.opened)
        try:
            value = machine.call_closure(Closure(index, call.name), args)
        except DiagnosedError as error:
            return CallSide("not comparable", diagnostic_words(error.diagnostics[0]))
        tensors: list[Any] = [item for item in args if isinstance(item, np.ndarray)]
        return self._side(call.result, tensors[-1] if value is None and tensors else value, closeness)

    def _machine(self, executable: Executable, opened: OpenProgram) -> Machine:
        """Return the machine that makes single calls; it keeps the kernels that it has compiled."""
        if self._caller is None:
            self._caller = machine_for(executable, opened, self._context)
        return self._caller

    def _result(self, ours: _FormRun, source: _FormRun) -> CallRow:
        result = self._run.result
        row = CallRow(-1, self._run.entry, type=_type(result), value=_value(result))
        omitted = first_omitted(result)
        if omitted is not None or not self._run.is_finished or self._run.error:
            words = f"the recording does not hold it: {omitted.what}" if omitted is not None else "the run did not end"
            lacking = CallSide("not comparable", words)
            return _with(row, CallTolerance(0.0, words=""), (lacking, lacking))
        closeness = carried(_dtype(result), self._root)
        sides = tuple(self._of_run(ran, result, closeness) for ran in (ours, source))
        return _with(row, closeness, (sides[0], sides[1]))

    def _of_run(self, ran: _FormRun, result: RecordedValue, closeness: CallTolerance) -> CallSide:
        if ran.trace is None or ran.hindrance:
            return CallSide("not comparable", ran.hindrance)
        return self._side(result, ran.trace.result, closeness)


def _with(row: CallRow, closeness: CallTolerance, sides: tuple[CallSide, CallSide]) -> CallRow:
    return CallRow(row.number, row.name, "", 0, row.type, row.value, closeness.words, *sides)


def _placed(row: CallRow, variable: str, line: int) -> CallRow:
    return CallRow(
        row.number, row.name, variable, line, row.type, row.value, row.tolerance, row.machine, row.numpy
    )  # fmt: skip


def _missing(call: RecordedCall) -> str:
    """Say why a call's result is not at hand, "" if it is."""
    if not call.is_finished:
        return "the recorded run ended in it"
    omitted = first_omitted(call.result)
    if omitted is not None:
        return f"the recording does not hold its result: {omitted.what}"
    return "it gives nothing" if call.result is None else ""


def _closeness(kernel: PrimFunc | None, call: RecordedCall) -> CallTolerance:
    arrays = [item for item in call.args if isinstance(item, np.ndarray)]
    return closeness_of(kernel, _dtype(call.result), (size for item in arrays for size in item.shape))


def _dtype(value: RecordedValue) -> str:
    """Return the dtype of the first tensor in a value, that of the host for a number."""
    match value:
        case np.ndarray():
            return value.dtype.name
        case tuple():
            return next((found for item in value if (found := _dtype(item))), "")
        case float():
            return "float64"
        case _:
            return ""


def _type(value: RecordedValue) -> str:
    match value:
        case np.ndarray():
            return type_of(value)
        case tuple():
            return f"tuple of {len(value)}"
        case Omitted(shape=shape, dtype=dtype) if dtype:
            return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}) {dtype}"
        case _:
            return "" if value is None or isinstance(value, Omitted) else type(value).__name__


def _value(value: RecordedValue) -> str:
    match value:
        case np.ndarray():
            return short_text(value)
        case tuple() | None | Omitted():
            return ""
        case _:
            return str(value)
