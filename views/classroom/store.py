"""The classes of this server, which all sessions share: immutable values behind a lock, in memory alone.

It cannot live in Streamlit's caches, which any browser can have emptied.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache

from relax_core.lessons.classroom import (
    CODE_LENGTH,
    CODE_LETTERS,
    ClassError,
    Classroom,
    with_class,
    without_ended,
)


class Store:
    """The classes by code. A change is a function of the value before; nothing waits while one is made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._classes: Mapping[str, Classroom] = {}

    def now(self) -> float:
        """Return the time by the clock of the classes."""
        return self._clock()

    def open(self, lesson: str) -> Classroom:
        """Open a class.

        Raises:
            ClassError: the server holds as many as it may.
        """
        now, code = self.now(), "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        opened = Classroom(code, secrets.token_urlsafe(16), now, now, lesson)
        with self._lock:
            self._classes = with_class(self._classes, opened)
        return opened

    def find(self, code: str) -> Classroom | None:
        """Return a class, `None` if there is none of that code or it is over."""
        found = self._classes.get(code)
        return None if found is None or found.is_over(self.now()) else found

    def change(self, code: str, change: Callable[[Classroom], Classroom]) -> Classroom:
        """Put a changed class in the place of the one before.

        Raises:
            ClassError: there is none, or it cannot be changed so.
        """
        with self._lock:
            found = self.find(code)
            if found is None:
                raise ClassError(
                    f"There is no class {code}. A class ends with its teacher, or when that was away for two hours."
                )
            changed = change(found)
            self._classes = {**self._classes, code: changed}
            return changed

    def end(self, code: str) -> None:
        """Forget a class, and those that are over."""
        with self._lock:
            kept = without_ended(self._classes, self.now())
            kept.pop(code, None)
            self._classes = kept


@cache
def store() -> Store:
    """Return the store of this process."""
    return Store()
