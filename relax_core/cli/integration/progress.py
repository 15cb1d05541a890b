"""How far a request has come, on a line of the terminal that is gone when the answer is there."""

import shutil
import sys
import time
from collections.abc import Callable
from typing import Final, TextIO, TypeVar

from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.protocol import Failure, Progress, Request

R = TypeVar("R")

_QUIET_SECONDS: Final = 1.0
"""Nothing is said of what takes no longer."""
_APART_SECONDS: Final = 0.1
_ERASE: Final = "\r\x1b[K"


class Line:
    """The last line of a terminal, which is written again and again."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._written = 0.0

    def show(self, progress: Progress) -> None:
        """Write how far a request has come, unless that is known or too new to be worth saying."""
        now = self._clock()
        if progress.seconds < _QUIET_SECONDS or now - self._written < _APART_SECONDS:
            return
        share = f", {progress.done} of {progress.total}" if progress.total else ""
        words = f"{progress.text}{share} · {progress.seconds:.0f} s"
        self._stream.write(_ERASE + words[: shutil.get_terminal_size().columns - 1])
        self._stream.flush()
        self._written = now

    def clear(self) -> None:
        """Take away what was written."""
        if self._written:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._written = 0.0


class TerminalClient(Client):
    """A client that says on the terminal how far its requests have come."""

    def request(
        self,
        message: Request[R],
        timeout: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        ticket: Ticket | None = None,
    ) -> R | Failure:
        """Send a message and wait for its reply; see `Client.request`."""
        line = Line(sys.stderr)
        try:
            return super().request(message, timeout, progress or line.show, ticket)
        finally:
            line.clear()
