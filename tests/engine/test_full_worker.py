"""Memory is blamed rightly: a full worker is replaced for another text, and a request does not pay for others."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from relax_core.engine.limits import MEGABYTE, Limits
from relax_core.engine.process import client as client_module
from relax_core.engine.process import launch
from relax_core.engine.process.client import Client
from relax_core.engine.process.launch import Launcher
from relax_core.engine.process.worker_process import WorkerProcess
from relax_core.engine.protocol import Check, Execute, Failure, Open, Request, SourceView
from tests.engine.programs import HEADER, SMALL, program

# A worker that can run programs takes about 390 MB of address space, and some 5 kB for each binding of a text.
LIMITS = Limits(memory_bytes=1120 * MEGABYTE)
BINDINGS = 55_000


@pytest.fixture(autouse=True)
def forked_by_default() -> None:
    """Start workers anew."""


def test_a_worker_that_holds_over_half_of_its_memory_is_kept_for_its_text_and_replaced_for_another() -> None:
    lines = "".join(f"        x{at + 1} = R.add(x{at}, x{at})\n" for at in range(BINDINGS))
    head = '    @R.function\n    def main(x0: R.Tensor((4,), "float32")):\n'
    text = f"{HEADER}{head}{lines}        return x{BINDINGS}\n"
    with Client(LIMITS) as client:
        client.request(Check(program(SMALL)))
        first = client.status().pid
        assert isinstance(client.request(Open(program(SMALL))), SourceView)
        assert client.status().pid == first
        assert isinstance(client.request(Open(program(text))), SourceView)
        assert isinstance(client.request(Open(program(text))), SourceView)
        assert client.status().pid == first
        assert isinstance(client.request(Open(program(SMALL))), SourceView)
        assert client.status().pid not in (0, first)
        # It was not lost: nobody has seen it.
        assert client.status().restart_count == 0


@pytest.fixture
def dies(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let workers run a script in place of the worker: the first one that is started."""

    def install(script: str) -> None:
        usual = launch._command()  # pyright: ignore[reportPrivateUsage]  # what is replaced
        commands = iter([(usual[0], "-c", script)])
        monkeypatch.setattr(launch, "_command", lambda: next(commands, usual))

    return install


ANSWERS = """
import socket, sys, msgspec
channel = socket.socket(fileno=int(sys.argv[1]))
def send(number, kind, body, share):
    message = {"id": number, "kind": kind, "body": body, "version": 1, "share": share}
    frame = msgspec.msgpack.encode(message)
    channel.sendall(len(frame).to_bytes(4, "big") + frame)
def read():
    length = int.from_bytes(channel.recv(4), "big")
    found = b""
    while len(found) < length:
        found += channel.recv(length - len(found))
    return msgspec.msgpack.decode(found)
send(0, "hello", {"sandbox": [], "versions": "", "share": 0.25}, 0.25)
for share in SHARES:
    send(read()["id"], "failure", {"kind": "cancelled", "title": "First"}, share)
read()
sys.exit(71)
"""


def test_a_request_that_fails_on_a_full_worker_is_sent_to_a_fresh_one(dies: Callable[[str], None]) -> None:
    dies(ANSWERS.replace("SHARES", "[0.45]"))
    with Client() as client:
        assert isinstance(client.request(Check(program(SMALL))), Failure)
        assert isinstance(client.request(Open(program(SMALL))), SourceView)
        assert client.status().restart_count == 1


def test_a_request_that_fails_on_a_fresh_worker_is_to_blame(dies: Callable[[str], None]) -> None:
    dies(ANSWERS.replace("SHARES", "[0.26]"))
    with Client() as client:
        assert isinstance(client.request(Check(program(SMALL))), Failure)
        failure = client.request(Open(program(SMALL)))
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.is_restarted) == ("limit", True)
        assert "while reading the text (memory: 2 GB)" in failure.message


def test_what_waits_behind_a_request_that_ends_the_worker_is_answered() -> None:
    text = SMALL + "\n" * 3_000_000
    with Client(Limits(memory_bytes=640 * MEGABYTE)) as client:
        client.request(Check(program(SMALL)))
        replies: list[object] = []

        def request(message: Request[Any]) -> None:
            replies.append(client.request(message))

        first = threading.Thread(target=request, args=(Open(program(text)),))
        others = [threading.Thread(target=request, args=(Execute(program(SMALL, seed=seed)),)) for seed in range(3)]
        for thread in (first, *others):
            thread.start()
        for thread in (first, *others):
            thread.join(120.0)
        failures = [reply for reply in replies if isinstance(reply, Failure)]
        assert len(replies) == 4
        assert ["(memory: 640 MB)" in failure.message for failure in failures] == [True]


def test_what_a_worker_loads_for_its_first_run_does_not_make_it_full(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[WorkerProcess] = []

    def started(limits: Limits, launcher: Launcher) -> WorkerProcess:
        made.append(WorkerProcess(limits, launcher))
        return made[-1]

    monkeypatch.setattr(client_module, "WorkerProcess", started)
    with Client() as client:
        client.request(Check(program(SMALL)))
        before = made[0].share
        client.request(Execute(program(SMALL)))
        assert made[0].share > before + 1 / 16, "the libraries take address space"
        assert not made[0].is_full
        assert len(made) == 1
