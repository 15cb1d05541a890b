"""The worker process: `python -m relax_core.engine.worker FD LIMITS COMPILER_FD` answers requests on socket FD.

The main thread reads frames, so that a `Cancel` and the end of the client are seen at once; requests run one
after the other in a second thread.
"""

import gc
import os
import platform
import queue
import socket
import sys
import threading
from importlib.metadata import version

import msgspec

from relax_core.engine.frames import read_frame, write_frame
from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES, Limits, allow_cpu_seconds, apply_limits
from relax_core.engine.protocol import (
    VERSION,
    AnyRequest,
    Cancel,
    Envelope,
    Failure,
    Hello,
    Progress,
)
from relax_core.engine.sandbox import die_with_parent, filter_calls, leave_network
from relax_core.engine.session import Session
from relax_core.jit.compilation.compiler import Compiler, served_compiler
from relax_core.vm import torch_operators

EXIT_MEMORY = 71
"""Exit status of a worker that ran out of memory: its state is not trusted any more."""
_STACK_BYTES = 64 * MEGABYTE


class Worker:
    """Answers the requests of one client in order."""

    def __init__(self, channel: socket.socket, limits: Limits, compiler: Compiler) -> None:
        self._channel = channel
        self._limits = limits
        self._session = Session(compiler=compiler)
        self._waiting: queue.SimpleQueue[Envelope] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._running = 0
        self._cancelled: set[int] = set()

    def serve(self, hello: Hello) -> None:
        """Answer until the client closes its end."""
        threading.stack_size(_STACK_BYTES)
        threading.Thread(target=self._answer_all, daemon=True).start()
        threading.stack_size(0)
        self._send(0, "hello", hello)
        while (frame := read_frame(self._channel, REQUEST_BYTES)) is not None:
            try:
                envelope = msgspec.msgpack.decode(frame, type=Envelope)
            except msgspec.MsgspecError as error:
                self._send(0, "failure", Failure("internal", "Message not understood", str(error)))
                continue
            match envelope.body:
                case Cancel(target=target):
                    self._cancel(target)
                case _:
                    self._waiting.put(envelope)

    def _cancel(self, target: int) -> None:
        with self._state:
            self._cancelled.add(target)
            if self._running == target:
                self._session.cancel()

    def _answer_all(self) -> None:
        while True:
            envelope = self._waiting.get()
            assert not isinstance(envelope.body, Cancel)
            if envelope.version != VERSION:
                words = f"The worker speaks version {VERSION}, the message is of version {envelope.version}."
                self._send(envelope.id, "failure", Failure("internal", "Versions differ", words))
            elif self._begin(envelope.id):
                self._answer(envelope.id, envelope.body)

    def _begin(self, request: int) -> bool:
        with self._state:
            self._session.reset_cancel()
            self._running = request
            is_cancelled = request in self._cancelled
            self._cancelled = {target for target in self._cancelled if target > request}
        if is_cancelled:
            self._send(request, "failure", CANCELLED)
        return not is_cancelled

    def _answer(self, request: int, body: AnyRequest) -> None:
        allow_cpu_seconds(self._limits.cpu_seconds)
        try:
            reply = self._session.answer(body, lambda progress: self._report(request, progress))
            encoded = msgspec.msgpack.encode(reply)
        except MemoryError:
            # The address space is used up: nothing more is allocated than the process needs to end.
            os._exit(EXIT_MEMORY)
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
        answer = {"id": request, "kind": kind, "body": msgspec.Raw(encoded), "version": VERSION}
        with self._sending:
            try:
                write_frame(self._channel, msgspec.msgpack.encode(answer))
            except OSError:
                os._exit(0)


CANCELLED = Failure("cancelled", "Cancelled", "Stopped as asked.")


def tune_collector() -> None:
    """Let the garbage collector run seldom, and leave what is imported alone.

    Nodes are many, live long and form no cycles, so by default a pipeline on a long program spends a fifth of its
    time in searches for cycles that find nothing. A whole search is still made once in some millions of objects,
    since recordings of dropped programs may hang in cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def versions() -> str:
    """Name the versions that a bug report needs."""
    libraries = f"llvmlite {version('llvmlite')} · NumPy {version('numpy')}"
    return f"RelaxScope 0.1 · {libraries} · Python {platform.python_version()}"


def main(arguments: list[str]) -> None:
    """Confine this process and serve the socket whose number is the first argument."""
    has_own_network = leave_network()
    channel = socket.socket(fileno=int(arguments[0]))
    limits = msgspec.json.decode(arguments[1], type=Limits)
    die_with_parent()
    worker = Worker(channel, limits, served_compiler(int(arguments[2])))
    torch_operators.enable()
    # From here on no file can be written; what is imported later must not try.
    sys.dont_write_bytecode = True
    apply_limits(limits)
    tune_collector()
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
