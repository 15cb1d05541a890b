"""Forms that another worker runs ahead of the one that judges them.

A worker that runs the forms from number n on knows nothing of those before. Who chooses n sees to it that form n is a
whole one whatever stands before it. Everything behind depends on form n alone, provided that it builds: it is the base
of later kernels, and a form before it would be one only if form n were broken. A form that ends otherwise than by a
result ends the part of its worker: it may not build, so that later kernels have another base, and an error leads to
places in texts. The forms from there on are run by who judges.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from relax_core.engine.debug.bisect import Call, Candidate, Finding, RunMachine, outcome_of_candidate
from relax_core.engine.debug.outcomes import Arrays, Outcome
from relax_core.engine.debug.replies import FormRun, FormRuns, SentArray
from relax_core.engine.halving.changes import Changes

MOST_BYTES: Final = 48 << 20
"""What the arrays of one answer may take together."""


def run_forms(first: int, candidates: Iterable[Candidate], call: Call, run_machine: RunMachine) -> FormRuns:
    """Run forms, of which the first has the number `first` and is whole, until one ends otherwise than by a result."""
    runs: list[FormRun] = []
    held_bytes = 0
    for candidate in candidates:
        is_placed = candidate.is_aside or candidate.same_as >= 0
        outcome = Outcome() if is_placed else outcome_of_candidate(candidate, call, run_machine)
        held_bytes += sum(item.nbytes for part in (outcome.arrays, outcome.args) for item in part.values())
        if (is_placed and not runs) or held_bytes > MOST_BYTES or not _is_sendable(outcome):
            return FormRuns(first, tuple(runs), are_all=False)
        runs.append(_sent(first, candidate, outcome))
    return FormRuns(first, tuple(runs), are_all=True)


def _is_sendable(outcome: Outcome) -> bool:
    arrays = (*outcome.arrays.values(), *outcome.args.values())
    if outcome.error is not None or outcome.hindrance or outcome.stand_ins:
        return False
    return not any(item.dtype.hasobject for item in arrays)


def _sent(first: int, candidate: Candidate, outcome: Outcome) -> FormRun:
    return FormRun(
        candidate.name,
        fault=candidate.fault,
        same_as=candidate.same_as + first if candidate.same_as >= 0 else -1,
        is_aside=candidate.is_aside,
        is_printed=candidate.is_printed,
        arrays=_sent_arrays(outcome.arrays),
        shape=outcome.shape,
        opaque=tuple(outcome.opaque.items()),
        args=_sent_arrays(outcome.args),
        changed=tuple(sorted(outcome.changed)),
        lacks=outcome.lacks,
    )


def _sent_arrays(arrays: Arrays) -> tuple[SentArray, ...]:
    return tuple(SentArray(name, _dtype_name(item), item.shape, item.tobytes()) for name, item in arrays.items())


def _dtype_name(array: npt.NDArray[Any]) -> str:
    # The `str` of a dtype that NumPy was taught, such as bfloat16, is that of bare memory.
    return array.dtype.name if array.dtype.kind == "V" else array.dtype.str


def _arrays(sent: tuple[SentArray, ...]) -> Arrays:
    return {item.name: np.frombuffer(item.content, np.dtype(item.dtype)).reshape(item.shape) for item in sent}


def _outcome(run: FormRun) -> Outcome:
    return Outcome(
        _arrays(run.arrays),
        run.shape,
        dict(run.opaque),
        _arrays(run.args),
        frozenset(run.changed),
        lacks=run.lacks,
    )


def with_runs(candidates: Iterator[Candidate], part: FormRuns) -> Iterator[Candidate]:
    """Yield the next of the candidates, as many of them with what came of them as were run ahead.

    One that was run ahead is read only if it must be looked into, or if a later one is read.
    """
    read = _Read(candidates)
    for number, run in enumerate(part.runs):
        yield _given(run, number, read)
    if not part.are_all:
        yield from read.behind(len(part.runs))


class _Read:
    """The candidates that were read so far; a later one is read after all those before it."""

    def __init__(self, candidates: Iterator[Candidate]) -> None:
        self._candidates = candidates
        self._known: list[Candidate] = []

    def candidate(self, number: int) -> Candidate:
        self._known.extend(islice(self._candidates, max(0, number + 1 - len(self._known))))
        return self._known[number]

    def behind(self, count: int) -> Iterator[Candidate]:
        """Yield the candidates behind the first `count`, without keeping them: they hold modules."""
        if len(self._known) < count:
            self.candidate(count - 1)
        yield from self._known[count:]
        yield from self._candidates


def _given(run: FormRun, number: int, read: _Read) -> Candidate:
    outcome = _outcome(run)

    def look(call: Call, record: RunMachine, is_coarse: bool) -> Finding:  # noqa: FBT001
        found = read.candidate(number).look
        return Finding() if found is None else found(call, record, is_coarse)

    return Candidate(
        run.name, partial(_built, read, number), attempt=lambda _call, _run: outcome, same_as=run.same_as,
        is_aside=run.is_aside, fault=run.fault, look=look, is_printed=run.is_printed,
        changes=partial(_changes, read, number),
    )  # fmt: skip


def _built(read: _Read, number: int) -> Any:
    return read.candidate(number).build()


def _changes(read: _Read, number: int) -> Changes | None:
    found = read.candidate(number).changes
    return None if found is None else found()
