"""Compiling ahead: kernels that will be needed are compiled by other processes meanwhile."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Condition, Thread
from typing import Final

from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import Connection, Work
from relax_core.jit.compilation.target import Target

# Results that nobody asked for, and jobs that wait; what came first is dropped.
KEPT_COUNT: Final = 1024
WAIT_SECONDS: Final = 20.0

MakeWork = Callable[[], Work | None]


class Pool:
    """Hands jobs to at most `count` compile processes, which are started when there is work and end behind it.

    A job says in a thread what is to be made; that is sent to a process if it is not in `cache`. `keep_now` hands over
    what is to be made for the cache alone, if it can do so without waiting.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        count: int,
        target: Target,
        cache: ObjectCache | None = None,
        keep_now: Callable[[Work], bool] = lambda work: False,
    ) -> None:
        self._connect = connect
        self._keep_now = keep_now
        self._count = count
        self._target = target
        self._cache = cache
        self._thread_count = 0
        self._changed = Condition()
        self._waiting: OrderedDict[Hashable, MakeWork] = OrderedDict()
        self._running: set[Hashable] = set()
        self._results: OrderedDict[str, bytes] = OrderedDict()

    def submit(self, job: Hashable, make: MakeWork) -> None:
        """Let what `make` returns be made."""
        with self._changed:
            if job in self._waiting or job in self._running:
                return
            self._waiting[job] = make
            if len(self._waiting) > KEPT_COUNT:
                self._waiting.popitem(last=False)
            if self._thread_count < self._count:
                self._thread_count += 1
                Thread(target=self._work, name="compile ahead", daemon=True).start()

    def keep(self, key: str, work: Work) -> None:
        """Let `work` be made for the cache, by this key; nobody takes it."""
        if not self._keep_now(work):
            self.submit(key, lambda: work)

    def claim(self, job: Hashable) -> None:
        """Take a job back that was not begun, so that its caller does it, or wait for its end."""
        with self._changed:
            if self._waiting.pop(job, None) is None:
                self._changed.wait_for(lambda: job not in self._running, WAIT_SECONDS)

    def has(self, key: str) -> bool:
        """Tell whether what has this key was made and not taken."""
        with self._changed:
            return key in self._results

    def take(self, key: str) -> bytes | None:
        """Return what has this key, if it was made."""
        with self._changed:
            return self._results.pop(key, None)

    def _work(self) -> None:
        connection: Connection | None = None
        try:
            while (item := self._next()) is not None:
                job, make = item
                made: tuple[str, bytes] | None = None
                try:
                    work = self._missing(make)
                    if work is not None:
                        connection = connection or self._connect()
                        made = self._made(connection, work)
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

    def _next(self) -> tuple[Hashable, MakeWork] | None:
        """Begin the last job: what came first is needed first, and its caller does it."""
        with self._changed:
            if not self._waiting:
                self._thread_count -= 1
                return None
            job, make = self._waiting.popitem()
            self._running.add(job)
            return job, make

    def _missing(self, make: MakeWork) -> Work | None:
        """Return the work of a job if its result is not in the cache or made already."""
        work = make()
        key = "" if work is None else work.key(self._target)
        is_made = key in self._results or (self._cache is not None and self._cache.path(key).exists())
        return None if is_made else work

    def _made(self, connection: Connection, work: Work) -> tuple[str, bytes] | None:
        result = connection.compile(work)
        return None if result is None else (work.key(self._target), result)

    def _finish(self, job: Hashable, made: tuple[str, bytes] | None) -> None:
        with self._changed:
            self._running.discard(job)
            if made is not None:
                key, result = made
                self._results[key] = result
                if len(self._results) > KEPT_COUNT:
                    self._results.popitem(last=False)
            self._changed.notify_all()
