"""The first pass that changes what a program computes: each stage runs on the same arguments."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.build import build_stages
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import DiagnosedError, Diagnostic
from relax_core.engine.debug.differences import DEFAULT_TOLERANCE, Tolerance, compare
from relax_core.engine.debug.replies import Bisection, StageResult
from relax_core.engine.inputs import members_of
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.vm.convert import own_copies, to_value
from relax_core.vm.trace import Trace
from relax_core.vm.values import Value
from relax_core.vm.virtual_machine import entry_arguments

_DECIMAL = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?(?:nan|inf)\b")
RunMachine = Callable[[Executable, tuple[Value, ...]], Trace]
"""Runs the entry function of an executable on machine values."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A form of the program: its name, how to build it, and whether it is the form before it."""

    name: str
    build: Callable[[], Executable]
    is_changed: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """What runs: the entry function and the host's arguments."""

    entry: str
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run left behind: result, arguments and output as arrays by name, or the error that ended it."""

    arrays: dict[str, npt.NDArray[Any]]
    error: Diagnostic | None = None


def stage_candidates(module: IRModule, stages: tuple[Stage, ...]) -> Iterator[Candidate]:
    """Yield the module as it was read and as it was after each pass."""

    def after(count: int) -> Callable[[], Executable]:
        return lambda: build_stages(module, stages[:count])

    yield Candidate("Source", after(0))
    for number, stage in enumerate(stages, 1):
        yield Candidate(stage.pass_name, after(number), stage.is_changed or stage.is_failed)


def bisect(
    candidates: Iterable[Candidate],
    call: Call,
    run_machine: RunMachine,
    *,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    progress: Callable[[int, str], None] = lambda _number, _name: None,
) -> Bisection:
    """Run every candidate; the first one that runs is the reference for those behind it.

    All are run: a difference may vanish again, and a later pass may bring one of its own.
    """
    results: list[StageResult] = []
    reference: Outcome | None = None
    for number, candidate in enumerate(candidates):
        progress(number, candidate.name)
        if results and not candidate.is_changed:
            results.append(_repeated(results[-1], number, candidate.name))
            continue
        try:
            outcome = _run(candidate.build(), call, run_machine)
        except DiagnosedError as error:
            first = error.diagnostics[0]
            results.append(StageResult(number, candidate.name, "not run", f"{first.code}: {first.message}"))
            continue
        if reference is None:
            reference = outcome
            said = _error_words(outcome)
            results.append(StageResult(number, candidate.name, "reference", said))
        else:
            results.append(_judged(number, candidate.name, reference, outcome, tolerance))
    progress(len(results), "")
    return Bisection(call.entry, tuple(results))


def _run(executable: Executable, call: Call, run_machine: RunMachine) -> Outcome:
    args = own_copies(entry_arguments(executable, call.entry, call.args))
    trace = run_machine(executable, args)
    return Outcome({}, trace.error) if trace.error is not None else Outcome(_left_behind(trace, call, args))


def _left_behind(trace: Trace, call: Call, args: tuple[Any, ...]) -> dict[str, npt.NDArray[Any]]:
    found = members_of("out", trace.result)
    if trace.output:
        found |= _printed("\n".join(item.text for item in trace.output))
    # What a function writes into its arguments is a result, too.
    for number, (given, held) in enumerate(zip(call.args, args, strict=True)):
        before, after = members_of(f"in_{number}", to_value(given)), members_of(f"in_{number}", held)
        changed = (item for item in compare(before, after) if item.verdict != "equal")
        found.update((item.name, after[item.name]) for item in changed if item.name in after)
    return found


def _printed(text: str) -> dict[str, npt.NDArray[Any]]:
    """Return what was printed, numbers with a point apart: they may differ as other results may."""
    words = " ".join(_DECIMAL.sub("#", text).split())
    return {"printed": np.array(words), "printed_numbers": np.array(_DECIMAL.findall(text), np.float32)}


def _judged(number: int, name: str, reference: Outcome, outcome: Outcome, tolerance: Tolerance) -> StageResult:
    if outcome.error is not None or reference.error is not None:
        was, is_ = _error_words(reference) or "it returned", _error_words(outcome) or "it returned"
        is_same = (
            reference.error is not None and outcome.error is not None and reference.error.code == outcome.error.code
        )
        return StageResult(number, name, "same" if is_same else "different", is_ if is_same else f"{is_}; was: {was}")
    differences = compare(reference.arrays, outcome.arrays, tolerance)
    wrong = [item for item in differences if not item.is_same]
    largest = max((item.largest for item in differences), default=0.0)
    if wrong:
        words = f"{wrong[0].name}: {wrong[0].words}"
        return StageResult(number, name, "different", words, differences, largest=largest)
    words = f"apart by at most {largest:.2g}" if largest else ""
    return StageResult(number, name, "same", words, differences, largest=largest)


def _repeated(before: StageResult, number: int, name: str) -> StageResult:
    verdict = "same" if before.verdict == "reference" else before.verdict
    return StageResult(
        number, name, verdict, before.words, before.differences, is_repeated=True, largest=before.largest
    )


def _error_words(outcome: Outcome) -> str:
    return f"{outcome.error.code}: {outcome.error.message}" if outcome.error is not None else ""
