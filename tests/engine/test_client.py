"""Workers with limits: what a program does to a worker, the client and its session survive."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from relax_core.engine.limits import MEGABYTE, Limits
from relax_core.engine.process.client import Client
from relax_core.engine.process.frames import FrameTooLargeError, read_frame, write_frame
from relax_core.engine.protocol import (
    Check,
    Execute,
    Failure,
    GraphOf,
    Open,
    Progress,
    RunOf,
    Samples,
    SourceView,
)
from tests.engine.programs import ENDLESS, HUGE, LONG, RECURSIVE, SMALL, program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def forked_by_default() -> None:
    """Start workers anew: that one is dead is known at once."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as made:
        yield made


def works(client: Client) -> None:
    """Check that the client answers, with a fresh worker if need be; the limit of the test's client is not for this."""
    view = client.request(Open(program(SMALL)), timeout=Limits().wall_seconds)
    assert isinstance(view, SourceView)
    assert view.status.is_well_formed


def test_requests_are_answered_by_another_process(client: Client) -> None:
    works(client)
    status = client.status()
    assert status.pid not in (0, os.getpid())
    assert status.worker.endswith("of 2 GB")
    assert status.sandbox.startswith("Sandbox: process, rlimits")
    assert "NumPy" in status.versions


def test_the_worker_is_confined_as_it_says(client: Client) -> None:
    works(client)
    status = client.status()
    limits = Path(f"/proc/{status.pid}/limits").read_text()
    rows = {line[:25].strip(): line[25:].split()[:2] for line in limits.splitlines()}
    assert rows["Max address space"] == [str(2048 * MEGABYTE)] * 2
    assert rows["Max file size"] == ["0", "0"]
    assert rows["Max core file size"] == ["0", "0"]
    assert rows["Max open files"] == ["64", "64"]
    process = Path(f"/proc/{status.pid}/status").read_text()
    assert ("Seccomp:\t2" in process) == ("seccomp" in status.sandbox)
    has_own_network = os.readlink(f"/proc/{status.pid}/ns/net") != os.readlink("/proc/self/ns/net")
    assert has_own_network == ("no network" in status.sandbox)


def test_threads_may_ask_at_once(client: Client) -> None:
    replies: list[object] = []

    def check(text: str) -> None:
        replies.append(client.request(Check(program(text))))

    ask = [threading.Thread(target=check, args=(text,)) for text in (SMALL, HUGE, RECURSIVE, ENDLESS)]
    for thread in ask:
        thread.start()
    for thread in ask:
        thread.join()
    assert len(replies) == 4
    assert not any(isinstance(reply, Failure) for reply in replies)


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGXCPU], ids=str)
def test_a_worker_that_dies_while_idle_is_replaced(kind: signal.Signals) -> None:
    with Client() as client:
        works(client)
        process = client.status().pid
        os.kill(process, kind)
        _wait_gone(process)
        works(client)
        assert client.status().pid != process
        assert client.status().restart_count == 1


def _wait_gone(process: int) -> None:
    """Wait until the client has reaped its worker."""
    stat = Path(f"/proc/{process}/stat")
    with suppress(ProcessLookupError):  # it ends while it is looked at
        while stat.exists():
            os.sched_yield()


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGSEGV], ids=str)
def test_a_worker_that_dies_while_it_runs_says_so(kind: signal.Signals) -> None:
    with Client() as client:
        works(client)
        process = client.status().pid

        def kill(progress: Progress) -> None:
            if progress.text.startswith("Running `main`"):
                os.kill(process, kind)

        failure = client.request(RunOf(program(ENDLESS)), progress=kill)
        assert isinstance(failure, Failure)
        assert failure.kind == "crash"
        assert failure.is_restarted
        assert failure.title == "Worker restarted"
        assert "while running `main`" in failure.message
        assert "Your text and selection are as they were." in failure.message
        works(client)


def test_a_loop_that_never_ends_is_stopped_and_the_worker_stays() -> None:
    with Client(Limits(wall_seconds=1.5)) as client:
        works(client)
        process = client.status().pid
        failure = client.request(RunOf(program(ENDLESS)))
        assert isinstance(failure, Failure)
        assert failure.kind == "limit"
        assert "while running `main` (wall clock: 3 s)" in failure.message
        works(client)
        assert client.status().pid == process


def test_a_worker_that_does_not_answer_is_replaced() -> None:
    with Client() as client:
        works(client)
        process = client.status().pid
        os.kill(process, signal.SIGSTOP)
        failure = client.request(Open(program(SMALL)), timeout=0.2)
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.is_restarted) == ("limit", True)
        works(client)
        assert client.status().pid != process


def test_cancel_answers_what_waits() -> None:
    with Client() as client:
        works(client)

        def cancel(progress: Progress) -> None:
            if progress.text.startswith("Running `main`"):
                client.cancel()

        failure = client.request(RunOf(program(ENDLESS)), progress=cancel)
        assert isinstance(failure, Failure)
        assert failure.kind == "cancelled"
        works(client)
        assert client.status().restart_count == 0


def test_memory_beyond_the_limit_is_told_and_the_session_goes_on() -> None:
    text = SMALL + "\n" * 3_000_000
    with Client(Limits(memory_bytes=640 * MEGABYTE)) as client:
        works(client)
        failure = client.request(Open(program(text)))
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.is_restarted) == ("limit", True), failure
        assert "(memory: 640 MB)" in failure.message
        works(client)


@pytest.mark.parametrize(("text", "code"), [(HUGE, "VM006"), (RECURSIVE, "VM003")], ids=["memory", "recursion"])
def test_limits_of_the_machine_leave_the_worker_alone(client: Client, text: str, code: str) -> None:
    works(client)
    process = client.status().pid
    ran = client.request(Execute(program(text)))
    assert not isinstance(ran, Failure)
    assert ran.is_limit
    assert ran.problems[0].code == code
    assert client.status().pid == process


def test_a_reply_that_is_too_large_is_not_sent() -> None:
    with Client(Limits(output_bytes=2_000)) as client:
        failure = client.request(Samples())
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.title) == ("limit", "Too large to show")
        assert not isinstance(client.request(Check(program("x"))), Failure)


def test_a_text_that_is_too_large_is_not_sent(client: Client) -> None:
    works(client)
    failure = client.request(Check(program("#" * (17 * MEGABYTE))))
    assert isinstance(failure, Failure)
    assert failure.title == "Too large to read"
    works(client)


def test_processor_time_is_limited_per_request() -> None:
    # A run that takes too long on the clock is stopped before: on a busy machine it gets less of a processor.
    with Client(Limits(cpu_seconds=1)) as client:
        works(client)
        failure = client.request(Open(program(LONG)))
        assert isinstance(failure, Failure)
        assert (failure.kind, failure.is_restarted) == ("limit", True)
        assert "while reading the text (processor time: 1 s)" in failure.message
        works(client)


def test_a_closed_client_answers_with_a_failure() -> None:
    client = Client()
    works(client)
    process = client.status().pid
    client.close()
    assert not Path(f"/proc/{process}").exists()
    assert isinstance(client.request(Open(program(SMALL))), Failure)


def test_a_worker_ends_with_the_process_that_started_it() -> None:
    script = (
        "from relax_core.engine.process.client import Client\n"
        "from relax_core.engine.protocol import Check, Program\n"
        "import os\n"
        "client = Client()\n"
        "client.request(Check(Program('x')))\n"
        "print(client.status().pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, env=environment, check=False)
    _wait_gone(int(ran.stdout))


def test_a_graph_from_a_worker_equals_one_made_here(client: Client) -> None:
    from relax_core.engine.session import Session

    message = GraphOf(program(SMALL), 0, "main")
    assert client.request(message) == Session().request(message)


def test_frames_keep_their_bounds() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write_frame(ours, b"")
        write_frame(ours, b"x" * 100)
        assert read_frame(theirs, 10) == b""
        with pytest.raises(FrameTooLargeError):
            read_frame(theirs, 10)
        ours.close()
        while read_frame_or_none(theirs) is not None:
            pass


def read_frame_or_none(channel: socket.socket) -> bytes | None:
    return channel.recv(1000) or None


CONFINED = {
    "starting a program": "import os; os.execv('/bin/true', ['true'])",
    "a child process": "import os; os.fork()",
    "a socket": "import socket; socket.socket()",
    "writing a file": "open('/tmp/relax_core_test', 'w')",
    "removing a file": "import os; os.unlink('/nothing')",
    "another process": "import os; os.kill(os.getppid(), 0)",
}


@pytest.mark.parametrize("code", CONFINED.values(), ids=CONFINED.keys())
def test_the_filter_refuses(code: str) -> None:
    # Where there is no filter, the worker's status says so, and there is nothing to refuse.
    refuse = "if not filter_calls():\n    raise PermissionError('no filter on this machine')"
    script = f"from relax_core.engine.process.sandbox import filter_calls\n{refuse}\n{code}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, env=environment, check=False)
    assert "PermissionError" in ran.stderr
