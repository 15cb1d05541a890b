"""Cancel is answered within a second, whatever the worker does; what does not stop by itself is ended."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relax_core.engine.debug.requests import BisectOf, CompareValuesOf, MemoryOf
from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.programs.program import ChangeAt
from relax_core.engine.protocol import (
    Check,
    DevicesOf,
    Execute,
    Failure,
    GraphOf,
    KernelOf,
    Open,
    OriginsOf,
    PartitionOf,
    Progress,
    Request,
    RunOf,
    Samples,
    Script,
    SourceView,
    StepCostsOf,
)
from tests.engine.clients import forked_client
from tests.engine.programs import ENDLESS, LONG, LONG_KERNEL, LONG_RELAY, SAMPLES, SMALL, program
from tests.processes import cpu_seconds_of

ROOT = Path(__file__).resolve().parents[2]
SOON = 3.0
"""Seconds: what takes one second on a quiet machine."""

TABLE = (ROOT / "samples" / "patterns" / "dnnl.json").read_text(encoding="utf-8")
TARGETS = ("dnnl",)
# The long text keeps each of them busy for seconds, in places that look at a cancellation and in places that do not.
REQUESTS: dict[str, Request[object]] = {
    "reading": Open(program(LONG)),
    "checking": Check(program(LONG)),
    "printing": Script(program(LONG)),
    "laying out": GraphOf(program(LONG), 0, "main"),
    "passes": Script(program(LONG), passes=True),
    "running": RunOf(program(ENDLESS)),
    "compiling a kernel": KernelOf(program(LONG_KERNEL)),
    "timing a kernel": StepCostsOf(
        program((SAMPLES / "tir" / "matmul.py").read_text(encoding="utf-8")),
        "matmul",
        (("m", 2000), ("n", 2000), ("k", 2000)),
    ),
    "compiling a program": Execute(program(LONG_KERNEL)),
    "partitioning": PartitionOf(program(LONG_RELAY, "m.relay", tables=TABLE), TARGETS),
    "planning devices": DevicesOf(program(LONG_RELAY, "m.relay")),
    "running all stages": BisectOf(program(ENDLESS)),
    "reading to run all stages": BisectOf(program(LONG)),
    "comparing runs": CompareValuesOf(program(ENDLESS), -1, program(ENDLESS, seed=1), -1),
    "following the memory": MemoryOf(program(LONG)),
    "following a line": OriginsOf(program(LONG), 9),
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with forked_client() as made:
        yield made


def cancelled(client: Client, message: Request[object], stop: Callable[[], object]) -> tuple[object, float]:
    """Ask, cancel when a step of the request is due, and return the answer with the seconds until it came."""
    found: list[object] = []
    done = threading.Event()

    def ask() -> None:
        found.append(client.request(message))
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    done.wait(0.8)
    assert not done.is_set(), "it was done before it could be cancelled"
    began = time.monotonic()
    stop()
    assert done.wait(60.0), "the cancelled request does not end"
    return found[0], time.monotonic() - began


@pytest.mark.parametrize("message", REQUESTS.values(), ids=REQUESTS)
def test_whatever_is_done_can_be_cancelled(client: Client, message: Request[object]) -> None:
    # What the worker has read it keeps: these are cancelled in their own work.
    read = isinstance(message, KernelOf | Execute | PartitionOf | DevicesOf)
    client.request(Open(message.program) if read else Samples())
    reply, seconds = cancelled(client, message, client.cancel)
    assert isinstance(reply, Failure)
    assert reply.kind == "cancelled"
    assert seconds < SOON


def test_a_worker_that_does_not_stop_is_ended_and_nothing_is_lost() -> None:
    changed = program(SMALL, changes=(ChangeAt(0, "x = zeros()"),))
    with forked_client() as client:
        before = client.request(Execute(changed))
        process = client.status().pid
        os.kill(process, signal.SIGSTOP)
        reply, seconds = cancelled(client, Open(program(SMALL)), client.cancel)
        assert isinstance(reply, Failure)
        assert (reply.kind, reply.is_restarted) == ("cancelled", True)
        assert seconds < SOON
        # A request holds all that it is about: text, inputs and changes are not the worker's to lose.
        assert client.request(Execute(changed)) == before
        assert client.status().pid != process


def test_a_worker_that_is_only_starting_can_be_cancelled() -> None:
    with Client() as client:
        reply = client.request(Open(program(SMALL)), progress=lambda _: client.cancel())
        assert isinstance(reply, Failure)
        assert (reply.kind, reply.is_restarted) == ("cancelled", False)
        assert isinstance(client.request(Open(program(SMALL))), SourceView)
        assert client.status().restart_count == 0


def test_all_that_waits_is_cancelled() -> None:
    replies: list[object] = []
    running = threading.Event()

    def begin(progress: Progress) -> None:
        if progress.text.startswith("Running `main`"):
            running.set()

    with forked_client() as client:
        client.request(Samples())
        messages = (RunOf(program(ENDLESS)), *(Execute(program(ENDLESS, seed=seed)) for seed in range(5)))

        def request(message: Request[Any]) -> None:
            replies.append(client.request(message, progress=begin))

        threads = [threading.Thread(target=request, args=(message,)) for message in messages]
        for thread in threads:
            thread.start()
        assert running.wait(60.0)
        began = time.monotonic()
        client.cancel()
        for thread in threads:
            thread.join(60.0)
        assert time.monotonic() - began < SOON
        assert [reply.kind for reply in replies if isinstance(reply, Failure)] == ["cancelled"] * 6


def test_a_request_behind_one_that_is_ended_is_answered_all_the_same() -> None:
    replies: list[object] = []
    with forked_client() as client:
        client.request(Samples())
        os.kill(client.status().pid, signal.SIGSTOP)
        first = threading.Thread(target=lambda: replies.append(client.request(Open(program(ENDLESS)), timeout=0.5)))
        second = threading.Thread(target=lambda: replies.append(client.request(Open(program(SMALL)))))
        for thread in (first, second):
            thread.start()
        for thread in (first, second):
            thread.join(60.0)
        kinds = {type(reply) for reply in replies}
        assert kinds == {Failure, SourceView}


def _is_starting(client: Client) -> None:
    assert client.status().pid == 0


def _is_running(client: Client) -> None:
    client.request(Samples())


def _does_not_answer(client: Client) -> None:
    client.request(Samples())
    os.kill(client.status().pid, signal.SIGSTOP)


@pytest.mark.parametrize("prepare", [_is_starting, _is_running, _does_not_answer])
def test_a_ticket_cancels_its_own_request_alone(prepare: Callable[[Client], None]) -> None:
    """As in a page: the script that is stopped cancels what it waits for when the next one waits already."""
    replies: dict[str, object] = {}
    ticket = Ticket()
    have_begun = threading.Barrier(3)

    def ask(name: str, message: Request[object], own: Ticket) -> None:
        said: list[Progress] = []

        def hear(progress: Progress) -> None:
            said.append(progress)
            if len(said) == 1:
                have_begun.wait(60.0)

        replies[name] = client.request(message, progress=hear, ticket=own)

    with forked_client() as client:
        prepare(client)
        threads = [
            threading.Thread(target=ask, args=("stopped", Execute(program(ENDLESS)), ticket)),
            threading.Thread(target=ask, args=("next", Open(program(SMALL)), Ticket())),
        ]
        for thread in threads:
            thread.start()
        # Each request has been sent by the time of its first progress.
        have_begun.wait(60.0)
        client.cancel(ticket)
        for thread in threads:
            thread.join(60.0)
        assert isinstance(replies["stopped"], Failure)
        assert replies["stopped"].kind == "cancelled"
        assert isinstance(replies["next"], SourceView)
        again = client.request(Samples(), ticket=ticket)
        assert isinstance(again, Failure)
        assert again.kind == "cancelled"


def interrupted(tmp_path: Path, arguments: list[str], text: str, cpu_seconds: float) -> float:
    """Send Ctrl-C to a command that has worked for a time; return the seconds until it ended, as it should."""
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "relax_core", *arguments, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RELAXSCOPE_CACHE": "off"},
    )
    while process.poll() is None and cpu_seconds_of(process.pid) < cpu_seconds:
        os.sched_yield()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60.0)
    seconds = time.monotonic() - began
    assert (process.returncode, output, errors) == (130, "", "interrupted\n")
    return seconds


WORK: dict[str, tuple[str, tuple[str, ...]]] = {
    "a kernel without end": (ENDLESS, ()),
    "a long text": (LONG, ()),
    # A long text is not among these: Python hears nothing while a library holds its lock.
    "a kernel without end in process": (ENDLESS, ("--in-process",)),
}


@pytest.mark.parametrize(("text", "place"), WORK.values(), ids=WORK)
def test_ctrl_c_ends_a_command(tmp_path: Path, text: str, place: tuple[str, ...]) -> None:
    assert interrupted(tmp_path, ["run", *place], text, cpu_seconds=4.0) < SOON


def test_ctrl_c_ends_a_command_that_is_only_loaded(tmp_path: Path) -> None:
    assert interrupted(tmp_path, ["run"], SMALL, cpu_seconds=0.2) < SOON
