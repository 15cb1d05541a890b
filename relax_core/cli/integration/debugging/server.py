"""The command `dap`: a debug adapter on standard input and output."""

import argparse
import contextlib
import queue
import sys
import threading
import traceback
from typing import BinaryIO, Final

import msgspec

from relax_core.cli.integration.debugging.adapter import HANDLERS, Adapter
from relax_core.cli.integration.debugging.asking import Asking, RequestError
from relax_core.cli.integration.debugging.messages import CancelArguments, ErrorBody, ErrorMessage
from relax_core.cli.integration.debugging.wire import Event, Request, Response, WireError, frame, read_frame
from relax_core.cli.terminal import BAD_USAGE, Engine, complain
from relax_core.engine.process.client import Ticket

_ENDS: Final = ("disconnect", "terminate")
_AT_ONCE: Final = ("progressStart", "progressUpdate", "progressEnd")
"""The events that are sent before the answer to the request that is carried out; what else happens follows it."""


class Server:
    """Reads requests in one thread and carries them out in another one, so that one can be cancelled."""

    def __init__(self, engine: Engine, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._lock = threading.Lock()
        self._sent = 0
        self._later: list[tuple[str, msgspec.Struct | None]] = []
        self._asking = Asking(engine, self._emit)
        self._adapter = Adapter(self._asking, self._emit)
        self._waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._tickets: dict[int, Ticket] = {}
        """Of requests that are not answered yet, by number."""

    def run(self) -> None:
        """Serve until the editor ends the session or closes the stream.

        Raises:
            WireError: what comes is not the protocol.
        """
        thread = threading.Thread(target=self._carry_out, name="adapter", daemon=True)
        thread.start()
        try:
            while (content := read_frame(self._source)) is not None:
                request = _read(content)
                if request.command == "cancel":
                    self._cancel(request)
                    continue
                if request.command in _ENDS:
                    self._cancel_all()
                with self._lock:
                    self._tickets[request.seq] = Ticket()
                self._waiting.put(request)
                if request.command == "disconnect":
                    break
            else:
                self._cancel_all()
        finally:
            self._waiting.put(None)
            thread.join()

    def _carry_out(self) -> None:
        while (request := self._waiting.get()) is not None:
            with self._lock:
                ticket = self._tickets[request.seq]
            try:
                body = self._answer(request, ticket)
            except RequestError as error:
                self._later.clear()
                self._refuse(request, error)
            else:
                self._respond(request, body)
            with self._lock:
                del self._tickets[request.seq]
            for name, body in self._later:
                self._send_event(name, body)
            self._later.clear()

    def _answer(self, request: Request, ticket: Ticket) -> msgspec.Struct | None:
        handler = HANDLERS.get(request.command)
        if handler is None:
            raise RequestError(f"`{request.command}` is not supported")
        if ticket.is_cancelled:
            raise RequestError("stopped as asked", is_cancelled=True)
        given = b"{}" if bytes(request.arguments) == b"null" else request.arguments
        try:
            arguments = msgspec.json.decode(given, type=handler.arguments)
        except msgspec.DecodeError as error:
            raise RequestError(f"the arguments of `{request.command}` are not understood: {error}") from None
        self._asking.begin(request.seq, ticket)
        try:
            return handler.run(self._adapter, arguments)
        except RequestError:
            raise
        except Exception as error:  # the request boundary: our mistake must not end the editor's session
            traceback.print_exc()
            raise RequestError(f"Mistake in RelaxScope: {type(error).__name__}: {error}") from error

    def _cancel(self, request: Request) -> None:
        try:
            asked = msgspec.json.decode(request.arguments, type=CancelArguments)
        except msgspec.DecodeError as error:
            self._refuse(request, RequestError(f"the arguments of `cancel` are not understood: {error}"))
            return
        number = int(asked.progress_id) if asked.progress_id.isdecimal() else asked.request_id
        with self._lock:
            ticket = self._tickets.get(number)
        if ticket is not None:
            ticket.is_cancelled = True
            self._asking.cancel(ticket)
        # What is answered already cannot be cancelled, which is no error.
        self._respond(request, None)

    def _cancel_all(self) -> None:
        with self._lock:
            tickets = tuple(self._tickets.values())
        for ticket in tickets:
            ticket.is_cancelled = True
            self._asking.cancel(ticket)

    def _emit(self, name: str, body: msgspec.Struct | None) -> None:
        if name in _AT_ONCE:
            self._send_event(name, body)
        else:
            self._later.append((name, body))

    def _respond(self, request: Request, body: msgspec.Struct | None) -> None:
        with self._lock:
            self._send(
                Response(self._next(), "response", request.seq, success=True, command=request.command, body=body)
            )

    def _refuse(self, request: Request, error: RequestError) -> None:
        shown = ErrorMessage(error.number, error.words, show_user=not error.is_quiet)
        message = "cancelled" if error.is_cancelled else error.words
        with self._lock:
            self._send(
                Response(
                    self._next(),
                    "response",
                    request.seq,
                    success=False,
                    command=request.command,
                    message=message,
                    body=ErrorBody(shown),
                )
            )

    def _send_event(self, name: str, body: msgspec.Struct | None) -> None:
        with self._lock:
            self._send(Event(self._next(), "event", name, body))

    def _next(self) -> int:
        self._sent += 1
        return self._sent

    def _send(self, message: Response | Event) -> None:
        # An editor that has gone closes the stream of requests as well, which ends the session.
        with contextlib.suppress(OSError):
            self._target.write(frame(message))
            self._target.flush()


def _read(content: bytes) -> Request:
    try:
        return msgspec.json.decode(content, type=Request)
    except msgspec.DecodeError as error:
        raise WireError(f"a message is no request of the protocol: {error}") from None


def serve(engine: Engine, _options: argparse.Namespace) -> int:
    """Serve one editor until it ends the session."""
    try:
        Server(engine, sys.stdin.buffer, sys.stdout.buffer).run()
    except WireError as error:
        complain(f"error: {error}")
        return BAD_USAGE
    return 0
