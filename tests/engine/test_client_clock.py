"""The clock of a request: each step that the worker reports has the time of the limit, and no step has it twice."""

import queue
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from relax_core.engine import client as client_module
from relax_core.engine.client import Client
from relax_core.engine.limits import Limits
from relax_core.engine.protocol import Answer, Failure, Progress, SampleList, Samples


class Clock:
    """A clock that goes on only while somebody waits for the worker."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class ScriptedWorker:
    """Sends progress at times, and its reply at last, unless it is told to stop."""

    is_dead = False

    def __init__(self, clock: Clock, said: list[tuple[float, Progress]], reply_at: float) -> None:
        self._clock = clock
        answers = [(at, Answer(1, "progress", msgspec.Raw(msgspec.msgpack.encode(item)))) for at, item in said]
        reply = Answer(1, "reply", msgspec.Raw(msgspec.msgpack.encode(SampleList(()))))
        self._answers = [*answers, (reply_at, reply)]
        self.kills = 0

    def wait_ready(self) -> None:
        pass

    def send(self, request: int, body: object) -> Any:
        return SimpleNamespace(get=self._get)

    def _get(self, timeout: float) -> Answer:
        at = self._answers[0][0]
        if at > self._clock.now + timeout:
            self._clock.now += timeout
            raise queue.Empty
        self._clock.now = max(at, self._clock.now)
        return self._answers.pop(0)[1]

    def forget(self, request: int) -> None:
        pass

    def kill(self, reason: Failure) -> None:
        self.kills += 1

    def join(self) -> None:
        pass


Asked = Callable[..., object]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Ask a worker that follows a script; a step may take 60 s."""

    def ask(said: list[tuple[float, Progress]], reply_at: float, timeout: float | None = None) -> object:
        clock = Clock()
        monkeypatch.setattr(client_module, "time", clock)
        client = Client(Limits(wall_seconds=60.0))
        cast("Any", client)._worker = ScriptedWorker(clock, said, reply_at)
        return client.request(Samples(), timeout=timeout)

    return ask


STEPS = [(50.0 * number, Progress(f"Running pass {number}", number, 9)) for number in range(1, 6)]


def test_a_request_of_many_steps_may_take_longer_than_one(asked: Asked) -> None:
    assert isinstance(asked(STEPS, 300.0), SampleList)


def test_a_step_that_takes_too_long_is_stopped(asked: Asked) -> None:
    failure = asked(STEPS, 311.0)
    assert isinstance(failure, Failure)
    assert "more than 60 s while running pass 5" in failure.message


@pytest.mark.parametrize("done", [0, 3], ids=["without a count", "with the same count"])
def test_a_step_that_is_reported_again_gets_no_more_time(asked: Asked, done: int) -> None:
    again = [(20.0 * number, Progress("Running `main`", done, 9, seconds=20.0 * number)) for number in range(1, 9)]
    failure = asked(again, 165.0)
    assert isinstance(failure, Failure)
    assert failure.kind == "limit"


def test_a_worker_cannot_talk_for_ever(asked: Asked) -> None:
    endless = [(30.0 * number, Progress(f"step {number}")) for number in range(1, 2000)]
    assert isinstance(asked(endless, 30.0 * 2001), Failure)


def test_a_timeout_holds_for_the_whole_request(asked: Asked) -> None:
    assert isinstance(asked(STEPS, 300.0, 60.0), Failure)
    assert isinstance(asked(STEPS[:1], 55.0, 60.0), SampleList)
