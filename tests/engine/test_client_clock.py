"""The clock of a request: it holds for the whole of it, whatever the worker says meanwhile."""

import queue
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from relax_core.engine.debug.requests import BisectOf
from relax_core.engine.limits import Limits
from relax_core.engine.process import client as client_module
from relax_core.engine.process.allowance import allowance
from relax_core.engine.process.client import Client
from relax_core.engine.protocol import (
    Answer,
    Execute,
    Failure,
    Open,
    Program,
    Progress,
    SampleList,
    Samples,
)


class Clock:
    """A clock that goes on only while somebody waits for the worker."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class ScriptedWorker:
    """Sends progress at times, and its reply at last; it never stops when it is told to."""

    is_dead, is_idle, is_full, share, hello = False, True, False, 0.0, object()

    def __init__(self, clock: Clock, said: list[tuple[float, Progress]], reply_at: float) -> None:
        self._clock = clock
        self._start = clock.now
        answers = [(at, Answer(1, "progress", msgspec.Raw(msgspec.msgpack.encode(item)))) for at, item in said]
        reply = Answer(1, "reply", msgspec.Raw(msgspec.msgpack.encode(SampleList(()))))
        self._answers = [*answers, (reply_at, reply)]
        self.kills = 0

    def send(self, number: int, frame: bytes) -> Any:
        return SimpleNamespace(get=self._get)

    def _get(self, timeout: float) -> Answer:
        at = self._start + self._answers[0][0]
        if at > self._clock.now + timeout:
            self._clock.now += timeout
            raise queue.Empty
        self._clock.now = max(at, self._clock.now)
        return self._answers.pop(0)[1]

    def cancel(self, number: int) -> None:
        pass

    def forget(self, number: int) -> None:
        pass

    def kill(self, failure: Failure, blamed: int) -> None:
        self.kills += 1


Asked = Callable[..., object]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Ask a worker that follows a script; the request may take 60 s."""

    def ask(said: list[tuple[float, Progress]], reply_at: float, **options: Any) -> object:
        clock = Clock()
        monkeypatch.setattr(client_module, "time", clock)
        client = Client(Limits(wall_seconds=60.0))
        cast("Any", client)._worker = ScriptedWorker(clock, said, reply_at)
        return client.request(Samples(), **options)

    return ask


STEPS = [(12.0 * number, Progress(f"Running pass {number}", number, 9, 0.1)) for number in range(1, 6)]


def test_a_request_may_take_its_time(asked: Asked) -> None:
    assert isinstance(asked(STEPS, 60.0), SampleList)


def test_a_request_of_many_steps_has_no_more_time_than_one_step(asked: Asked) -> None:
    failure = asked(STEPS, 62.0)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.is_restarted) == ("limit", True)
    assert "while running pass 5 (wall clock: 60 s)" in failure.message


def test_a_worker_cannot_talk_for_ever(asked: Asked) -> None:
    endless = [(0.2 * number, Progress(f"step {number}")) for number in range(1, 2000)]
    failure = asked(endless, 0.2 * 2001)
    assert isinstance(failure, Failure)
    assert "(wall clock: 60 s)" in failure.message


def test_an_answer_that_comes_too_late_is_no_answer_and_leaves_the_worker(asked: Asked) -> None:
    failure = asked([], 60.3)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.is_restarted, failure.title) == ("limit", False, "Stopped")


def test_a_timeout_takes_the_place_of_the_limit(asked: Asked) -> None:
    assert isinstance(asked(STEPS, 70.0, timeout=80.0), SampleList)
    failure = asked(STEPS, 70.0, timeout=30.0)
    assert isinstance(failure, Failure)
    assert "(wall clock: 30 s)" in failure.message


def test_the_seconds_are_those_since_the_request_began(asked: Asked) -> None:
    heard: list[Progress] = []
    asked(STEPS, 60.0, progress=heard.append)
    assert [(item.text, item.seconds, item.limit_seconds) for item in heard] == [
        ("Preparing the view", 0.0, 60.0),
        *((f"Running pass {number}", 12.0 * number, 60.0) for number in range(1, 6)),
    ]


PROGRAM = Program("x")
LONGEST = {Open(PROGRAM): 60.0, Execute(PROGRAM): 120.0, BisectOf(PROGRAM): 300.0}


@pytest.mark.parametrize(("message", "seconds"), LONGEST.items(), ids=lambda item: type(item).__name__)
def test_the_limit_is_that_of_the_kind(message: object, seconds: float) -> None:
    assert allowance(message, Limits()).wall_seconds == seconds


@pytest.mark.parametrize("message", LONGEST, ids=lambda item: type(item).__name__)
def test_the_clock_ends_a_request_before_its_processor_time_ends_the_worker(message: object) -> None:
    allowed = allowance(message, Limits())
    assert allowed.wall_seconds < allowed.cpu_seconds
