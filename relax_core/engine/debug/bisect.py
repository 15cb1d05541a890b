"""The first pass that changes what a program computes: each stage runs on the same arguments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from relax_core.bytecode.build import build_stages
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.outcomes import Outcome, diagnostic_words, hindered, judge, outcome_of
from relax_core.engine.debug.replies import Bisection, StageResult
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Tolerance
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

RunMachine = Callable[[Executable, tuple[Value, ...]], Trace]
"""Runs the entry function of an executable on machine values."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A form of the program: its name, how to build it, and whether it is another form than the one before it.

    `fault` says why there is no such form, if its pass failed.
    """

    name: str
    build: Callable[[], Executable]
    is_changed: bool = True
    fault: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What runs: the entry function and the host's arguments."""

    entry: str
    args: tuple[Any, ...]


def stage_candidates(module: IRModule, stages: tuple[Stage, ...]) -> Iterator[Candidate]:
    """Yield the module as it was read and as it was after each pass."""

    def after(count: int) -> Callable[[], Executable]:
        return lambda: build_stages(module, stages[:count])

    yield Candidate("Source", after(0))
    for number, stage in enumerate(stages, 1):
        error = next((item for item in stage.diagnostics if item.severity == "error"), None)
        fault = f"the pass failed: {diagnostic_words(error)}" if error is not None else ""
        yield Candidate(stage.pass_name, after(number), stage.is_changed or stage.is_failed, fault)


def bisect(
    candidates: Iterable[Candidate],
    call: Call,
    run_machine: RunMachine,
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    progress: Callable[[int, str], None] = lambda _number, _name: None,
) -> Bisection:
    """Run every candidate; the first one is the reference for those behind it.

    All are run: a difference may vanish again, and a later pass may bring one of its own.
    """
    found = _Found(tolerance)
    for number, candidate in enumerate(candidates):
        progress(number, candidate.name)
        if found.results and not candidate.is_changed:
            found.repeat(candidate.name)
        else:
            found.add(candidate.name, _outcome(candidate, call, run_machine))
    progress(len(found.results), "")
    return Bisection(call.entry, tuple(found.results))


def _outcome(candidate: Candidate, call: Call, run_machine: RunMachine) -> Outcome:
    if candidate.fault:
        return hindered(candidate.fault)
    try:
        executable = candidate.build()
    except DiagnosedError as error:
        return hindered(f"it does not build: {diagnostic_words(error.diagnostics[0])}")
    return run_outcome(executable, call, run_machine)


def run_outcome(executable: Executable, call: Call, run_machine: RunMachine) -> Outcome:
    """Run `executable` and return what it came to."""
    try:
        held = own_copies(entry_arguments(executable, call.entry, call.args))
    except DiagnosedError as error:
        return hindered(f"it does not take these arguments: {diagnostic_words(error.diagnostics[0])}")
    return outcome_of(run_machine(executable, held), call.entry, call.args, held)


class _Found:
    """The results of the stages so far, with the outcomes that the next one is compared with."""

    def __init__(self, tolerance: Tolerance) -> None:
        self.results: list[StageResult] = []
        self._tolerance = tolerance
        self._reference = Outcome()
        self._head = Outcome()
        """The outcome of the stage that brought the difference which the latest stage has."""

    def add(self, name: str, outcome: Outcome) -> None:
        """Judge a stage by what its run came to."""
        if not self.results:
            self._reference = outcome
            self.results.append(self._of_reference(name))
            return
        found = judge(self._reference, outcome, self._tolerance)
        follows = self._followed(found.verdict, found.words, outcome)
        if found.verdict == "different" and follows < 0:
            self._head = outcome
        number = len(self.results)
        self.results.append(
            StageResult(
                number, name, found.verdict, found.words, found.differences,
                largest=found.largest, compared=found.compared, follows=follows,
            )
        )  # fmt: skip

    def _of_reference(self, name: str) -> StageResult:
        if self._reference.hindrance:
            return StageResult(0, name, "not comparable", self._reference.hindrance)
        error = self._reference.error
        return StageResult(0, name, "reference", diagnostic_words(error) if error is not None else "")

    def _followed(self, verdict: str, words: str, outcome: Outcome) -> int:
        """Return the number of the stage before that said what this one says, or whose difference it has, else -1."""
        before = self.results[-1]
        if verdict != before.verdict or verdict == "same":
            return -1
        is_alike = words == before.words
        if verdict == "different":
            is_alike = judge(self._head, outcome, self._tolerance).verdict != "different"
        return (before.follows if before.follows >= 0 else before.index) if is_alike else -1

    def repeat(self, name: str) -> None:
        """Say of a stage whose pass changed nothing what was said of the one before."""
        before = self.results[-1]
        number = len(self.results)
        if number == 1:
            found = judge(self._reference, self._reference, self._tolerance)
            self.results.append(
                StageResult(number, name, found.verdict, found.words, is_repeated=True, compared=found.compared)
            )
            return
        follows = -1 if before.verdict == "same" else before.follows if before.follows >= 0 else before.index
        self.results.append(msgspec.structs.replace(before, index=number, name=name, is_repeated=True, follows=follows))
