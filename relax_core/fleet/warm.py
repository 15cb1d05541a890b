"""Clients that a process of a cluster keeps between batches: their workers have loaded and compiled much already."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Final

from relax_core.engine.limits import Limits
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers

_IDLE_SECONDS: Final = 30.0


class WarmClients:
    """Lends clients to threads, each to one at a time, and closes those that nobody took for `idle_seconds`."""

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._idle: list[Client] = []
        self._timer: threading.Timer | None = None

    @contextmanager
    def lent(self, limits: Limits) -> Generator[Client]:
        """Lend a client with these limits; one whose use ends in an exception is closed."""
        client = self._taken(limits) or Client(limits, forked_workers())
        try:
            yield client
        except BaseException:
            client.close(is_hurried=True)
            raise
        with self._lock:
            self._idle.append(client)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._idle_seconds, self.close)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Close the clients that are not lent."""
        with self._lock:
            closing, self._idle = self._idle, []
        for client in closing:
            client.close()

    def _taken(self, limits: Limits) -> Client | None:
        with self._lock:
            found = next((client for client in self._idle if client.limits == limits), None)
            if found is not None:
                self._idle.remove(found)
            return found


@cache
def warm_clients() -> WarmClients:
    """Return those of this process."""
    return WarmClients()
