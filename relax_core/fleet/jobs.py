"""What is to be done with one module, under which key, and what came of it."""

import hashlib
from collections.abc import Generator, Sequence
from pathlib import PurePath
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, get_args

import msgspec

from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.limits import Limits
from relax_core.engine.protocol import Program

Command: TypeAlias = Literal["check", "run", "bisect", "partition", "diff"]
COMMANDS: Final[tuple[Command, ...]] = get_args(Command)

Outcome: TypeAlias = Literal["passed", "failed", "not compared", "limit", "crashed"]
"""`passed`: nothing was found. `failed`: a diagnostic, a different value, too small a coverage.

`not compared`: nothing different, but not everything was compared. `limit`: time or memory ran out. `crashed`: the
process that worked on it was lost, or RelaxScope has a mistake.
"""
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
WITHOUT_VERDICT: Final[tuple[Outcome, ...]] = ("limit", "crashed")
"""The outcomes that say nothing of the module itself; another attempt may."""


class FleetError(Exception):
    """A fleet cannot be had or has been lost; the message says where, and what to do."""


class Job(msgspec.Struct, frozen=True):
    """A command on a module, with all that its result depends on but the version of the program."""

    command: Command
    program: Program
    """The module; for `diff` as it is after the change."""
    before: Program | None = None
    """For `diff`: the module before the change."""
    prims: Literal["everywhere", "packed_only"] = "everywhere"
    targets: tuple[str, ...] = ()
    fail_under: float = 0.0
    """For `partition`: the least share of the operators that passes."""
    closeness: Closeness = Closeness()
    limits: Limits = Limits()

    def nameless(self) -> "Job":
        """Return the job without the names of files: modules with the same text are one job."""
        before = None if self.before is None else _nameless(self.before)
        return msgspec.structs.replace(self, program=_nameless(self.program), before=before)

    def key(self, version: str) -> str:
        """Return the SHA-256 of the job and the version of what carries it out, in hexadecimal."""
        return digest(msgspec.msgpack.encode((version, self.nameless()), order="sorted"))


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a job."""

    outcome: Outcome
    words: str = ""
    """One line: the first diagnostic, what differs, why nothing was compared."""
    code: str = ""
    """Of the first diagnostic."""
    line: int = 0
    """Of the module's text, 0 if none is meant."""
    stage: int = -1
    """The stage of the pipeline that is meant, -1 if none is."""
    digest: str = ""
    """Of what was computed or counted, so that runs can be compared."""
    seconds: float = 0.0

    @property
    def without_time(self) -> "Result":
        """The result as it is on any machine that gets as far."""
        return msgspec.structs.replace(self, seconds=0.0)


class Task(msgspec.Struct, frozen=True):
    """A job under its key."""

    key: str
    job: Job


class Done(NamedTuple):
    """The result of the job with this key."""

    key: str
    result: Result


class Fleet(Protocol):
    """Carries out jobs."""

    @property
    def words(self) -> str:
        """What it is, such as `2 processes`."""
        ...

    def results(self, tasks: Sequence[Task]) -> Generator[Done]:
        """Carry out jobs with different keys; each has one result, which comes when it is there, in any order.

        To close the iterator stops what is still at work.

        Raises:
            FleetError: the fleet is lost; what has not come so far is not known.
        """
        ...


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _nameless(program: Program) -> Program:
    return msgspec.structs.replace(program, name=f"module{PurePath(program.name).suffix}")
