"""Workers that are started before their client is loaded."""

from collections.abc import Iterator

import pytest

from relax_core.engine.process.ahead import WorkerAhead, started_ahead
from relax_core.engine.process.client import Client
from relax_core.engine.process.launch import OneAhead
from relax_core.engine.protocol import Open, SourceView
from tests.engine.programs import SMALL, program


@pytest.fixture
def ahead() -> Iterator[WorkerAhead]:
    made = WorkerAhead()
    yield made
    made.end()


def number_of_worker(client: Client) -> int:
    """Have a text read, and return the number of the process that did it."""
    view = client.request(Open(program(SMALL)))
    assert isinstance(view, SourceView)
    assert client.status().sandbox.startswith("Sandbox: process, rlimits")
    return client.status().pid


def test_the_worker_that_was_started_ahead_answers_and_the_next_one_is_new(ahead: WorkerAhead) -> None:
    launcher = OneAhead(ahead)
    with Client(launcher=launcher) as client:
        assert number_of_worker(client) == ahead.process.pid
    assert ahead.process.poll() is not None
    with Client(launcher=launcher) as client:
        assert number_of_worker(client) not in (0, ahead.process.pid)


def test_one_that_has_ended_is_replaced(ahead: WorkerAhead) -> None:
    ahead.process.kill()
    ahead.process.wait()
    with Client(launcher=OneAhead(ahead)) as client:
        assert number_of_worker(client) not in (0, ahead.process.pid)


def test_one_of_another_environment_is_replaced(ahead: WorkerAhead, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAXSCOPE_STAND_INS", "{}")
    with Client(launcher=OneAhead(ahead)) as client:
        assert number_of_worker(client) not in (0, ahead.process.pid)
    assert ahead.process.poll() is not None


def test_one_that_nobody_wants_ends_by_itself() -> None:
    ahead = WorkerAhead()
    assert not ahead.takes(b"")
    assert ahead.process.wait(60) == 0


def test_commands_without_a_worker_of_their_own_start_none() -> None:
    for arguments in ((), ("--help",), ("bisect", "m.py"), ("check", "--in-process", "m.py"), ("check", "--help")):
        assert started_ahead(arguments) is None
    made = started_ahead(("check", "m.py"))
    assert made is not None
    made.end()
