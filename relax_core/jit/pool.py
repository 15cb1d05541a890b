"""Compiling ahead: objects that will be needed are made by other processes meanwhile."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition, Thread
from typing import Final

from relax_core.jit.cache import ObjectCache
from relax_core.jit.compile_process import Connection
from relax_core.jit.llvm_source import Source
from relax_core.jit.target import Target

# Objects that nobody asked for, and jobs that wait; what came first is dropped.
KEPT_COUNT: Final = 1024
WAIT_SECONDS: Final = 20.0

MakeSource = Callable[[], Source | None]


class Pool:
    """Hands jobs to at most `count` compile processes, which are started when there is work and end behind it.

    A job makes the source of an object, in a thread; it is sent to a process if the object is not in `cache`.
    """

    def __init__(
        self, connect: Callable[[], Connection], count: int, target: Target, cache: ObjectCache | None = None
    ) -> None:
        self._connect = connect
        self._count = count
        self._target = target
        self._cache = cache
        self._thread_count = 0
        self._changed = Condition()
        self._waiting: OrderedDict[Hashable, MakeSource] = OrderedDict()
        self._running: set[Hashable] = set()
        self._images: OrderedDict[str, bytes] = OrderedDict()

    def submit(self, job: Hashable, make: MakeSource) -> None:
        """Let the object of the source that `make` returns be made."""
        with self._changed:
            if job in self._waiting or job in self._running:
                return
            self._waiting[job] = make
            if len(self._waiting) > KEPT_COUNT:
                self._waiting.popitem(last=False)
            if self._thread_count < self._count:
                self._thread_count += 1
                Thread(target=self._work, name="compile ahead", daemon=True).start()

    def claim(self, job: Hashable) -> None:
        """Take a job back that was not begun, so that its caller does it, or wait for its end."""
        with self._changed:
            if self._waiting.pop(job, None) is None:
                self._changed.wait_for(lambda: job not in self._running, WAIT_SECONDS)

    def take(self, key: str) -> bytes | None:
        """Return the object with this key, if it was made."""
        with self._changed:
            return self._images.pop(key, None)

    def _work(self) -> None:
        connection: Connection | None = None
        try:
            while (item := self._next()) is not None:
                job, make = item
                made: tuple[str, bytes] | None = None
                try:
                    source = self._missing(make)
                    if source is not None:
                        connection = connection or self._connect()
                        made = self._made(connection, source)
                finally:
                    self._finish(job, made)
        except OSError:
            # There is no process, so nothing is made ahead.
            with self._changed:
                self._waiting.clear()
                self._thread_count -= 1
        finally:
            if connection is not None:
                connection.close()

    def _next(self) -> tuple[Hashable, MakeSource] | None:
        """Begin the last job: what came first is needed first, and its caller does it."""
        with self._changed:
            if not self._waiting:
                self._thread_count -= 1
                return None
            job, make = self._waiting.popitem()
            self._running.add(job)
            return job, make

    def _missing(self, make: MakeSource) -> Source | None:
        """Return the source of a job if its object is not in the cache or made already."""
        source = make()
        key = "" if source is None else source.key(self._target)
        is_made = key in self._images or (self._cache is not None and self._cache.path(key).exists())
        return None if is_made else source

    def _made(self, connection: Connection, source: Source) -> tuple[str, bytes] | None:
        image = connection.compile(source)
        return None if image is None else (source.key(self._target), image)

    def _finish(self, job: Hashable, made: tuple[str, bytes] | None) -> None:
        with self._changed:
            self._running.discard(job)
            if made is not None:
                key, image = made
                self._images[key] = image
                if len(self._images) > KEPT_COUNT:
                    self._images.popitem(last=False)
            self._changed.notify_all()
