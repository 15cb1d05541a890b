"""The first pass that changes what a program computes: each stage runs on the same arguments."""

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import msgspec

from relax_core.bytecode.build import build, build_stages
from relax_core.bytecode.compile import AsIn
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.outcomes import Judgement, Outcome, diagnostic_words, hindered, judge, outcome_of
from relax_core.engine.debug.replies import Bisection, StageResult
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Tolerance
from relax_core.engine.halving.changes import Changes
from relax_core.engine.halving.halve import halve
from relax_core.engine.halving.minimise import Answer
from relax_core.engine.halving.reply import DEFAULT_BUDGET, Budget, Halved
from relax_core.engine.halving.rewrites import StageRewrites
from relax_core.engine.halving.stages import stage_changes, stage_rewrites
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.frontend.collector import collector_held
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.external.stand_ins import calls_words
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

_UNCOLLECTED = 64
"""Forms between two collections: a form's nodes form no cycles, so that most of it goes when the next one is read."""
_MISTAKES_OF_FORM = ("PA", "RS", "TY", "WF")
RunMachine = Callable[[Executable, tuple[Value, ...]], Trace]
"""Runs the entry function of an executable on machine values."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What runs: the entry function and the host's arguments."""

    entry: str
    args: tuple[Any, ...]


class RunForms(NamedTuple):
    """How a form is run: for its result alone, and with all values recorded."""

    run: RunMachine
    record: RunMachine


class Finding(NamedTuple):
    """Where in a form of the program a value is another one."""

    words: str = ""
    """The function, the first binding and the element that show it, "" if nothing was found."""
    line: int = 0
    """The line of the form's text that is named first, 0 if none is."""


Look: TypeAlias = Callable[[Call, RunMachine, bool], Finding]
"""Records a run of a form and says where in it a value is another one; coarsely, if so asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A form of the program: its name, how to build it, and whether it is another form than the one before it.

    `fault` says why there is no such form, if its pass failed. `attempt` runs it in another way than by what `build`
    makes. `same_as` is the number of an earlier form that is the same. With `is_aside` it is no form of the program:
    what another pass compiled on its own. `look` finds where in the form a value is another one; with
    `is_printed` a compiler made the form of the one before, so that a value inside that is another one is a difference.
    `changes` are what makes it of the form before, and `rewrites` the rules' part in that.
    """

    name: str
    build: Callable[[], Executable]
    is_changed: bool = True
    fault: str = ""
    attempt: Callable[[Call, RunMachine], Outcome] | None = None
    same_as: int = -1
    is_aside: bool = False
    look: Look | None = None
    is_printed: bool = False
    changes: Callable[[], Changes | None] | None = None
    rewrites: Callable[[], StageRewrites] | None = None


def stage_candidates(
    module: IRModule, stages: tuple[Stage, ...], as_in: AsIn = "fixed", entry: str = ""
) -> Iterator[Candidate]:
    """Yield the module as it was read and as it was after each pass; `as_in` is of the code generator.

    Prim funcs have functions around them: all in a module of prim funcs alone, else the one that is called `entry`.
    """
    around = partial(with_entries, entry=entry)

    def after(count: int) -> Callable[[], Executable]:
        return lambda: build_stages(module, stages[:count], as_in=as_in, around=around)

    def made(part: IRModule) -> Executable:
        return build(around(part), passes="", as_in=as_in)

    yield Candidate("Source", after(0))
    for number, stage in enumerate(stages, 1):
        error = next((item for item in stage.diagnostics if item.severity == "error"), None)
        fault = f"the pass failed: {diagnostic_words(error)}" if error is not None else ""
        is_changed = stage.is_changed or stage.is_failed
        changes, rewrites = partial(stage_changes, stage, made), partial(stage_rewrites, stage, made)
        yield Candidate(stage.pass_name, after(number), is_changed, fault, changes=changes, rewrites=rewrites)


def bisect(
    candidates: Iterable[Candidate],
    call: Call,
    runs: RunForms,
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    budget: Budget = DEFAULT_BUDGET,
    progress: Callable[[int, str], None] = lambda _number, _name: None,
) -> Bisection:
    """Run every candidate; the first one is the reference for those behind it.

    All are run: a difference may vanish again, and a later pass may bring one of its own. What is not the same bit by
    bit is looked into: where in the stage the difference is, and whether values inside the program are close as well,
    for a later operator may hide what a pass did. What the guilty pass changed is applied in part, as long as the
    `budget` lasts.
    """
    bisecting = Bisecting(call, runs, tolerance, progress)
    bisecting.judge(candidates)
    return bisecting.concluded(budget)


class Bisecting:
    """A bisection under way: forms are judged as they come."""

    def __init__(self, call: Call, runs: RunForms, tolerance: Tolerance, progress: Callable[[int, str], None]) -> None:
        self._call = call
        self._runs = runs
        self._is_default = tolerance == DEFAULT_TOLERANCE
        self._progress = progress
        self._found = _Found(tolerance)
        self._guilty: _Guilty | None = None

    @property
    def entry(self) -> str:
        """The function that is called."""
        return self._call.entry

    @property
    def call(self) -> tuple[str, tuple[Any, ...]]:
        """The function that is called, with its arguments."""
        return self._call.entry, self._call.args

    @property
    def judged_count(self) -> int:
        """How many forms were judged."""
        return len(self._found.results)

    def judge(self, candidates: Iterable[Candidate]) -> None:
        """Run and judge the next forms."""
        with collector_held():
            for number, candidate in enumerate(candidates, self.judged_count):
                self._progress(number, candidate.name)
                if number % _UNCOLLECTED == _UNCOLLECTED - 1:
                    gc.collect()
                if not self._found.has_noted(candidate):
                    self._judge(candidate)

    def _judge(self, candidate: Candidate) -> None:
        outcome = outcome_of_candidate(candidate, self._call, self._runs.run)
        look = partial(_looked, candidate, self._call, self._runs.record)
        self._found.add(candidate.name, outcome, look, looks_inside=candidate.is_printed and self._is_default)
        if self._guilty is None and self._found.results[-1].verdict == "different":
            self._guilty = _Guilty(candidate, outcome)

    def concluded(self, budget: Budget) -> Bisection:
        """Return what all forms came to, and which changes of the guilty one make the result wrong."""
        self._progress(self.judged_count, "")
        whole = Bisection(self._call.entry, tuple(self._found.results))
        if self._guilty is None or len(whole.suspects) != 1:
            return whole
        run = partial(run_outcome, call=self._call, run_machine=self._runs.run)
        judges = partial(self._found.answered, self._guilty.outcome, run)
        return msgspec.structs.replace(whole, halved=_halved(self._guilty, judges, budget))


@dataclass(frozen=True, slots=True, eq=False)
class _Guilty:
    """The first form that differs, and what its run came to."""

    candidate: Candidate
    outcome: Outcome


def _halved(guilty: _Guilty, judges: Callable[[Executable], Answer], budget: Budget) -> Halved | None:
    """Apply a part of what made the guilty form; `None` where the form itself is a mistake, and does not run."""
    error = guilty.outcome.error
    if guilty.candidate.changes is None or (error is not None and error.code.startswith(_MISTAKES_OF_FORM)):
        return None
    changes, rewrites = guilty.candidate.changes(), guilty.candidate.rewrites
    return None if changes is None else halve(changes, judges, budget, None if rewrites is None else rewrites())


def _looked(candidate: Candidate, call: Call, record: RunMachine, *, is_coarse: bool) -> Finding:
    return Finding() if candidate.look is None else candidate.look(call, record, is_coarse)


def outcome_of_candidate(candidate: Candidate, call: Call, run_machine: RunMachine) -> Outcome:
    """Build a form and run it, if there is one to run."""
    if candidate.fault:
        return hindered(candidate.fault)
    if candidate.attempt is not None:
        return candidate.attempt(call, run_machine)
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


def _is_apart(largest: float, before: float) -> bool:
    """Tell whether results are further apart than those of stages before: by more than rounding once more makes."""
    return largest > 4 * before


def _stand_ins(outcome: Outcome) -> str:
    return calls_words(outcome.stand_ins) if outcome.stand_ins else ""


class _Found:
    """The results of the stages so far, with the outcomes that the next one is compared with."""

    def __init__(self, tolerance: Tolerance) -> None:
        self.results: list[StageResult] = []
        self._first = -1
        """The number of the stage that is the reference."""
        self._tolerance = tolerance
        self._reference = Outcome()
        self._head = Outcome()
        """The outcome of the stage that brought the difference which the latest stage has."""
        self._largest = 0.0
        """How far results that are close were apart at the most."""
        self._heads: dict[int, Outcome] = {}

    def has_noted(self, candidate: Candidate) -> bool:
        """Note a form that need not run, and tell whether it is one."""
        number = len(self.results)
        if candidate.is_aside:
            self.put_aside(candidate.name, candidate.fault)
        elif candidate.same_as >= 0:
            self.repeat(candidate.name, candidate.same_as)
        elif self.results and not candidate.is_changed:
            self.repeat(candidate.name, number - 1)
        return len(self.results) > number

    def add(self, name: str, outcome: Outcome, look: Callable[..., Finding], *, looks_inside: bool) -> None:
        """Judge a stage by what its run came to, and by what `look` finds within it."""
        number = len(self.results)
        if self._first < 0:
            self._first, self._reference = number, outcome
            self.results.append(self._of_reference(number, name))
            return
        found = judge(self._reference, outcome, self._tolerance)
        where = Finding()
        is_new = _is_apart(found.largest, self._largest)
        if looks_inside and found.verdict == "same" and self._carries(outcome, found.largest):
            words = "the results are close, but not what is computed inside"
            found = Judgement("different", words, found.differences, found.compared, found.largest)
        elif looks_inside and found.verdict == "same" and is_new and (where := look(is_coarse=True)).words:
            words = f"the results are close, but not what is computed inside; {where.words}"
            found = Judgement("different", words, found.differences, found.compared, found.largest)
        elif found.verdict == "same":
            self._largest = max(self._largest, found.largest)
        follows = self._followed(found.verdict, found.words, outcome)
        if found.verdict == "different" and follows < 0:
            where = where if where.words else look(is_coarse=False)
        if found.verdict == "different" and follows < 0:
            self._head = self._heads[number] = outcome
        self.results.append(
            StageResult(
                number, name, found.verdict, found.words, found.differences,
                largest=found.largest, compared=found.compared, follows=follows, where=where.words,
                line=where.line, stand_ins=_stand_ins(outcome),
            )
        )  # fmt: skip

    def answered(self, guilty: Outcome, run: Callable[[Executable], Outcome], made: Executable) -> Answer:
        """Tell whether a form with a part of a pass's changes is wrong, and in the way of the `guilty` one."""
        outcome = run(made)
        ends = [item.error.code if item.error is not None else "" for item in (guilty, outcome)]
        match judge(self._reference, outcome, self._tolerance).verdict:
            case "same":
                return "right"
            case "different" if ends[0] == ends[1]:
                return "wrong"
            case _:
                return "unresolved"

    def _carries(self, outcome: Outcome, largest: float) -> bool:
        """Tell whether results that are close to the reference's are closer to those of the difference before them."""
        before = next(item for item in reversed(self.results) if not item.is_aside)
        if before.verdict != "different" or self._head.error is not None:
            return False
        found = judge(self._head, outcome, self._tolerance)
        return found.verdict == "same" and _is_apart(largest, found.largest)

    def put_aside(self, name: str, words: str) -> None:
        """Note a stage that is no form of the program."""
        self.results.append(StageResult(len(self.results), name, "not comparable", words, is_aside=True))

    def _of_reference(self, number: int, name: str) -> StageResult:
        if self._reference.hindrance:
            return StageResult(number, name, "not comparable", self._reference.hindrance)
        error, stand_ins = self._reference.error, _stand_ins(self._reference)
        words = diagnostic_words(error) if error is not None else ""
        return StageResult(number, name, "reference", "; ".join(filter(None, (words, stand_ins))), stand_ins=stand_ins)

    def _followed(self, verdict: str, words: str, outcome: Outcome) -> int:
        """Return the number of the stage before that said what this one says, or whose difference it has, else -1."""
        before = next(item for item in reversed(self.results) if not item.is_aside)
        if verdict != before.verdict or verdict == "same":
            return -1
        is_alike = words == before.words
        if verdict == "different":
            is_alike = judge(self._head, outcome, self._tolerance).verdict != "different"
        return (before.follows if before.follows >= 0 else before.index) if is_alike else -1

    def repeat(self, name: str, of: int) -> None:
        """Say of a stage that is the same form as the one with the number `of` what was said of that one."""
        before = self.results[of]
        number = len(self.results)
        if of == self._first:
            found = judge(self._reference, self._reference, self._tolerance)
            self.results.append(
                StageResult(number, name, found.verdict, found.words, is_repeated=True, compared=found.compared)
            )
            return
        follows = -1 if before.verdict == "same" or before.is_aside else self._continued(before)
        self.results.append(msgspec.structs.replace(before, index=number, name=name, is_repeated=True, follows=follows))

    def _continued(self, again: StageResult) -> int:
        """Return the head of the difference, or of the reason, that `again` has, if the latest stage has it as well."""
        latest = next(item for item in reversed(self.results) if not item.is_aside)
        heads = [item.follows if item.follows >= 0 else item.index for item in (again, latest)]
        if heads[0] == heads[1] and again.verdict == latest.verdict:
            return heads[0]
        self._head = self._heads.get(heads[0], self._head)
        return -1
