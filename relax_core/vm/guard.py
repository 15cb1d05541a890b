"""Stop the kernel of a run that is over: while kernels run, nobody else looks at the clock."""

import threading
import time
from collections.abc import Callable
from typing import Final

_LOOK_SECONDS: Final = 0.02
_IDLE_LOOKS: Final = 25


class Guard:
    """Looks from a thread of its own whether a run is over, and cancels its kernel, again and again: between two
    kernels a cancellation would be lost. The thread waits for another run for a while before it ends. A run that is
    over unsets `is_watching`. Who has kernels sets `is_needed`.
    """

    def __init__(self, is_over: Callable[[], bool], cancel: Callable[[], None]) -> None:
        self._is_over = is_over
        self._cancel = cancel
        self._lock = threading.Lock()
        self.is_watching = False
        self.is_needed = False
        self.has_thread = False

    def watch(self) -> None:
        """A run has begun."""
        # The thread says that it ends before it looks here for the last time: one of the two sees the other.
        self.is_watching = True
        if self.is_needed and not self.has_thread and self._begins():
            threading.Thread(target=self._look, name="kernel guard", daemon=True).start()

    def _look(self) -> None:
        idle_count = 0
        while True:
            time.sleep(_LOOK_SECONDS)
            idle_count = 0 if self.is_watching else idle_count + 1
            if self.is_watching and self._is_over():
                self._cancel()
            if idle_count > _IDLE_LOOKS and self._ends():
                return

    def _begins(self) -> bool:
        """Tell whether there is no thread but the one that the caller will be or start."""
        with self._lock:
            had_thread, self.has_thread = self.has_thread, True
            return not had_thread

    def _ends(self) -> bool:
        self.has_thread = False
        return not (self.is_watching and self._begins())
