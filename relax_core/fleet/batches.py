"""Jobs that travel together: what a worker of a cluster is sent, carries out and sends back, as bytes."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from relax_core.engine.limits import Limits
from relax_core.fleet.jobs import FleetError, Result, Task, digest
from relax_core.fleet.judging import judge
from relax_core.fleet.versions import tool_version
from relax_core.fleet.warm import warm_clients

_BATCH_BYTES: Final = 4 << 20
"""Size of the modules of a batch from which on no further one travels with it."""


class Batch(msgspec.Struct, frozen=True):
    """Jobs for a worker of the same version; all have the same limits."""

    version: str
    """Of the sender; passes of its own are no part of it, since a worker does not have them."""
    attempts: int
    tasks: tuple[Task, ...]

    @property
    def key(self) -> str:
        """The same for the same jobs, whoever sends them."""
        return f"relaxscope-{digest(''.join(task.key for task in self.tasks).encode())}"


class BatchReply(msgspec.Struct, frozen=True):
    """The results of a batch by the keys of its jobs; none if the worker has another version."""

    version: str
    results: dict[str, Result] = {}


def batches(tasks: Sequence[Task], size: int, version: str, attempts: int) -> Iterator[Batch]:
    """Split jobs into batches of at most `size`, fewer if their modules are large."""
    part: list[Task] = []
    bytes_count = 0
    for task in tasks:
        if part and (len(part) == size or bytes_count > _BATCH_BYTES):
            yield Batch(version, attempts, tuple(part))
            part, bytes_count = [], 0
        part.append(task)
        bytes_count += len(msgspec.msgpack.encode(task))
    if part:
        yield Batch(version, attempts, tuple(part))


def carry_out(content: bytes) -> bytes:
    """Carry out a `Batch` and return its `BatchReply`; a cluster calls this in its workers, in any thread.

    The jobs are the work of a child process with their limits: one that crashes takes neither this process along nor
    what its other threads do.

    Raises:
        FleetError: no child process can be started here.
    """
    batch = msgspec.msgpack.decode(content, type=Batch)
    version = tool_version()
    if version != batch.version:
        return msgspec.msgpack.encode(BatchReply(version))
    limits = batch.tasks[0].job.limits if batch.tasks else Limits()
    results: dict[str, Result] = {}
    with warm_clients().lent(limits) as client:
        for task in batch.tasks:
            result = judge(client, task.job, batch.attempts)
            if result is None:
                raise FleetError("a job was cancelled that nobody cancels here")
            results[task.key] = result
    return msgspec.msgpack.encode(BatchReply(version, results))
