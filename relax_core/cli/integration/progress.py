"""How far a request has come, on a line of the terminal that is gone when the answer is there."""

import shutil
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, TextIO, TypeVar

from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.protocol import Failure, Progress, Request

R = TypeVar("R")

_QUIET_SECONDS: Final = 1.0
"""Nothing is said of what takes no longer."""
_APART_SECONDS: Final = 0.2
_ERASE: Final = "\r\x1b[K"


class Line:
    """The last line of a terminal, written again and again from `with` on: a worker may be silent for long."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._latest = Progress("")
        self._is_drawn = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._redraw, name="progress", daemon=True)

    def __enter__(self) -> "Line":
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self.clear()

    def note(self, progress: Progress) -> None:
        """Take note of how far the request has come."""
        self._latest = progress

    def draw(self) -> None:
        """Write what was noted last and how long it takes, if that is long."""
        latest, seconds = self._latest, self._clock() - self._began
        if seconds < _QUIET_SECONDS or not latest.text:
            return
        share = f", {latest.done} of {latest.total}" if latest.total else ""
        words = f"{latest.text}{share} · {seconds:.0f} s"
        self._stream.write(_ERASE + words[: shutil.get_terminal_size().columns - 1])
        self._stream.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Take away what was written."""
        if self._is_drawn:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._is_drawn = False

    def _redraw(self) -> None:
        while not self._over.wait(_APART_SECONDS):
            self.draw()


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
        with Line(sys.stderr) as line:
            return super().request(message, timeout, progress or line.note, ticket)
