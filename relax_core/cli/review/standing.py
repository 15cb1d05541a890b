"""How far a run over many modules has come, on the last line of the terminal."""

import sys
import time
from typing import Final

_APART_SECONDS: Final = 0.2
_ERASE: Final = "\r\x1b[K"


class Standing:
    """Says on standard error how many jobs are done, if that is a terminal; use it with `with`."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]  # it may have been closed
        self._began = self._latest = time.monotonic()

    def __enter__(self) -> "Standing":
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")

    def tell(self, done: int, count: int, bad: int) -> None:
        """Take note that so many of `count` jobs are done, of which `bad` did not pass."""
        now = time.monotonic()
        if now - self._latest < _APART_SECONDS:
            return
        self._latest = now
        rate = done / (now - self._began)
        left = f", {(count - done) / rate:.0f} s left" if rate else ""
        self._write(f"{done:,} of {count:,} done, {bad:,} did not pass · {rate:.3g} a second{left}")

    def _write(self, words: str) -> None:
        if self._is_shown:
            sys.stderr.write(_ERASE + words)
            sys.stderr.flush()
