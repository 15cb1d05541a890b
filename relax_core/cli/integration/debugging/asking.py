"""The adapter's questions to the engine: each is answered, or the request that needed the answer has failed."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from relax_core.cli.integration.debugging.messages import ProgressEnd, ProgressStart, ProgressUpdate
from relax_core.cli.terminal import Engine
from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.protocol import Failure, Progress, Request

R = TypeVar("R")

Emit = Callable[[str, msgspec.Struct | None], None]
"""Sends an event."""
_LETTERS, _NUMBERS = 26, 1000


class RequestError(Exception):
    """Why a request of the editor fails: in the words of a diagnostic, with its code if it has one."""

    def __init__(self, words: str, code: str = "", *, is_cancelled: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.code = code
        self.is_cancelled = is_cancelled
        self.is_quiet = is_cancelled

    @property
    def number(self) -> int:
        """A number for the code, as the protocol wants one: `VM030` and `TY012` have different ones."""
        if not self.code:
            return 1
        first, second = (ord(letter) - ord("A") for letter in self.code[:2])
        return (first * _LETTERS + second) * _NUMBERS + int(self.code[2:])


def failed(failure: Failure) -> RequestError:
    """Return what an answer that is none means for the editor."""
    code = failure.problems[0].code if failure.problems else ""
    words = failure.rendered or f"{failure.title}. {failure.message}".strip()
    return RequestError(words, code, is_cancelled=failure.kind == "cancelled")


def answered(found: R | Failure) -> R:
    """Return an answer.

    Raises:
        RequestError: it is none.
    """
    if isinstance(found, Failure):
        raise failed(found)
    return found


class Asking:
    """Asks the engine for one request of the editor after the other; another thread may cancel the latest."""

    def __init__(self, engine: Engine, emit: Emit) -> None:
        self._engine = engine
        self._emit = emit
        self._number = 0
        self._ticket = Ticket()
        self.reports_progress = False

    def begin(self, number: int, ticket: Ticket) -> None:
        """Begin with what the editor's request of that number needs."""
        self._number, self._ticket = number, ticket

    def cancel(self, ticket: Ticket) -> None:
        """Stop the question that is asked with a ticket, now or later."""
        if isinstance(self._engine, Client):
            self._engine.cancel(ticket)

    def ask(self, message: Request[R]) -> R:
        """Return the answer.

        Raises:
            RequestError: there is none.
        """
        return answered(self._answer(message, lambda _: None))

    def ask_long(self, message: Request[R], title: str) -> R:
        """Return the answer, of which the editor shows how far it has come.

        Raises:
            RequestError: there is none.
        """
        return answered(self._answer_long(message, title))

    def request(self, message: Request[R]) -> R | Failure:
        """Return the answer, or why there is none; the run may have to be recorded for it."""
        return self._answer_long(message, "Recording the run")

    def _answer_long(self, message: Request[R], title: str) -> R | Failure:
        if not self.reports_progress:
            return self._answer(message, lambda _: None)
        name = str(self._number)

        def note(progress: Progress) -> None:
            share = 100 * progress.done / progress.total if progress.total else None
            self._emit("progressUpdate", ProgressUpdate(name, progress.text, share))

        self._emit("progressStart", ProgressStart(name, title, self._number, cancellable=True))
        try:
            return self._answer(message, note)
        finally:
            self._emit("progressEnd", ProgressEnd(name))

    def _answer(self, message: Request[R], note: Callable[[Progress], None]) -> R | Failure:
        if isinstance(self._engine, Client):
            return self._engine.request(message, progress=note, ticket=self._ticket)
        return self._engine.request(message)
