"""A fleet of processes on this machine: each thread has a worker, which is replaced when a job ends it."""

import queue
import threading
from collections.abc import Generator, Sequence

from relax_core.engine.limits import Limits
from relax_core.engine.process.client import Client
from relax_core.engine.process.forked import forked_workers
from relax_core.fleet.jobs import Done, FleetError, Task
from relax_core.fleet.judging import judge


class LocalFleet:
    """So many workers, which fork from one process that has loaded the package. All tasks have the same limits."""

    def __init__(self, process_count: int, attempts: int = 1) -> None:
        self._process_count = process_count
        self._attempts = attempts

    @property
    def words(self) -> str:
        """What it is."""
        return "1 process" if self._process_count == 1 else f"{self._process_count} processes"

    def results(self, tasks: Sequence[Task]) -> Generator[Done]:
        """Carry out jobs; see `Fleet.results`."""
        limits = tasks[0].job.limits if tasks else Limits()
        clients = [Client(limits, forked_workers()) for _ in range(min(self._process_count, len(tasks)))]
        waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)
        found: queue.SimpleQueue[Done | FleetError | None] = queue.SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=(client, waiting, found), name="fleet", daemon=True)
            for client in clients
        ]
        for thread in threads:
            thread.start()
        try:
            yield from _until_all_end(found, len(threads))
        finally:
            for client in clients:
                client.close(is_hurried=True)
            for thread in threads:
                thread.join()

    def _work(
        self,
        client: Client,
        waiting: "queue.SimpleQueue[Task]",
        found: "queue.SimpleQueue[Done | FleetError | None]",
    ) -> None:
        """Take one job after the other, until none is left or the client is closed."""
        try:
            while True:
                task = waiting.get_nowait()
                result = judge(client, task.job, self._attempts)
                if result is None:
                    break
                found.put(Done(task.key, result))
        except queue.Empty:
            pass
        except FleetError as error:
            found.put(error)
        finally:
            found.put(None)


def _until_all_end(found: "queue.SimpleQueue[Done | FleetError | None]", thread_count: int) -> Generator[Done]:
    ended = 0
    while ended < thread_count:
        match found.get():
            case None:
                ended += 1
            case FleetError() as error:
                raise error
            case done:
                yield done
