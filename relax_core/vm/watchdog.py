"""Stop the kernel of a run whose time is up or that was cancelled: while a kernel runs, no Python code checks."""

import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_SECONDS: Final = 0.02
_IDLE_POLLS: Final = 25


class Watchdog:
    """Poll from a thread whether a run is over, and cancel its kernel.

    It cancels at every poll, because a cancellation that arrives between two kernels has no effect. The thread
    outlives a run by half a second, so that short runs do not each start one. The machine sets `is_watching` for the
    time of a run; whoever calls kernels sets `is_needed` first, since a run without kernels needs no thread.
    """

    def __init__(self, is_over: Callable[[], bool], cancel: Callable[[], None]) -> None:
        self._is_over = is_over
        self._cancel = cancel
        self._lock = threading.Lock()
        self.is_watching = False
        self.is_needed = False
        self.has_thread = False

    def watch(self) -> None:
        """Note that a run has begun, and start the thread unless it runs."""
        # The thread clears `has_thread` before it reads `is_watching` for the last time, and this sets `is_watching`
        # before it reads `has_thread`: whichever comes second sees the other.
        self.is_watching = True
        if self.is_needed and not self.has_thread and self._begins():
            threading.Thread(target=self._poll, name="kernel watchdog", daemon=True).start()

    def _poll(self) -> None:
        idle_count = 0
        while True:
            time.sleep(_POLL_SECONDS)
            idle_count = 0 if self.is_watching else idle_count + 1
            if self.is_watching and self._is_over():
                self._cancel()
            if idle_count > _IDLE_POLLS and self._ends():
                return

    def _begins(self) -> bool:
        """Claim to be the only thread; false if there is one already."""
        with self._lock:
            had_thread, self.has_thread = self.has_thread, True
            return not had_thread

    def _ends(self) -> bool:
        """Give up the claim; false if a run began meanwhile and this thread won it back."""
        self.has_thread = False
        return not (self.is_watching and self._begins())
