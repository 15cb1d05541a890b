"""The client of a worker: typed requests, limits on the clock, and a fresh worker when one dies.

client = Client()
reply = client.request(Open(Program(text)))     # SourceView or Failure
"""

import contextlib
import itertools
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import msgspec

from relax_core.engine.compile_service import CompileService
from relax_core.engine.frames import FrameTooLargeError, read_frame, write_frame
from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES, Limits
from relax_core.engine.protocol import (
    Answer,
    AnyRequest,
    Asm,
    Cancel,
    Envelope,
    Execute,
    Failure,
    Hello,
    HitsOf,
    Open,
    Opt,
    PipelineOf,
    Progress,
    Request,
    RunOf,
    StageOf,
    StopOf,
)
from relax_core.engine.request import reply_type
from relax_core.jit.compilation.cache import HOME_VARIABLE, VARIABLE

R = TypeVar("R")

_GRACE_SECONDS = 1.0
_START_SECONDS = 60.0
_MOST_STEPS = 200
"""So often the clock of a request is set again."""
_ROOT = Path(__file__).resolve().parents[2]
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", VARIABLE, HOME_VARIABLE)
_KEPT_TEXT = "Your text and selection are as they were."


class WorkerStatus(msgspec.Struct, frozen=True):
    """What the bar at the bottom says of the worker."""

    worker: str
    """Such as `Worker: 61 MB of 2 GB`."""
    sandbox: str
    """Such as `Sandbox: process, rlimits, seccomp, no network`."""
    versions: str
    restart_count: int
    pid: int = 0


_CLOSED = Failure("cancelled", "Closed", "The session was closed.")
_Item: TypeAlias = "Answer | Failure"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1"}


class _Worker:
    """One process and the thread that starts it and reads from it.

    The same thread does both: the kernel kills a process with PDEATHSIG when the *thread* that started it ends.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.hello: Hello | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.kill_reason: Failure | None = None
        self._ours, self._theirs = socket.socketpair()
        self._compile_service = CompileService(_environment())
        self._pending: dict[int, queue.SimpleQueue[_Item]] = {}
        self._lock = threading.Lock()
        self._is_ready = threading.Event()
        self._is_ending = False
        self._is_dead = False
        self._cause = Failure("crash", "Worker stopped", _KEPT_TEXT, is_restarted=True)
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._thread.start()

    @property
    def is_dead(self) -> bool:
        """Tell whether the process has ended or closed its socket, even if the reading thread has not seen it yet."""
        return self._is_dead or self._is_ending or (self.process is not None and self.process.poll() is not None)

    def wait_ready(self) -> None:
        """Wait until the worker has said what confines it, or has died."""
        if not self._is_ready.wait(_START_SECONDS):
            self.kill(Failure("crash", "Worker did not start", "", is_restarted=True))

    def send(self, request: int, body: AnyRequest | Cancel) -> queue.SimpleQueue[_Item]:
        """Send a message; the answers to it arrive in the queue."""
        answers: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        with self._lock:
            if self._is_dead:
                answers.put(self._cause)
                return answers
            if not isinstance(body, Cancel):
                self._pending[request] = answers
            # If the worker is gone, the reading thread sees the same and answers everything that is pending.
            with contextlib.suppress(OSError):
                write_frame(self._ours, msgspec.msgpack.encode(Envelope(request, body)))
        return answers

    def forget(self, request: int) -> None:
        """Drop the queue of a request that nobody waits for."""
        with self._lock:
            self._pending.pop(request, None)

    def pending(self) -> tuple[int, ...]:
        """Numbers of the requests that are not answered."""
        with self._lock:
            return tuple(self._pending)

    def kill(self, reason: Failure | None) -> None:
        """End the process; everything pending is answered with `reason`."""
        if self.kill_reason is None:
            self.kill_reason = reason
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self._shut()

    def join(self) -> None:
        """Wait until the process is gone and reaped, and what it compiled is on its way to the cache."""
        self._thread.join(_GRACE_SECONDS * 5)
        self._compile_service.hand_over()

    def _shut(self) -> None:
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        try:
            self.process = self._start()
        finally:
            self._theirs.close()
            self._compile_service.detach()
        try:
            self._read_all()
        except FrameTooLargeError as error:
            self.kill_reason = Failure("limit", "Too large to show", f"The worker sent {error}.", is_restarted=True)
        # While this thread reaps the process, `poll` cannot tell that it has ended.
        self._is_ending = True
        try:
            # At its end a process closes the socket before its status is known.
            status = self.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        with self._lock:
            self._is_dead = True
            self._cause = self.kill_reason or _cause_of(status, self.limits)
            pending, self._pending = self._pending, {}
        self._ours.close()
        for answers in pending.values():
            answers.put(self._cause)
        self._is_ready.set()

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor, compile_descriptor = self._theirs.fileno(), self._compile_service.descriptor
        return subprocess.Popen(
            (
                sys.executable,
                "-P",
                "-m",
                "relax_core.engine.worker",
                str(descriptor),
                msgspec.json.encode(self.limits).decode(),
                str(compile_descriptor),
            ),
            pass_fds=(descriptor, compile_descriptor),
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _read_all(self) -> None:
        limit = self.limits.output_bytes + MEGABYTE
        while (frame := read_frame(self._ours, limit)) is not None:
            answer = msgspec.msgpack.decode(frame, type=Answer)
            if answer.kind == "hello":
                self.hello = msgspec.msgpack.decode(answer.body, type=Hello)
                self._is_ready.set()
                continue
            with self._lock:
                is_last = answer.kind != "progress"
                answers = self._pending.pop(answer.id, None) if is_last else self._pending.get(answer.id)
            if answers is not None:
                answers.put(answer)


class Client:
    """Talks to one worker, which is started by the first request and replaced when it dies."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._restart_count = 0
        self._is_closed = False

    def start(self) -> None:
        """Start the worker ahead of the first request; returns at once."""
        self._live_worker()

    def request(
        self,
        message: Request[R],
        timeout: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> R | Failure:
        """Send `message` and wait for its reply, at most `timeout` seconds.

        Without a `timeout` each step that the worker says it has come to has the time of the limit: a long program
        on a busy machine goes through many. A step that is reported twice does not get it again.

        May be called from any thread. `progress` is called in the caller's thread. Never raises for what the
        program or the worker does: that is a `Failure`.
        """
        if len(msgspec.msgpack.encode(message)) > REQUEST_BYTES - 1024:
            return Failure("limit", "Too large to read", f"A request has at most {REQUEST_BYTES:,} B.")
        worker = self._live_worker()
        if worker is None:
            return _CLOSED
        worker.wait_ready()
        number = next(self._numbers)
        answers = worker.send(number, cast("AnyRequest", message))
        allowed = self.limits.wall_seconds if timeout is None else timeout
        deadline = time.monotonic() + allowed
        doing = _doing(message)
        steps: set[tuple[str, int]] = set()
        while True:
            try:
                item = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return self._stop(worker, number, answers, f"It took more than {allowed:g} s {doing}.")
            match item:
                case Failure():
                    return _worded(item, doing)
                case Answer(kind="reply", body=body):
                    return msgspec.msgpack.decode(body, type=reply_type(message))
                case Answer(kind="failure", body=body):
                    return msgspec.msgpack.decode(body, type=Failure)
                case Answer(body=body):
                    said = msgspec.msgpack.decode(body, type=Progress)
                    doing = _said(said, progress, doing)
                    step = (said.text, said.done)
                    if timeout is None and step not in steps and len(steps) < _MOST_STEPS:
                        steps.add(step)
                        deadline = time.monotonic() + allowed

    def cancel(self) -> None:
        """Cancel every request that is waiting; each is answered by a `Failure` of kind `cancelled`."""
        worker = self._worker
        if worker is not None:
            for number in worker.pending():
                worker.send(next(self._numbers), Cancel(number))

    def status(self) -> WorkerStatus:
        """Say how the worker is, without asking it."""
        worker = self._worker
        hello = worker.hello if worker is not None else None
        process = worker.process if worker is not None else None
        if worker is None or worker.is_dead or hello is None or process is None:
            return WorkerStatus("Worker: starts with the next request", "", "", self._restart_count)
        used = _resident_bytes(process.pid) // MEGABYTE
        return WorkerStatus(
            f"Worker: {used} MB of {self.limits.memory_text}",
            f"Sandbox: {', '.join(hello.sandbox)}",
            hello.versions,
            self._restart_count,
            process.pid,
        )

    def close(self) -> None:
        """End the worker; a later request is answered by a `Failure`."""
        with self._lock:
            self._is_closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill(_CLOSED)
            worker.join()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live_worker(self) -> _Worker | None:
        """Return the worker, a fresh one if it has ended; None after `close`."""
        with self._lock:
            if self._is_closed:
                return None
            if self._worker is None or self._worker.is_dead:
                self._restart_count += self._worker is not None
                self._worker = _Worker(self.limits)
            return self._worker

    def _stop(self, worker: _Worker, number: int, answers: "queue.SimpleQueue[_Item]", why: str) -> Failure:
        """Ask the worker to stop, and end it if it does not."""
        worker.send(next(self._numbers), Cancel(number))
        deadline = time.monotonic() + _GRACE_SECONDS
        while True:
            try:
                item = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if isinstance(item, Failure):
                return item
            if item.kind != "progress":
                return Failure("limit", "Stopped", f"{why} {_KEPT_TEXT}")
        worker.forget(number)
        failure = Failure("limit", "Worker restarted", f"{why} {_KEPT_TEXT}", is_restarted=True)
        worker.kill(failure)
        worker.join()
        return failure


def _said(progress: Progress, listener: Callable[[Progress], None] | None, doing: str) -> str:
    if listener is not None:
        listener(progress)
    return f"while {progress.text[0].lower()}{progress.text[1:]}" if progress.text else doing


def _worded(failure: Failure, doing: str) -> Failure:
    """Put what was being done into the message of a lost worker."""
    return msgspec.structs.replace(failure, message=failure.message.replace("{doing}", doing))


def _cause_of(status: int, limits: Limits) -> Failure:
    """Say why a worker ended, from its exit status."""
    match status:
        case 71:  # EXIT_MEMORY of the worker, whose module this process does not load
            kind, why = "limit", f"It passed {limits.memory_text} {{doing}}."
        case _ if status == -signal.SIGXCPU:
            kind, why = "limit", f"It used more than {limits.cpu_seconds} s of processor time {{doing}}."
        case _ if status == -signal.SIGKILL:
            kind, why = "crash", "It was ended from outside {doing}."
        case _ if status < 0:
            kind, why = "crash", f"It stopped with {signal.Signals(-status).name} {{doing}}."
        case _:
            kind, why = "crash", f"It ended with status {status} {{doing}}."
    return Failure(kind, "Worker restarted", f"{why} {_KEPT_TEXT}", is_restarted=True)


def _doing(message: object) -> str:
    match message:
        case RunOf(program=program) | StopOf(program=program) | HitsOf(program=program) | Execute(program=program):
            return f"while running `{program.entry or 'main'}`"
        case PipelineOf() | StageOf() | Opt():
            return "while running the passes"
        case Asm():
            return "while compiling"
        case Open():
            return "while reading the text"
        case _:
            return "while preparing the view"


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
