"""A fleet on an existing Dask cluster: batches of jobs as tasks, sent again if the scheduler or workers are lost.

All that is to be known of a run is on this side, so that a cluster may lose anything at any time. `distributed` is
imported here alone. It pickles what it sends: whoever reaches a scheduler can run code on its workers.
"""

import logging
import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

import distributed
import msgspec
from distributed.scheduler import KilledWorker

from relax_core.diagnostics import plural
from relax_core.fleet.batches import Batch, BatchReply, batches, carry_out
from relax_core.fleet.jobs import Done, FleetError, Result, Task
from relax_core.fleet.versions import tool_version

_IN_FLIGHT: Final = 3
"""Batches a thread that the scheduler has at a time: enough that none waits, and few to send again."""
_RETRIES: Final = 2
"""How often the scheduler sends a batch to another worker whose process could start no child."""
_LOOK_SECONDS: Final = 2.0
_LOGGERS: Final = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "distributed.batched")


class _Future(Protocol):
    """A `distributed.Future`, as far as it is used here."""

    @property
    def status(self) -> str: ...

    def result(self, timeout: float | None = None) -> Any: ...

    def exception(self, timeout: float | None = None) -> BaseException | None: ...

    def add_done_callback(self, fn: "Callable[[_Future], None]") -> None: ...

    def release(self) -> None: ...


class _Client(Protocol):
    """A `distributed.Client`, as far as it is used here."""

    @property
    def status(self) -> str: ...

    def submit(self, func: Callable[..., object], *args: object, key: str, retries: int) -> _Future: ...

    def nthreads(self) -> Mapping[str, int]: ...

    def scheduler_info(self) -> Mapping[str, Any]: ...

    def run(self, function: Callable[[], str]) -> Mapping[str, str]: ...

    def close(self) -> None: ...


class _LostError(Exception):
    """The scheduler is gone, or is another one than before, which knows nothing of the batches."""


@dataclass(slots=True)
class _Link:
    """A connection with a scheduler, and the batches that it has."""

    client: _Client
    scheduler: str
    """The name that the scheduler gave itself when it started."""
    waiting: deque[Batch]
    attempts: dict[str, int]
    """How often each batch was sent: another key is another task."""
    flying: dict[_Future, Batch] = field(default_factory=dict[_Future, Batch])
    landed: "queue.SimpleQueue[_Future]" = field(default_factory=queue.SimpleQueue["_Future"])

    def thread_count(self) -> int:
        """Return how many threads the workers have; there may be more or fewer at any time.

        Raises:
            _LostError: the scheduler does not answer, or is another one.
        """
        name, count = _scheduler_of(self.client)
        if name != self.scheduler or self.client.status != "running":
            raise _LostError("the scheduler was started again")
        return count

    def send(self, thread_count: int) -> None:
        """Send as many batches as the threads have work with; some for none, so that a cluster may grow for them."""
        while self.waiting and len(self.flying) < _IN_FLIGHT * max(thread_count, 1):
            batch = self.waiting.popleft()
            number = self.attempts[batch.key] = self.attempts.get(batch.key, 0) + 1
            key = batch.key if number == 1 else f"{batch.key}-{number}"
            future = self.client.submit(carry_out, msgspec.msgpack.encode(batch), key=key, retries=_RETRIES)
            self.flying[future] = batch
            future.add_done_callback(self.landed.put)


class ClusterFleet:
    """The workers of the scheduler at an address such as `tcp://10.0.0.1:8786`."""

    def __init__(self, address: str, *, attempts: int = 1, batch_size: int = 20, wait_seconds: float = 60.0) -> None:
        """Take note of them; nothing is sent yet.

        A scheduler that is lost, or a worker that is missing, is waited for so long, and then the run ends.
        """
        self._address = address
        self._attempts = attempts
        self._batch_size = batch_size
        self._wait_seconds = wait_seconds
        self._words = f"the cluster at {address}"
        for name in _LOGGERS:
            # What is lost is said here, in one sentence.
            logging.getLogger(name).setLevel(logging.CRITICAL)

    @property
    def words(self) -> str:
        """What it is."""
        return self._words

    def results(self, tasks: Sequence[Task]) -> Generator[Done]:
        """Carry out jobs; see `Fleet.results`."""
        left = {task.key: task for task in tasks}
        version = tool_version()
        attempts: dict[str, int] = {}
        while left:
            try:
                with self._connected(version) as client:
                    # Each thread gets several, so that all have work to the end.
                    name, thread_count = _scheduler_of(client)
                    size = len(left) // (_IN_FLIGHT * max(thread_count, 1))
                    size = max(min(size, self._batch_size), 1)
                    parts = deque(batches(tuple(left.values()), size, version, self._attempts))
                    link = _Link(client, name, parts, attempts)
                    for done in self._flown(link):
                        # A batch that was sent twice may come back twice.
                        if left.pop(done.key, None) is not None:
                            yield done
            except _LostError:
                continue

    def _flown(self, link: _Link) -> Iterator[Done]:
        """Send batches and take what comes back, until nothing is left."""
        looked = seen = 0.0
        thread_count = 0
        while link.waiting or link.flying:
            if time.monotonic() - looked > _LOOK_SECONDS:
                thread_count = link.thread_count()
                looked = time.monotonic()
                seen = looked if thread_count or not seen else seen
                if looked - seen > self._wait_seconds:
                    raise FleetError(self._without_workers())
            link.send(thread_count)
            try:
                future = link.landed.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            yield from self._read(link, link.flying.pop(future), future)

    def _read(self, link: _Link, batch: Batch, future: _Future) -> Iterator[Done]:
        """Return the results of a batch that has landed, or have it sent again."""
        match future.status:
            case "finished":
                content = _value(future)
                future.release()
                reply = msgspec.msgpack.decode(content, type=BatchReply)
                if reply.version != batch.version:
                    raise FleetError(self._other_version({"a worker": reply.version}, batch.version))
                yield from (Done(key, result) for key, result in reply.results.items())
            case "error":
                error = future.exception()
                future.release()
                if not isinstance(error, KilledWorker):
                    raise FleetError(f"a worker of {self._address} cannot carry out jobs: {error}")
                yield from _after_deaths(link, batch)
            case _:
                raise _LostError("the scheduler has lost a batch")

    @contextmanager
    def _connected(self, version: str) -> Generator[_Client]:
        """Connect with the scheduler once it is there, and see that its workers can carry jobs out.

        Raises:
            FleetError: there is no scheduler, no worker, or one with another version.
        """
        try:
            made: Any = distributed.Client(self._address, timeout=self._wait_seconds, set_as_default=False)
        except (OSError, ValueError) as error:
            words = f"no scheduler answers at {self._address} within {self._wait_seconds:g} s: {error}"
            raise FleetError(f"{words}\nhint: `dask scheduler` starts one, and prints its address") from None
        client = cast("_Client", made)
        try:
            self._refuse_workers(client, version)
            _, count = _scheduler_of(client)
            self._words = f"{plural(count, 'thread')} of the cluster at {self._address}"
            yield client
        finally:
            _close(client)

    def _refuse_workers(self, client: _Client, version: str) -> None:
        """See that a worker takes a task, which lets a cluster grow that has none, and that all have our version."""
        probe = client.submit(tool_version, key=f"relaxscope-version-{time.time_ns()}", retries=0)
        try:
            probe.result(timeout=self._wait_seconds)
            found = client.run(tool_version)
        except distributed.CancelledError as error:
            raise _LostError(str(error)) from None
        except TimeoutError:
            raise FleetError(self._without_workers()) from None
        except OSError as error:
            raise _LostError(str(error)) from None
        except Exception as error:  # whatever a worker raises: as a rule it has no RelaxScope
            words = f"the workers of {self._address} cannot carry out jobs: {type(error).__name__}: {error}"
            raise FleetError(f"{words}\nhint: install the same version of RelaxScope where they run") from None
        others = {name: other for name, other in found.items() if other != version}
        if others:
            raise FleetError(self._other_version(others, version))

    def _without_workers(self) -> str:
        return (
            f"no worker of {self._address} took a task within {self._wait_seconds:g} s\n"
            f"hint: `dask worker {self._address}` starts one; --wait gives more time to a cluster that has to grow"
        )

    def _other_version(self, others: Mapping[str, str], version: str) -> str:
        name, other = next(iter(others.items()))
        return (
            f"{name} of {self._address} has another version: its results could not be compared\n"
            f"there: {other}\nhere:  {version}\nhint: install the same version where the workers run"
        )


def _scheduler_of(client: _Client) -> tuple[str, int]:
    """Return the name that the scheduler gave itself, and how many threads its workers have.

    Raises:
        _LostError: the scheduler does not answer.
    """
    try:
        return str(client.scheduler_info().get("id")), sum(client.nthreads().values())
    except (OSError, RuntimeError) as error:
        raise _LostError(str(error)) from None


def _close(client: _Client) -> None:
    """Leave the scheduler; one that was lost may be looked for at this moment, and that attempt fails on its own."""
    with suppress(OSError, RuntimeError):
        client.close()


def _value(future: _Future) -> bytes:
    """Return the result of a future.

    Raises:
        _LostError: it went with its worker or the scheduler just now.
    """
    try:
        return future.result()
    except (distributed.CancelledError, OSError) as error:
        raise _LostError(str(error)) from None


def _after_deaths(link: _Link, batch: Batch) -> Iterator[Done]:
    """Send a batch again in halves, for the scheduler blames any of its jobs that workers died; a single one did it."""
    middle = len(batch.tasks) // 2
    if middle:
        halves = (batch.tasks[:middle], batch.tasks[middle:])
        link.waiting.extend(msgspec.structs.replace(batch, tasks=half) for half in halves)
    else:
        words = "each worker of the cluster that had this job was lost"
        yield from (Done(task.key, Result("crashed", words)) for task in batch.tasks)
