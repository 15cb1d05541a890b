"""A worker as its client sees it: started, written to, read from and killed.

Everything that is sent gets an answer. If the process cannot be started, dies, or sends something undecodable, all
pending requests are answered with the reason.
"""

import contextlib
import os
import queue
import socket
import subprocess
import threading
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from relax_core.engine.limits import MEGABYTE, Limits, within_inherited
from relax_core.engine.process.compile_service import CompileService
from relax_core.engine.process.frames import FrameTooLargeError, read_frame, write_frame
from relax_core.engine.process.launch import Launcher, Process, WorkerEnds
from relax_core.engine.process.worker_causes import KEPT_TEXT, RESTARTED, cause_of, not_started
from relax_core.engine.protocol import Answer, Cancel, Envelope, Failure, Hello

_REAP_SECONDS: Final = 1.0
_STDERR_BYTES: Final = 1 << 16
_FULL_SHARE: Final = 1 / 16
"""Above this growth of its share of a limit the worker itself may be why a request failed, not the request."""
_NOBODY: Final = 0
_FIRST: Final = -1

CANCELLED: Final = Failure("cancelled", "Cancelled", "Stopped as asked.")


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """The request was cancelled, and the worker has been told."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The worker is gone; a request that did not cause it may be sent to another one."""

    failure: Failure
    may_retry: bool


Item: TypeAlias = Answer | Ended | CancelAsked
Answers: TypeAlias = "queue.SimpleQueue[Item]"


class WorkerProcess:
    """A process, the thread that starts and reads it, and the thread that writes to it.

    Starting and reading share a thread, because the kernel delivers PDEATHSIG when the *thread* that forked the process
    ends. Writing has its own, so that a process that does not read blocks nobody.
    """

    def __init__(self, limits: Limits, launcher: Launcher) -> None:
        self.limits = within_inherited(limits)
        self.hello: Hello | None = None
        self.process: Process | None = None
        self._launcher = launcher
        self.share = 0.0
        self._channel: socket.socket | None = None
        self._compile_service: CompileService | None = None
        self._descriptors: tuple[int, ...] = ()
        self._pending: dict[int, Answers] = {}
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_ending = False
        self._end: Failure | None = None
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._settle(not_started(str(error), self.limits))

    @property
    def is_dead(self) -> bool:
        """Tell whether the process has ended or closed its socket, even if the reading thread has not seen it yet."""
        return (
            self._is_ending or self._end is not None or (self.process is not None and self.process.poll() is not None)
        )

    @property
    def is_full(self) -> bool:
        """Tell whether the requests it answered left it with clearly more memory than when it was fresh."""
        return self.hello is not None and self.share - self.hello.share > _FULL_SHARE

    @property
    def is_idle(self) -> bool:
        """Tell whether no request is pending."""
        return not self._pending

    def send(self, number: int, frame: bytes) -> Answers:
        """Send a request under a number larger than all before; what comes of it arrives in the queue."""
        answers: Answers = queue.SimpleQueue()
        with self._lock:
            if self._end is not None:
                answers.put(Ended(self._end, may_retry=False))
            else:
                self._pending[number] = answers
                self._outbox.put(frame)
        return answers

    def cancel(self, number: int) -> None:
        """Ask the worker to stop working on a request."""
        self._outbox.put(msgspec.msgpack.encode(Envelope(number, Cancel(number))))

    def stop(self, number: int | None = None) -> None:
        """Cancel one request, or all, if they wait: a process that is only starting need not be asked."""
        with self._lock:
            stopped = self._pending if number is None else self._pending.keys() & {number}
            for waiting in tuple(stopped):
                self.cancel(waiting)
                if self.hello is not None:
                    self._pending[waiting].put(CancelAsked())
                else:
                    self._pending.pop(waiting).put(Ended(CANCELLED, may_retry=False))

    def forget(self, number: int) -> None:
        """Drop a request that nobody waits for any more, and ask the worker to stop it."""
        with self._lock:
            is_waiting = self._pending.pop(number, None) is not None
        if is_waiting:
            self.cancel(number)

    def kill(self, failure: Failure, blamed: int | None = None) -> None:
        """Kill the process. `failure` answers what is pending.

        Requests other than `blamed`, if given, may be retried.
        """
        self._settle(failure, blamed)
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        self._hang_up()

    def retire(self) -> None:
        """Let an idle process exit."""
        self._settle(Failure("crash", RESTARTED, KEPT_TEXT, is_restarted=True), _NOBODY)
        self._hang_up()

    def join(self, *, hands_over: bool) -> None:
        """Wait until the process is reaped; with `hands_over` also until its compile process has taken over."""
        if self._thread.ident is not None:
            self._thread.join(_REAP_SECONDS * 5)
        if hands_over and self._compile_service is not None:
            self._compile_service.hand_over()

    def _settle(self, failure: Failure, blamed: int | None = None) -> None:
        """Answer all pending and later requests with `failure`; requests but `blamed`, if given, may be retried."""
        with self._lock:
            if self._end is None:
                self._end = failure
            pending, self._pending = self._pending, {}
            self._outbox.put(None)
        blamed = min(pending, default=0) if blamed == _FIRST else blamed
        for number, answers in pending.items():
            answers.put(Ended(failure, may_retry=blamed not in (None, number)))

    def _hang_up(self) -> None:
        if self._channel is not None:
            with contextlib.suppress(OSError):
                self._channel.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        end: Failure | None = None
        try:
            self._start()
            if self._end is None:
                self._read_all()
        except FrameTooLargeError as error:
            end = Failure("limit", "Too large to show", f"The worker sent {error}. {KEPT_TEXT}", is_restarted=True)
        except msgspec.MsgspecError as error:
            end = Failure("crash", RESTARTED, f"It sent what is no answer: {error}. {KEPT_TEXT}", is_restarted=True)
        except (OSError, RuntimeError, MemoryError) as error:
            end = not_started(str(error) or type(error).__name__, self.limits)
        finally:
            self._finish(end)

    def _finish(self, end: Failure | None) -> None:
        """Reap the process and answer what is pending, with `end` or with the cause of its death."""
        # While this thread reaps the process, `poll` cannot tell that it has ended.
        self._is_ending = True
        status = self._reap(is_killed=end is not None or self._end is not None)
        if end is None:
            end = cause_of(status, self._last_words(), self.limits, is_ready=self.hello is not None)
        # Requests run in order, so that the first pending one is to blame, unless the worker was full before it began.
        self._settle(end, _NOBODY if self.is_full else _FIRST)
        self._hang_up()
        for descriptor in self._descriptors:
            os.close(descriptor)
        if self._channel is not None:
            self._channel.close()

    def _last_words(self) -> str:
        """Return what an ended process wrote to its standard error."""
        words = b""
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                words += os.read(descriptor, _STDERR_BYTES)
        return words.decode(errors="replace")

    def _reap(self, *, is_killed: bool) -> int:
        if self.process is None:
            return 0
        if is_killed:
            # To wait with a timeout is to look again and again.
            self.process.kill()
            return self.process.wait()
        try:
            # At its end a process closes the socket before its status is known.
            return self.process.wait(_REAP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def _start(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            reading, writing = os.pipe()
            self._descriptors = (reading,)
            try:
                # Its last words may be the reason for its end. Nobody reads until then, so that what does not fit is
                # dropped.
                os.set_blocking(writing, False)
                self._compile_service = CompileService(self._launcher)
                ends = WorkerEnds(theirs.fileno(), self._compile_service.descriptor, writing)
                try:
                    self.process = self._launcher.worker(self.limits, ends)
                finally:
                    self._compile_service.detach()
            finally:
                os.close(writing)
        threading.Thread(target=self._write_all, name="requests of worker", daemon=True).start()

    def _write_all(self) -> None:
        assert self._channel is not None
        # If the worker is gone, the reading thread notices too and answers what is pending.
        with contextlib.suppress(OSError):
            while (frame := self._outbox.get()) is not None:
                write_frame(self._channel, frame)

    def _read_all(self) -> None:
        assert self._channel is not None
        limit = self.limits.output_bytes + MEGABYTE
        while (frame := read_frame(self._channel, limit)) is not None:
            answer = msgspec.msgpack.decode(frame, type=Answer)
            if answer.kind == "hello":
                self.hello = msgspec.msgpack.decode(answer.body, type=Hello)
                self.share = max(self.share, self.hello.share)
                continue
            is_last = answer.kind != "progress"
            with self._lock:
                answers = self._pending.pop(answer.id, None) if is_last else self._pending.get(answer.id)
                self.share = answer.share if is_last else self.share
            if answers is not None:
                answers.put(answer)
