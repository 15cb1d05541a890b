"""The worker process: `python -m relax_core.engine.process.worker FD LIMITS COMPILER_FD` answers requests on socket FD.

With one socket alone, it is told these by the first message there, once it is loaded.

The main thread reads frames, so that a `Cancel` and the end of the client are seen at once; requests run one
after the other in a second thread.
"""

import gc
import os
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn

import msgspec

from relax_core import late
from relax_core.engine.debug.requests import BisectOf, BisectRecordedOf, RunFormsOf
from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES, Limits, allow_cpu_seconds, apply_limits, used_share
from relax_core.engine.process import starting
from relax_core.engine.process.allowance import allowance
from relax_core.engine.process.frames import read_frame, write_frame
from relax_core.engine.process.sandbox import die_with_parent, filter_calls, leave_network
from relax_core.engine.process.sendable import NotSendableError, encode, not_sent, plain
from relax_core.engine.process.worker_causes import EXIT_MEMORY, EXIT_NOT_LOADED
from relax_core.engine.protocol import (
    VERSION,
    AnyRequest,
    Cancel,
    Envelope,
    Failure,
    Hello,
    Progress,
)
from relax_core.engine.reporting.versions import versions
from relax_core.engine.session import Session
from relax_core.frontend.collector import collector_held
from relax_core.ops.packed.registry import DECLARED
from relax_core.vm.external import torch_operators

_STACK_BYTES = 64 * MEGABYTE
_TOLD_BYTES, _TOLD_DESCRIPTORS = 4096, 3
_QUIET_SECONDS, _SPARE_SHARE = 0.25, 0.4
"""Nothing is made ahead while requests follow each other, nor by a worker that fills more than a part of its memory."""
_DONE = object()
_OF_MANY_FORMS = (BisectOf, BisectRecordedOf, RunFormsOf)
"""Requests that read many modules: what is left of them is walked by the collector behind the reply, not before it."""


class Waiting:
    """The requests that wait; while there is none, what the next one is likely to need is made, in parts.

    There is to be room in memory for each part.
    """

    def __init__(self, has_room: Callable[[], bool]) -> None:
        self._requests: queue.SimpleQueue[Envelope] = queue.SimpleQueue()
        self._parts: Iterator[None] = iter(())
        self._has_room = has_room

    def put(self, request: Envelope) -> None:
        """Add a request; any thread may."""
        self._requests.put(request)

    def prepare(self, parts: Iterator[None]) -> None:
        """Make these parts while nothing waits, in place of what is left of earlier ones."""
        self._parts = parts

    def take(self) -> Envelope:
        """Return the next request, once it is there."""
        seconds = _QUIET_SECONDS
        while self._has_room():
            try:
                return self._requests.get(timeout=seconds)
            except queue.Empty:
                seconds = 0.0
            if next(self._parts, _DONE) is _DONE:
                break
        return self._requests.get()


class Worker:
    """Answers the requests of one client in order."""

    def __init__(self, channel: socket.socket, limits: Limits, compile_descriptor: int) -> None:
        self._channel = channel
        self._limits = limits
        self._session = Session(compile_descriptor=compile_descriptor, loaded=self._say_loaded)
        self._hello = Hello((), "")
        self._share = 0.0
        self._waiting = Waiting(lambda: used_share(limits) < _SPARE_SHARE)
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._running = 0
        self._queued: set[int] = set()
        self._cancelled: set[int] = set()

    def serve(self, hello: Hello) -> None:
        """Answer until the client closes its end."""
        threading.stack_size(_STACK_BYTES)
        threading.Thread(target=self._answer_all, daemon=True).start()
        threading.stack_size(0)
        # Measured after the thread has started: its stack belongs to what a fresh worker uses.
        self._share = used_share(self._limits)
        self._say_hello(msgspec.structs.replace(hello, share=self._share))
        while (frame := read_frame(self._channel, REQUEST_BYTES)) is not None:
            try:
                envelope = msgspec.msgpack.decode(frame, type=Envelope)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                self._send(_number(frame), "failure", Failure("internal", "Message not understood", str(error)))
                continue
            match envelope.body:
                case Cancel(target=target):
                    self._cancel(target)
                case _:
                    with self._state:
                        self._queued.add(envelope.id)
                    self._waiting.put(envelope)

    def _say_loaded(self) -> None:
        """Say how much a worker takes that has loaded what goes beyond the text, and has worked on nothing."""
        torch_operators.enable()
        loaded = used_share(self._limits) - self._share
        self._say_hello(msgspec.structs.replace(self._hello, share=self._hello.share + loaded))

    def _say_hello(self, hello: Hello) -> None:
        self._hello = hello
        self._send(0, "hello", hello)

    def _cancel(self, target: int) -> None:
        with self._state:
            if self._running == target:
                self._session.cancel()
            elif target in self._queued and target not in self._cancelled:
                # Answered at once: what runs is another request, which nobody cancelled.
                self._cancelled.add(target)
                self._send(target, "failure", CANCELLED)

    def _answer_all(self) -> None:
        try:
            while True:
                self._answer_next(self._waiting.take())
        except late.NotLoadedError as error:
            os.write(2, str(error).encode())
            os._exit(EXIT_NOT_LOADED)
        except MemoryError:
            # The address space is exhausted: exit without allocating anything.
            os._exit(EXIT_MEMORY)
        except BaseException:  # nobody would answer what waits: the client does, when this process has ended
            traceback.print_exc()
            os._exit(1)

    def _answer_next(self, envelope: Envelope) -> None:
        assert not isinstance(envelope.body, Cancel)
        if not self._begin(envelope.id):
            return
        if envelope.version != VERSION:
            words = f"The worker speaks version {VERSION}, the message is of version {envelope.version}."
            self._send(envelope.id, "failure", Failure("internal", "Versions differ", words))
        elif isinstance(envelope.body, _OF_MANY_FORMS):
            with collector_held():
                self._answer(envelope.id, envelope.body)
                if not isinstance(envelope.body, RunFormsOf) and envelope.body.until:
                    # What is kept for the rest of a bisection lives until that is asked for, and a collection would
                    # walk it in vain. The worker is that of a command, and ends with it.
                    gc.freeze()
        else:
            self._answer(envelope.id, envelope.body)
        self._waiting.prepare(self._session.preparation(envelope.body))
        with self._state:
            self._running = 0

    def _begin(self, request: int) -> bool:
        """Claim a request for answering; false if it was cancelled while it waited."""
        with self._state:
            self._queued.discard(request)
            if request in self._cancelled:
                self._cancelled.discard(request)
                return False
            self._session.reset_cancel()
            self._running = request
            return True

    def _answer(self, request: int, body: AnyRequest) -> None:
        allow_cpu_seconds(allowance(body, self._limits).cpu_seconds)
        reply = self._session.answer(body, lambda progress: self._report(request, progress))
        try:
            encoded = encode(reply)
        except NotSendableError as error:
            failure = plain(reply) if isinstance(reply, Failure) else not_sent(f"the reply cannot be sent: {error}")
            self._send(request, "failure", failure)
            return
        if len(encoded) > self._limits.output_bytes:
            title = "Too large to show"
            words = f"The reply has {len(encoded):,} B, and the limit is {self._limits.output_bytes:,} B."
            self._send(request, "failure", Failure("limit", title, words))
        elif isinstance(reply, Failure):
            self._send(request, "failure", reply)
        else:
            self._send_encoded(request, "reply", encoded)

    def _report(self, request: int, progress: Progress) -> None:
        self._send(request, "progress", progress)

    def _send(self, request: int, kind: str, body: object) -> None:
        self._send_encoded(request, kind, msgspec.msgpack.encode(body))

    def _send_encoded(self, request: int, kind: str, encoded: bytes) -> None:
        share = self._share = used_share(self._limits)
        answer = {"id": request, "kind": kind, "body": msgspec.Raw(encoded), "version": VERSION, "share": share}
        with self._sending:
            try:
                write_frame(self._channel, msgspec.msgpack.encode(answer))
            except OSError:
                os._exit(0)


CANCELLED = Failure("cancelled", "Cancelled", "Stopped as asked.")


def tune_collector() -> None:
    """Make the garbage collector run rarely, and exempt what is imported.

    IR nodes are many, long-lived and acyclic. With the default thresholds a pipeline on a long program spends a fifth
    of its time in collections that find nothing. Full collections still happen, once in some millions of allocations,
    because recordings of dropped programs may be in cycles.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def _number(frame: bytes) -> int:
    """Return the id of a request that does not decode, 0 if not even that can be read."""
    try:
        return msgspec.msgpack.decode(frame, type=_Numbered).id
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0


class _Numbered(msgspec.Struct, frozen=True):
    id: int


def main(arguments: list[str]) -> None:
    """Work as the arguments say: socket, limits and compiler, or the socket on which they come."""
    if len(arguments) == 1:
        _work_as_told(socket.socket(fileno=int(arguments[0])))
    work(int(arguments[0]), msgspec.json.decode(arguments[1], type=Limits), int(arguments[2]))


def _work_as_told(control: socket.socket) -> NoReturn:
    """Work with the limits and the descriptors of the first message; exit if there is none."""
    with control:
        limits, descriptors, _, _ = socket.recv_fds(control, _TOLD_BYTES, _TOLD_DESCRIPTORS)
        if not limits:
            os._exit(0)
        control.send(b"1")
    channel, compiler, errors = descriptors
    os.dup2(errors, 2)
    os.close(errors)
    work(channel, msgspec.json.decode(limits, type=Limits), compiler)


def work(descriptor: int, limits: Limits, compile_descriptor: int) -> NoReturn:
    """Confine this process, serve the socket `descriptor` to its end, and exit."""
    has_own_network = leave_network()
    die_with_parent()
    worker = Worker(socket.socket(fileno=descriptor), limits, compile_descriptor)
    DECLARED.add_source(lambda name: torch_operators.declaration(name))
    # No file can be written from here on, so that later imports must not try to write bytecode.
    late.load_uncompiled()
    sys.dont_write_bytecode = True
    apply_limits(limits)
    tune_collector()
    starting.end()
    parts = ["process", "rlimits"]
    if filter_calls():
        parts.append("seccomp")
    parts.append("no network" if has_own_network else "network not cut off")
    try:
        worker.serve(Hello(tuple(parts), versions()))
    except MemoryError:
        os._exit(EXIT_MEMORY)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
