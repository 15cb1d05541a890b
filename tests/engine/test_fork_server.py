"""Workers that are forked: each confined and apart from the others, and there again after whatever has ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_core.engine.process import forked
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import ForkedWorkers
from relax_core.engine.protocol import Check, Failure, Open, RunOf, SampleList, Samples, SourceView
from relax_core.engine.replies import Found
from tests.engine.programs import ENDLESS, SMALL, program
from tests.processes import family_of, fork_servers_of, is_alive, wait_until, workers_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def forked_by_default() -> None:
    """Start workers anew."""


@pytest.fixture(scope="module")
def forking() -> ForkedWorkers:
    return ForkedWorkers()


@pytest.fixture
def client(forking: ForkedWorkers) -> Iterator[Client]:
    with Client(launcher=forking) as made:
        yield made


def worker(client: Client) -> int:
    """Return the process of a worker that has answered."""
    assert isinstance(client.request(Samples()), SampleList)
    return client.status().pid


def test_a_forked_worker_is_as_confined_as_one_that_is_started_anew(client: Client) -> None:
    pid = worker(client)
    assert pid in workers_of(os.getpid())
    with Client() as other:
        assert worker(other) not in workers_of(os.getpid())
        assert client.status().sandbox == other.status().sandbox
        limits = [Path(f"/proc/{item.status().pid}/limits").read_text() for item in (client, other)]
    # The soft limit of processor time is that of the latest request.
    kept = [[line for line in text.splitlines() if "cpu time" not in line] for text in limits]
    assert kept[0] == kept[1]
    assert isinstance(client.request(Open(program(SMALL))), SourceView)


def test_a_worker_holds_nothing_of_another_one(forking: ForkedWorkers) -> None:
    with Client(launcher=forking) as one, Client(launcher=forking) as two:
        pids = worker(one), worker(two)
        assert pids[0] != pids[1]
        sockets = [{os.readlink(item) for item in Path(f"/proc/{pid}/fd").iterdir()} for pid in pids]
        assert sockets[0] & sockets[1] <= {"/dev/null"}
        assert len(sockets[0]) == len(sockets[1])
        one.close()
        assert isinstance(two.request(Samples()), SampleList)
        assert two.status().pid == pids[1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_forked_worker_that_dies_says_how_and_is_replaced(client: Client, number: signal.Signals) -> None:
    pid = worker(client)
    # It is working when it dies.
    failure = client.request(RunOf(program(ENDLESS)), progress=lambda _: os.kill(pid, number))
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.is_restarted) == ("crash", True)
    assert number.name in failure.message
    assert not is_alive(pid)
    assert worker(client) != pid
    assert client.status().restart_count == 1


def test_when_the_fork_server_is_killed_another_one_takes_its_place(client: Client) -> None:
    pid = worker(client)
    (server,) = [item for item in fork_servers_of(os.getpid()) if pid in family_of(item)]
    os.kill(server, signal.SIGKILL)
    assert wait_until(lambda: not is_alive(pid))
    assert isinstance(client.request(Check(program(SMALL))), Found | Failure)
    assert worker(client) != pid
    assert worker(client) in workers_of(os.getpid()) - family_of(server)


def test_without_a_fork_server_a_worker_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_MODULE", "relax_core.engine.process.nothing")
    with Client(launcher=ForkedWorkers()) as client:
        assert worker(client) not in workers_of(os.getpid())


def test_a_worker_has_the_environment_of_its_time(forking: ForkedWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(launcher=forking) as client:
        first = worker(client)
    monkeypatch.setenv("TZ", "Pacific/Apia")
    with Client(launcher=forking) as client:
        second = worker(client)
        environment = Path(f"/proc/{second}/environ").read_bytes().split(b"\0")
    assert first != second
    assert b"TZ=Pacific/Apia" in environment


PROGRAM = """
import os, signal
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers
from relax_core.engine.protocol import Samples
client = Client(launcher=forked_workers())
client.request(Samples())
print(client.status().pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_is_left_of_a_process_that_is_killed() -> None:
    done = subprocess.run((sys.executable, "-c", PROGRAM), cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    assert wait_until(lambda: not is_alive(pid))
