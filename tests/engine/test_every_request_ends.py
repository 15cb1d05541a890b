"""No wait is without end: whatever a worker sends, does or suffers, each request has a reply or a failure."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.engine.process import client as client_module
from relax_core.engine.process import launch, worker_process
from relax_core.engine.process.client import Client
from relax_core.engine.process.frames import HEADER
from relax_core.engine.protocol import (
    Check,
    Execute,
    Failure,
    Hello,
    Open,
    Program,
    Progress,
    Request,
    RunOf,
    SampleList,
    Samples,
    SourceView,
)
from relax_core.engine.replies import Executed
from relax_core.present.running.run_models import Run
from tests.engine.clients import forked_client
from tests.engine.programs import ENDLESS, SMALL, program
from tests.processes import wait_until, workers_of

LONG_ENOUGH = 60.0
"""Seconds after which a wait has no end."""


@pytest.fixture(autouse=True)
def forked_by_default() -> None:
    """Start workers anew."""


class FakeProcess:
    """A process of this thread's own: it writes what it is given into the worker's end of the socket, and ends."""

    pid = 1 << 30

    def __init__(self, sent: bytes, *, stays: bool, descriptor: int) -> None:
        self._channel = socket.socket(fileno=os.dup(descriptor))
        self._ended = threading.Event()
        with contextlib.suppress(OSError):
            self._channel.sendall(sent)
        if not stays:
            self.kill()

    def poll(self) -> int | None:
        return 1 if self._ended.is_set() else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return 1

    def kill(self) -> None:
        self._channel.close()
        self._ended.set()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker that does not stop be ended soon."""
    monkeypatch.setattr(client_module, "_CANCEL_SECONDS", 0.01)


@pytest.fixture
def sends(monkeypatch: pytest.MonkeyPatch, patient: None) -> Callable[..., None]:
    """Put a process in the place of workers that sends some bytes."""

    def install(sent: bytes, *, stays: bool = False) -> None:
        def opened(command: object, *, pass_fds: tuple[int, ...], **_: object) -> FakeProcess:
            return FakeProcess(sent, stays=stays, descriptor=pass_fds[0])

        monkeypatch.setattr(launch.subprocess, "Popen", opened)

    return install


def ended(ask: Callable[[], object]) -> object:
    """Return what `ask` returns, which it does."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(ask()), daemon=True)
    thread.start()
    thread.join(LONG_ENOUGH)
    assert found, "the request does not end"
    return found[0]


def frame(body: bytes) -> bytes:
    return HEADER.pack(len(body)) + body


def answer(kind: str, body: object, number: object = 1) -> bytes:
    message = {"id": number, "kind": kind, "body": body, "version": 1}
    return frame(msgspec.msgpack.encode(message))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HELLO = answer("hello", Hello(("process",), "versions"), 0)
PIECES = st.one_of(
    st.binary(max_size=40),
    st.binary(max_size=40).map(frame),
    ANY.map(lambda value: frame(msgspec.msgpack.encode(value))),
    st.builds(
        answer, st.sampled_from(["reply", "failure", "progress", "hello", "other"]), ANY, st.sampled_from([0, 1, 2])
    ),
    st.sampled_from(
        [
            HELLO,
            HELLO[:-3],
            HEADER.pack(0xFFFFFFFF),
            HEADER.pack(1 << 20),
            answer("progress", Progress("Running")),
            answer("progress", Progress("")),
            answer("failure", Failure("limit", "Stopped")),
            answer("reply", SampleList(())),
        ]
    ),
)


@settings(max_examples=300, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(st.lists(PIECES, max_size=6), st.booleans())
def test_whatever_a_worker_sends_the_request_ends(sends: Callable[..., None], pieces: list[bytes], stays: bool) -> None:
    sends(b"".join(pieces), stays=stays)
    with Client() as client:
        reply = ended(lambda: client.request(Samples(), timeout=0.05))
    assert isinstance(reply, SampleList | Failure)


def test_a_frame_that_is_cut_is_the_end_of_the_worker(sends: Callable[..., None]) -> None:
    sends(HELLO + answer("reply", SampleList(()))[:-1])
    with Client() as client:
        failure = ended(lambda: client.request(Samples()))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.is_restarted) == ("crash", True)


def test_a_process_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(launch.subprocess, "Popen", refuse)
    with Client() as client:
        failure = ended(lambda: client.request(Samples()))
    assert isinstance(failure, Failure)
    assert failure.title == "Worker did not start"
    assert "Resource temporarily unavailable" in failure.message


def test_a_thread_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    with Client() as client:
        with monkeypatch.context() as patched:
            patched.setattr(worker_process.threading.Thread, "start", refuse)
            failure = client.request(Samples())
        assert isinstance(failure, Failure)
        assert failure.title == "Worker did not start"
        assert "can't start new thread" in failure.message


def test_a_worker_that_dies_before_its_first_word_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_command", lambda: ("/bin/sh", "-c", "echo 'no such library' >&2; exit 9"))
    with Client() as client:
        failure = ended(lambda: client.request(Samples()))
    assert isinstance(failure, Failure)
    assert (failure.title, failure.message) == ("Worker did not start", "no such library.")


UNSENDABLE = {
    "half of a character": (Open(Program("x\ny\ud800")), "`program.text` holds half of a character, U+D800, at line 2"),
    "a number of 30 digits": (Open(Program("x", seed=10**30)), "`program.seed` is a number of 100 bits"),
    "a size of 30 digits": (Open(Program("x", sizes=(("n", 10**30),))), "`program.sizes[0][1]` is a number"),
}


@pytest.mark.parametrize(("message", "words"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_what_cannot_be_sent_is_named(message: Open, words: str) -> None:
    with Client() as client:
        failure = client.request(message)
        assert isinstance(failure, Failure)
        assert [item.code for item in failure.problems] == ["EN015"]
        assert words in failure.message
        assert client.status().pid == 0


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with forked_client() as made:
        yield made


def test_a_reply_that_cannot_be_sent_is_a_failure_and_the_worker_stays(client: Client) -> None:
    text = 'def @main() { @missing("\\ud800") }'
    client.request(Samples())
    process = client.status().pid
    for message in (Check(Program(text, "m.relay")), Execute(Program(f'# {"a" * 9}\nx = "\\ud800"\n{SMALL}'))):
        ended(lambda message=message: client.request(message))
    assert client.status().pid == process


class Unknown(Request[SampleList], frozen=True):
    """A request that no worker knows."""


def test_a_request_that_the_worker_does_not_know_is_answered(client: Client) -> None:
    failure = ended(lambda: client.request(Unknown()))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.title) == ("internal", "Message not understood")


def test_a_listener_that_raises_ends_its_request_only(client: Client) -> None:
    def listen(progress: Progress) -> None:
        raise LookupError(progress.text)

    failure = ended(lambda: client.request(RunOf(program(ENDLESS)), progress=listen))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message.startswith("LookupError")) == ("internal", True)
    # The worker has been told to stop: the next request need not wait for the one that was left.
    assert isinstance(ended(lambda: client.request(Open(program(SMALL)), timeout=30.0)), SourceView)


def test_what_stops_the_caller_reaches_the_caller(client: Client) -> None:
    def listen(progress: Progress) -> None:
        if progress.text.startswith("Running `main`"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.request(RunOf(program(ENDLESS)), progress=listen)
    assert isinstance(ended(lambda: client.request(Open(program(SMALL)), timeout=30.0)), SourceView)


def test_a_client_that_is_closed_answers_what_waits() -> None:
    client = forked_client()

    def close(progress: Progress) -> None:
        if progress.text.startswith("Running `main`"):
            client.close()

    failure = ended(lambda: client.request(RunOf(program(ENDLESS)), progress=close))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.title) == ("cancelled", "Closed")


def test_a_worker_that_reads_nothing_holds_nobody_up(patient: None) -> None:
    large = Check(program("#" * (4 << 20)))
    with forked_client() as client:
        client.request(Samples())
        os.kill(client.status().pid, signal.SIGSTOP)
        failures: list[Any] = []
        threads = [
            threading.Thread(target=lambda: failures.append(client.request(large, timeout=1.0))) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG_ENOUGH)
        assert len(failures) == 3
        assert not isinstance(client.request(Samples()), Failure)


def test_workers_that_are_killed_at_any_time_lose_nothing_but_time() -> None:
    before = workers_of(os.getpid())
    chance = random.Random(15)
    messages = (Open(program(SMALL)), Execute(program(SMALL)), RunOf(program(SMALL)))
    kills = 0
    with forked_client() as client:
        right = [client.request(message) for message in messages]
        assert not any(isinstance(reply, Failure) for reply in right)
        while kills < 50:
            process = _current(client)
            timer = threading.Timer(chance.random() ** 3, _kill, (process,))
            timer.start()
            at = chance.randrange(len(messages))
            _is_right_or_lost(ended(lambda at=at: client.request(messages[at])), right[at])
            timer.join()
            kills += 1
        # A process is not gone the moment that it is killed: the next request may be sent to the last one.
        _is_right_or_lost(ended(lambda: client.request(messages[0])), right[0])
        assert [_shown(client.request(message)) for message in messages] == [*map(_shown, right)]
    assert wait_until(lambda: workers_of(os.getpid()) <= before)


def _is_right_or_lost(reply: object, right: Any) -> None:
    """Assert that a reply is the right one, or says that its worker was lost and another one is there."""
    if isinstance(reply, Failure):
        assert (reply.kind, reply.is_restarted) == ("crash", True), reply
    else:
        assert _shown(reply) == _shown(right)


def _current(client: Client) -> int:
    """Return the process that is or will be asked next: of a worker that starts, it is not known yet."""
    client.start()
    worker = client._worker  # pyright: ignore[reportPrivateUsage]  # it may not have said a word
    while worker is not None and worker.process is None and not worker.is_dead:
        os.sched_yield()
    return 0 if worker is None or worker.process is None else worker.process.pid


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _shown(reply: object) -> object:
    """Return what does not depend on the time that something took."""
    match reply:
        case Executed():
            return reply.result
        case Run():
            return (reply.revision, reply.total)
        case _:
            return reply
