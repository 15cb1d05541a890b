"""What the replies of the engine come to, and when a job is tried again."""

from typing import TypeVar

import pytest

from relax_core.engine.process.worker_causes import NOT_STARTED
from relax_core.engine.protocol import Failure, Program, Request
from relax_core.engine.session import Session
from relax_core.fleet.jobs import Command, FleetError, Job, Outcome
from relax_core.fleet.judging import judge
from tests.engine.programs import RECURSIVE, SAMPLES, SMALL

R = TypeVar("R")

ILL_TYPED = SMALL.replace("R.add(x, x)", "R.add(x, z)")
OTHER = SMALL.replace("R.add(x, x)", "R.multiply(x, x)")
ALIKE = SMALL.replace("R.add(x, x)", "R.add(x, x)  # the same module")


def job(command: Command, text: str, pipeline: str | None = None) -> Job:
    return Job(command, Program(text, pipeline=pipeline))


@pytest.mark.parametrize(
    ("asked", "outcome", "words", "line"),
    [
        (job("check", SMALL), "passed", "", 0),
        (job("check", ILL_TYPED), "failed", "RS", 7),
        (job("run", SMALL), "passed", "", 0),
        (job("run", ILL_TYPED), "failed", "RS", 7),
        (job("run", RECURSIVE), "limit", "VM", 8),
        (job("bisect", SMALL, "LegalizeOps, FuseOps"), "passed", "", 0),
        (job("bisect", ILL_TYPED), "failed", "RS", 7),
        (Job("diff", Program(ALIKE), Program(SMALL)), "passed", "unchanged", 0),
        (Job("diff", Program(OTHER), Program(SMALL)), "failed", "changed; values different: out: ", 0),
        (Job("diff", Program(ILL_TYPED), Program(SMALL)), "failed", "after: RS", 7),
        (Job("diff", Program(SMALL), Program(ILL_TYPED)), "not compared", "before: RS", 7),
    ],
    ids=lambda value: value.command if isinstance(value, Job) else "",
)
def test_a_job_comes_to(asked: Job, outcome: Outcome, words: str, line: int) -> None:
    found = judge(Session(), asked)
    assert found is not None
    assert (found.outcome, found.line) == (outcome, line), found
    assert found.words.startswith(words)
    assert found.seconds > 0


def test_a_bisection_names_the_stage() -> None:
    wrong = Program(SMALL, pipeline="ApplyRules, LegalizeOps", rules="wrong: R.add(x, y) -> R.multiply(x, y)\n")
    found = judge(Session(), Job("bisect", wrong))
    assert found is not None
    assert (found.outcome, found.stage) == ("failed", 1)
    assert found.words.startswith("stage 1, ApplyRules: out: 6 of 6 elements differ")


def test_coverage_decides_about_a_partition() -> None:
    table = (SAMPLES / "patterns" / "relax_cutlass.json").read_text(encoding="utf-8")
    asked = Job("partition", Program(SMALL, tables=table))
    strict = Job("partition", Program(SMALL, tables=table), fail_under=0.5)
    first, second = judge(Session(), asked), judge(Session(), strict)
    assert first is not None
    assert second is not None
    assert (first.outcome, second.outcome) == ("passed", "failed")
    assert second.words == f"{first.words}; less than 0.5"


class Answering:
    """Answers each request with the next of some failures, and then by a session."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.session = Session()

    def request(self, message: Request[R]) -> R | Failure:
        return self.failures.pop(0) if self.failures else self.session.request(message)


CRASH = Failure("crash", "Worker restarted", "It stopped with SIGSEGV while checking.", is_restarted=True)


@pytest.mark.parametrize(
    ("failures", "attempts", "outcome"),
    [((CRASH,), 2, "passed"), ((CRASH, CRASH), 2, "crashed"), ((CRASH,), 1, "crashed")],
    ids=["once", "twice", "without a second attempt"],
)
def test_what_crashes_is_tried_again(failures: tuple[Failure, ...], attempts: int, outcome: Outcome) -> None:
    found = judge(Answering(*failures), job("check", SMALL), attempts)
    assert found is not None
    assert found.outcome == outcome
    assert ("SIGSEGV" in found.words) == (outcome == "crashed")


def test_what_says_nothing_of_a_job_is_no_result() -> None:
    assert judge(Answering(Failure("cancelled", "Cancelled")), job("check", SMALL)) is None
    with pytest.raises(FleetError, match="no thread"):
        judge(Answering(Failure("crash", NOT_STARTED, "There is no thread left.")), job("check", SMALL))
