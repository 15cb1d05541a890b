"""The pass, or the call of a run, in which a recorded compiler stopped, and what is wrong with the module before it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from relax_core.bytecode.build import build
from relax_core.check.check import combined
from relax_core.check.text import check_text
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug.compared import machine_for
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    CrashOf,
)
from relax_core.engine.pipelines.constants import inputs_archive
from relax_core.engine.pipelines.crashes.words import CrashFinding, answer_of
from relax_core.engine.pipelines.entries import shown_error
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.recorded import program_of
from relax_core.engine.pipelines.recorded_run import RecordedRun
from relax_core.engine.pipelines.reproducers.stops import CompilerStop, script_of_stop
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import (
    Progress,
)
from relax_core.engine.replies import Crash
from relax_core.ir.expr import Call, Op
from relax_core.ir.node import preorder
from relax_core.ops import find
from relax_core.vm.virtual_machine import entry_arguments

Look: TypeAlias = Callable[[RecordedStage], list[Diagnostic]]

_NAME: Final = re.compile(r"`([A-Za-z_]\w*)`")
_NOT_OF_THE_PROGRAM: Final = ("VM001", "VM008", "VM009", "VM058")
"""What a run here may end with that says nothing of the program: cancelling, functions that are not here."""
_OF_A_PROGRAM: Final = ("VM", "JT", "TY", "WF")
_LOWERS: Final = "LegalizeOps"


@dataclass(frozen=True, slots=True)
class _CrashSite:
    """Where it stopped: at a position among the stages, or in a run, then behind all of them."""

    position: int
    where: str
    error: str
    run: RecordedRun | None = None


def explained(message: CrashOf, context: RequestContext) -> Crash:
    """Explain what stopped a recorded compiler, as far as the module before it tells.

    Raises:
        RunError: it was cancelled.
    """
    pipeline = context.recorded_by(message.parcel)
    place = _place(pipeline)
    if place is None:
        return Crash()
    found = _Search(pipeline, place, context).found()
    return _with_script(answer_of(pipeline, found), pipeline, found, place)


def _with_script(answer: Crash, pipeline: Pipeline, found: CrashFinding, place: _CrashSite) -> Crash:
    """Add the file that shows it, or why there is none."""
    stop = CompilerStop(place.position, place.error, answer.words, place.run, answer.code, found.since)
    try:
        return msgspec.structs.replace(answer, script=script_of_stop(pipeline, stop))
    except CompileError as error:
        return msgspec.structs.replace(answer, unscripted=error.diagnostics[0].message)


def _place(pipeline: Pipeline) -> _CrashSite | None:
    """Return the innermost pass that stopped, or else the run that did."""
    for position, stage in enumerate(pipeline.stages):
        if stage.has_stopped:
            where = stage.pass_name.strip("()") if stage.pass_name.startswith("(") else stage.pass_name
            return _CrashSite(position, where, stage.error)
    for run in pipeline.runs:
        if run.error or not run.is_finished:
            last = run.calls[-1] if run.calls else None
            call = f" in call {last.number}, `{last.name}`," if last is not None and not last.is_finished else ""
            words = shown_error(run.error) or "the process ended before it returned"
            return _CrashSite(len(pipeline.stages), f"the run of `{run.entry}`{call}".rstrip(","), words, run)
    return None


class _Search:
    """Looks for what is wrong with the forms before the place."""

    def __init__(self, pipeline: Pipeline, place: _CrashSite, context: RequestContext) -> None:
        self._pipeline, self._place, self._context = pipeline, place, context
        position_of = {stage.number: at for at, stage in enumerate(pipeline.stages)}
        forms = ((position_of[form.number], form) for form in pipeline.forms())
        self._forms = [(at, form) for at, form in forms if at < place.position]

    def found(self) -> CrashFinding:
        """Return the first kind of mistake that is found: of form, an operator that is left, one that a run meets."""
        place = self._place
        empty = CrashFinding(place.where, place.error, place.position if place.run is None else -1)
        return self._ill_formed(empty) or self._not_lowered(empty) or self._of_a_run(empty) or self._nothing(empty)

    def _nothing(self, empty: CrashFinding) -> CrashFinding:
        return empty.at(self._forms[-1][0]) if self._forms else empty

    def _last(self) -> Iterator[int]:
        """Yield the indices of the forms to look at: the last one, and the last whole module if that is another one."""
        if self._forms:
            yield len(self._forms) - 1
        whole = next((at for at in reversed(range(len(self._forms))) if self._is_module(at)), -1)
        if 0 <= whole < len(self._forms) - 1:
            yield whole

    def _is_module(self, index: int) -> bool:
        return self._pipeline.kind(self._forms[index][1]) == "module"

    def _ill_formed(self, empty: CrashFinding) -> CrashFinding | None:
        for index in self._last():
            errors = self._errors(self._forms[index][1])
            if errors:
                # Of several mistakes, the one that the message is about.
                error = next((item for item in errors if self._is_named(item.message)), errors[0])
                return self._since(empty, index, error, self._errors)
        return None

    def _errors(self, form: RecordedStage) -> list[Diagnostic]:
        self._poll(f"Checking {form.pass_name}")
        parsed = self._pipeline.parsed(form)
        return [item for item in combined(parsed.diagnostics, check_text(parsed)) if item.severity == "error"]

    def _of_a_run(self, empty: CrashFinding) -> CrashFinding | None:
        for index in self._last():
            errors = self._ran(self._forms[index][1])
            if errors:
                return self._since(empty, index, errors[0], self._ran)
        return None

    def _since(self, empty: CrashFinding, index: int, error: Diagnostic, look: Look) -> CrashFinding:
        """Follow a mistake back to the first form that has it."""
        first, origin = index, error
        while first > 0:
            errors = [item for item in look(self._forms[first - 1][1]) if item.code == error.code]
            if not errors:
                break
            first, origin = first - 1, errors[0]
        positions = self._forms[index][0], self._forms[first][0]
        is_named = self._is_named(error.message) or self._is_named(origin.message)
        return empty.because(error, positions, origin, is_named=is_named)

    def _is_named(self, message: str) -> bool:
        """Tell whether what it stopped with names something that a message is about.

        What a run stops with names parameters of kernels, which may be called like variables.
        """
        return self._place.run is None and any(
            re.search(rf"\b{re.escape(name)}\b", self._place.error) for name in _NAME.findall(message)
        )

    def _ran(self, form: RecordedStage) -> list[Diagnostic]:
        """Return what a run of a form ends with here, if that is the program's mistake."""
        self._poll(f"Running {form.pass_name}")
        run, context = self._place.run, self._context
        inputs = inputs_archive(run) if run is not None else None
        options = Program("", pipeline="", entry=run.entry if run is not None else "", inputs=inputs)
        try:
            opened = context.opened_by(program_of(self._pipeline, form, options))
            opened.source.require_sound(reads_data=False)
            executable = build(opened.source.module, passes="")
            name, args = opened.source.call()
            machine = machine_for(executable, opened, context)
            held = entry_arguments(executable, name, args)
            error = opened.runs.run_machine(machine, name, held, context.is_cancelled).error
        except DiagnosedError as raised:
            error = raised.diagnostics[0]
        self._poll("")
        is_own = error is not None and error.code.startswith(_OF_A_PROGRAM) and error.code not in _NOT_OF_THE_PROGRAM
        return [error] if is_own and error is not None else []

    def _not_lowered(self, empty: CrashFinding) -> CrashFinding | None:
        """Return the operator of the last whole module that it stopped at, if the message names one."""
        for index in self._last():
            if not self._is_module(index):
                continue
            position, form = self._forms[index]
            for _, function in self._pipeline.module(form.number).relax_functions:
                for node in preorder(function):
                    if isinstance(node, Call) and isinstance(node.op, Op) and self._stopped_at(node.op.name):
                        mistake = self._unlowered(node, node.op.name)
                        return empty.because(mistake, (position, -1), mistake, is_named=True)
        return None

    def _stopped_at(self, name: str) -> bool:
        spec = find(name)
        short = name.removeprefix("relax.")
        is_kernel = spec is not None and spec.legalize is not None
        return is_kernel and re.search(rf"\b(relax|R)\.{re.escape(short)}\b", self._place.error) is not None

    def _unlowered(self, call: Call, name: str) -> Diagnostic:
        stages = self._pipeline.stages[: self._place.position]
        lowered = next((stage for stage in stages if stage.pass_name.rpartition(".")[2] == _LOWERS), None)
        words = (
            f"{_LOWERS}, stage {lowered.number}, left it"
            if lowered is not None
            else f"{_LOWERS} is not among the passes"
        )
        hint = (
            f"run {_LOWERS} before what lowers calls" if lowered is None else "bind it to a kernel or a packed function"
        )
        short = name.removeprefix("relax.")
        return Diagnostic("PL019", f"no pass lowered `R.{short}`: {words}", call.span, hint)

    def _poll(self, words: str) -> None:
        if self._context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while looking for what stopped it"),))
        if words:
            self._context.report(Progress(words))
