"""The client of a worker: typed requests, limits on the clock, and a fresh worker when one dies.

client = Client()
reply = client.request(Open(Program(text)))     # SourceView or Failure
"""

import itertools
import os
import queue
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES, Limits, within_inherited
from relax_core.engine.process.allowance import Allowance, allowance, doing
from relax_core.engine.process.launch import Launcher, NewProcesses
from relax_core.engine.process.sendable import NotSendableError, encode, not_sent
from relax_core.engine.process.worker_causes import KEPT_TEXT, limit_reached, worded
from relax_core.engine.process.worker_process import CANCELLED, Answers, CancelAsked, Ended, WorkerProcess
from relax_core.engine.protocol import VERSION, Answer, Failure, Program, Progress, Request
from relax_core.engine.request import reply_type

R = TypeVar("R")

_CANCEL_SECONDS: Final = 0.6
"""A worker that has not obeyed a cancellation after this time is killed."""
_ATTEMPTS: Final = 3
_WORN_SHARE: Final = 0.5
"""A worker that uses a larger share of a limit than this is replaced before it gets another text.

What it holds of its text is what the next request about that text needs: of 10,000 bindings it takes half a minute to
make. If that needs more than is left, the request is sent to a fresh worker once this one has died of it.
"""
_CLOSED: Final = Failure("cancelled", "Closed", "The session was closed.")


class WorkerStatus(msgspec.Struct, frozen=True):
    """The state of the worker, as the status line shows it."""

    worker: str
    """Such as `Worker: 61 MB of 2 GB`."""
    sandbox: str
    """Such as `Sandbox: process, rlimits, seccomp, no network`."""
    versions: str
    restart_count: int
    """How many workers died; those replaced in a pause do not count."""
    pid: int = 0


@dataclass(slots=True)
class Ticket:
    """One request, as the thread knows it that may want to cancel it; for `Client.request` and `Client.cancel`.

    Once it is cancelled it stays so: asking again with the same ticket is answered at once.
    """

    is_cancelled: bool = False
    number: int = 0
    """Under which the worker has the request; the client's lock guards both fields."""


@dataclass(slots=True)
class _Asked(Generic[R]):
    """A pending request."""

    message: Request[R]
    allowed: Allowance
    listener: Callable[[Progress], None] | None
    began: float
    doing: str
    cancel_count: int
    """The client's count of cancellations when the request began: it has been cancelled if they differ."""
    ticket: Ticket

    @property
    def deadline(self) -> float:
        return self.began + self.allowed.wall_seconds

    def say(self, progress: Progress) -> None:
        """Tell the listener how far the request has come."""
        if self.listener is not None:
            seconds = time.monotonic() - self.began
            limit = self.allowed.wall_seconds
            self.listener(msgspec.structs.replace(progress, seconds=seconds, limit_seconds=limit))

    def heard(self, progress: Progress) -> None:
        """Pass on a report of progress from the worker."""
        if progress.text:
            self.doing = progress.text[0].lower() + progress.text[1:]
        self.say(progress)

    def too_late(self, *, is_restarted: bool) -> Failure:
        """Return the failure of a request that exceeded its allowance."""
        limit = f"wall clock: {self.allowed.wall_seconds:g} s"
        return limit_reached(self.doing, limit, is_restarted=is_restarted)


class Client:
    """Talks to one worker, which is started by the first request and replaced when it dies.

    `launcher` starts its processes, anew by default; see `forked.ForkedWorkers` for one that many clients share.
    """

    def __init__(self, limits: Limits | None = None, launcher: Launcher | None = None) -> None:
        self.limits = limits or Limits()
        self._launcher = launcher or NewProcesses()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._text: str | None = None
        self._restart_count = 0
        self._cancel_count = 0
        self._is_closed = False

    def start(self) -> None:
        """Start the worker ahead of the first request; returns at once."""
        with self._lock:
            self._live_worker()

    def request(
        self,
        message: Request[R],
        timeout: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        ticket: Ticket | None = None,
    ) -> R | Failure:
        """Send `message` and wait for its reply, at most `timeout` seconds; by default its `allowance`.

        The time includes waiting for the worker and every attempt. May be called from any thread; `progress` is called
        in the caller's thread.

        Never raises for what the program or the worker does, nor for a message that cannot be sent: that is a
        `Failure`.
        """
        allowed = allowance(message, within_inherited(self.limits))
        if timeout is not None:
            allowed = Allowance(timeout, allowed.cpu_seconds)
        ticket = ticket or Ticket()
        asked = _Asked(message, allowed, progress, time.monotonic(), doing(message), self._cancel_count, ticket)
        try:
            return self._answered(asked)
        except NotSendableError as error:
            return not_sent(f"the request cannot be sent: {error}")
        except Exception as error:  # the request boundary: a mistake here must not end the caller's session
            words = f"{type(error).__name__}: {error}"
            return Failure("internal", "Mistake in RelaxScope", words, rendered=traceback.format_exc(limit=-12))

    def cancel(self, ticket: Ticket | None = None) -> None:
        """Cancel the request of `ticket`, or every one that is waiting: the answer is a `Failure` of kind `cancelled`.

        A worker that does not stop by itself is ended: what it kept is computed again when it is asked for.
        """
        with self._lock:
            if ticket is None:
                self._cancel_count += 1
            else:
                ticket.is_cancelled = True
            if self._worker is not None:
                self._worker.stop(None if ticket is None else ticket.number)

    def status(self) -> WorkerStatus:
        """Describe the worker from outside, without a request."""
        worker = self._worker
        hello = worker.hello if worker is not None else None
        process = worker.process if worker is not None else None
        if worker is None or worker.is_dead or hello is None or process is None:
            return WorkerStatus("Worker: starts with the next request", "", "", self._restart_count)
        used = _resident_bytes(process.pid) // MEGABYTE
        return WorkerStatus(
            f"Worker: {used} MB of {worker.limits.memory_text}",
            f"Sandbox: {', '.join(hello.sandbox)}",
            hello.versions,
            self._restart_count,
            process.pid,
        )

    def close(self, *, is_hurried: bool = False) -> None:
        """End the worker; a later request is answered by a `Failure`.

        What the worker compiled goes to the cache, unless the caller `is_hurried`.
        """
        with self._lock:
            self._is_closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill(_CLOSED)
            worker.join(hands_over=not is_hurried)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live_worker(self) -> WorkerProcess | None:
        """Return the live worker, started anew if it has died; `None` after `close`. The caller holds the lock."""
        if self._is_closed:
            return None
        if self._worker is None or self._worker.is_dead:
            self._restart_count += self._worker is not None
            self._worker = WorkerProcess(self.limits, self._launcher)
        return self._worker

    def _answered(self, asked: _Asked[R]) -> R | Failure:
        """Send a request until a worker answers it or dies because of it."""
        body = encode(asked.message)
        if len(body) > REQUEST_BYTES - 1024:
            return Failure("limit", "Too large to read", f"A request has at most {REQUEST_BYTES:,} B.")
        for attempt in range(1, _ATTEMPTS + 1):
            with self._lock:
                # Under one lock, so that the worker is not replaced between choosing it and sending.
                if asked.ticket.is_cancelled or self._cancel_count != asked.cancel_count:
                    return CANCELLED
                self._retire_worn(asked.message)
                worker = self._live_worker()
                if worker is None:
                    return _CLOSED
                number = asked.ticket.number = next(self._numbers)
                answers = worker.send(number, _envelope(number, body))
            try:
                found = self._waited(asked, worker, number, answers)
            finally:
                worker.forget(number)
            if not isinstance(found, Ended):
                return found
            if not found.may_retry or attempt == _ATTEMPTS:
                return worded(found.failure, asked.doing, asked.allowed.cpu_seconds)
        raise AssertionError("the last attempt has an answer")

    def _waited(self, asked: _Asked[R], worker: WorkerProcess, number: int, answers: Answers) -> R | Failure | Ended:
        """Wait for the answer; kill a worker that does not stop when it is told to."""
        doing = f"{asked.doing[0].upper()}{asked.doing[1:]}"
        asked.say(Progress(doing if worker.hello is not None else "Starting the worker"))
        deadline, stopping = asked.deadline, None
        while True:
            try:
                item = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                if stopping is not None:
                    worker.kill(stopping, number)
                    return stopping
                worker.cancel(number)
                stopping, deadline = asked.too_late(is_restarted=True), time.monotonic() + _CANCEL_SECONDS
                continue
            match item:
                case CancelAsked():
                    words = f"Stopped as asked, by ending the worker. {KEPT_TEXT}"
                    stopping = Failure("cancelled", "Cancelled", words, is_restarted=True)
                    deadline = min(deadline, time.monotonic() + _CANCEL_SECONDS)
                case Ended():
                    return item if stopping is None else stopping
                case Answer(kind="progress", body=body):
                    asked.heard(msgspec.msgpack.decode(body, type=Progress))
                case _ if stopping is not None and stopping.kind == "limit":
                    return asked.too_late(is_restarted=False)
                case Answer(kind="failure", body=body):
                    return msgspec.msgpack.decode(body, type=Failure)
                case Answer(body=body):
                    return msgspec.msgpack.decode(body, type=reply_type(asked.message))

    def _retire_worn(self, message: object) -> None:
        """Let go of an idle worker that holds much memory of another text; the caller holds the lock."""
        program = getattr(message, "program", None)
        if not isinstance(program, Program):
            return
        earlier, self._text = self._text, program.text
        worker = self._worker
        if worker is None or earlier is None or earlier == program.text or worker.is_dead:
            return
        if worker.is_idle and worker.is_full and worker.share > _WORN_SHARE:
            self._worker = None
            worker.retire()


def _envelope(number: int, body: bytes) -> bytes:
    return msgspec.msgpack.encode({"id": number, "body": msgspec.Raw(body), "version": VERSION})


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
