"""Carry out a job: the requests of its command, and what their replies come to."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

import msgspec

from relax_core.engine.debug.requests import BisectOf
from relax_core.engine.debug.verdicts import Verdict, said
from relax_core.engine.halving.reply import Budget
from relax_core.engine.process.worker_causes import NOT_STARTED
from relax_core.engine.protocol import Check, Execute, Failure, MeasuredOf, Program, RegionReportOf, Request
from relax_core.fleet.jobs import WITHOUT_VERDICT, Command, FleetError, Job, Outcome, Result, digest
from relax_core.present.models import Problem

R = TypeVar("R")

_NO_HALVING: Final = Budget(0.0, 0)
_OUTCOME_OF: Final[Mapping[Verdict, Outcome]] = MappingProxyType(
    {"same": "passed", "different": "failed", "stops alike": "not compared", "not comparable": "not compared"}
)


class Requests(Protocol):
    """A client or a session: what answers requests."""

    def request(self, message: Request[R]) -> R | Failure:
        """Answer a request."""
        ...


def judge(engine: Requests, job: Job, attempts: int = 1) -> Result | None:
    """Carry out a job; `None` if it was cancelled. One without a verdict is tried again, so many attempts in all.

    Raises:
        FleetError: no process can be started here, which says nothing of the job.
    """
    began = time.monotonic()
    found: Result | None = None
    for _ in range(attempts):
        made = _JUDGES[job.command](engine, job.nameless())
        if isinstance(made, Failure) and made.kind == "cancelled":
            return None
        if isinstance(made, Failure) and made.title == NOT_STARTED:
            raise FleetError(f"{made.title}: {made.message}")
        found = _of_failure(made) if isinstance(made, Failure) else made
        if found.outcome not in WITHOUT_VERDICT:
            break
    assert found is not None, "there is at least one attempt"
    return msgspec.structs.replace(found, seconds=time.monotonic() - began)


def _check(engine: Requests, job: Job) -> Result | Failure:
    found = engine.request(Check(job.program, job.prims))
    if isinstance(found, Failure):
        return found
    errors = [item for item in found.problems if item.severity == "error"]
    return _of_problems("failed", errors) if found.has_errors else Result("passed")


def _run(engine: Requests, job: Job) -> Result | Failure:
    found = engine.request(Execute(job.program))
    if isinstance(found, Failure):
        return found
    if found.rendered:
        return _of_problems("limit" if found.is_limit else "failed", found.problems, found.rendered)
    return Result("passed", digest=digest("\n".join(found.output).encode() + found.archive))


def _bisect(engine: Requests, job: Job) -> Result | Failure:
    found = engine.request(BisectOf(job.program, (), job.closeness, _NO_HALVING))
    if isinstance(found, Failure):
        return found
    at = found.first_different
    if at >= 0:
        stage = found.stages[at]
        return Result("failed", f"stage {at}, {stage.name}: {stage.words}", stage=at)
    for stage in found.stages:
        if stage.verdict == "stops alike" or stage.verdict == "not comparable":
            words = f"stage {stage.index}, {stage.name}: {said(stage.verdict, stage.words)}"
            return Result(_OUTCOME_OF[found.verdict], _one_line(words), stage=stage.index)
    return Result(_OUTCOME_OF[found.verdict])


def _partition(engine: Requests, job: Job) -> Result | Failure:
    found = engine.request(RegionReportOf(job.program, job.targets))
    if isinstance(found, Failure):
        return found
    outcome: Outcome = "failed" if found.coverage < job.fail_under else "passed"
    under = f"; less than {job.fail_under:g}" if outcome == "failed" else ""
    return Result(outcome, f"{found.headline}{under}", digest=digest(found.to_json().encode()))


def _diff(engine: Requests, job: Job) -> Result | Failure:
    assert job.before is not None, "a diff is of two modules"
    before, after = (engine.request(MeasuredOf(_as_it_stands(one))) for one in (job.before, job.program))
    if isinstance(before, Failure):
        return _of_side("before", before, "not compared")
    if isinstance(after, Failure):
        return _of_side("after", after, "failed")
    if before.digest == after.digest:
        return Result("passed", "unchanged", digest=after.digest)
    found = engine.request(BisectOf(job.before, (job.program,), job.closeness, _NO_HALVING))
    if isinstance(found, Failure):
        return _of_side("their values", found, "not compared")
    words = said(found.verdict, found.stages[-1].words)
    return Result(_OUTCOME_OF[found.verdict], _one_line(f"changed; values {words}"), digest=after.digest)


_JUDGES: Final[Mapping[Command, Callable[[Requests, Job], Result | Failure]]] = MappingProxyType(
    {"check": _check, "run": _run, "bisect": _bisect, "partition": _partition, "diff": _diff}
)


def _as_it_stands(program: Program) -> Program:
    """Return what is measured: without passes the module itself, not what makes it run."""
    return msgspec.structs.replace(program, pipeline=program.pipeline or "")


def _of_failure(failure: Failure) -> Result:
    words = _one_line(failure.message or failure.title)
    match failure.kind:
        case "diagnosed":
            return _of_problems("failed", failure.problems, words)
        case "limit":
            return Result("limit", words)
        case "crash" | "internal" | "cancelled":
            return Result("crashed", words)


def _of_side(what: str, failure: Failure, outcome: Outcome) -> Result | Failure:
    """Return what is to be said if one side of a change cannot be looked at for what is in it."""
    if failure.kind != "diagnosed":
        return failure
    result = _of_failure(failure)
    return msgspec.structs.replace(result, outcome=outcome, words=f"{what}: {result.words}")


def _of_problems(outcome: Outcome, problems: Sequence[Problem], otherwise: str = "") -> Result:
    """Return what the first of some diagnostics says, and how many more there are."""
    if not problems:
        return Result(outcome, _one_line(otherwise))
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Result(outcome, _one_line(f"{first.code}: {first.message}{more}"), first.code, first.line)


def _one_line(text: str) -> str:
    return " ".join(text.split())
