"""What a fleet on a cluster does when tasks are lost, without a cluster: a client that follows a script."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import pytest

from relax_core.engine.protocol import Program
from relax_core.fleet import cluster
from relax_core.fleet.batches import Batch, BatchReply, carry_out
from relax_core.fleet.jobs import FleetError, Job, Result, Task
from relax_core.fleet.versions import tool_version
from tests.fleet.fleets import VERSION

pytestmark = pytest.mark.dask

TASKS = tuple(Task(job.key(VERSION), job) for job in (Job("check", Program(f"# {number}")) for number in range(8)))


@dataclass(eq=False)
class Landed:
    """A future that is done already."""

    status: str
    value: Any = None

    def result(self, timeout: float | None = None) -> Any:
        return self.value

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return self.value

    def add_done_callback(self, fn: Callable[["Landed"], None]) -> None:
        fn(self)

    def release(self) -> None: ...


@dataclass
class Script:
    """What clients do: workers die of the texts in `deadly`, and the scheduler loses the batches of these numbers."""

    deadly: tuple[str, ...] = ()
    lost: tuple[int, ...] = ()
    versions: tuple[str, ...] = ("here",)
    thread_count: int = 1
    sent: list[Batch] = field(default_factory=list[Batch])
    keys: list[str] = field(default_factory=list[str])
    connections: int = 0

    def connect(self, _address: str, **_options: object) -> "ScriptedClient":
        self.connections += 1
        return ScriptedClient(self)


@dataclass
class ScriptedClient:
    script: Script
    status: str = "running"

    def submit(self, func: Callable[..., object], *args: bytes, key: str, retries: int) -> Landed:
        if func is not carry_out:
            return Landed("finished", func())
        batch = msgspec.msgpack.decode(args[0], type=Batch)
        self.script.sent.append(batch)
        self.script.keys.append(key)
        if len(self.script.sent) in self.script.lost:
            return Landed("cancelled")
        if any(task.job.program.text in self.script.deadly for task in batch.tasks):
            return Landed("error", cluster.KilledWorker("task", cast("Any", None), 3))
        results = {task.key: Result("passed") for task in batch.tasks}
        return Landed("finished", msgspec.msgpack.encode(BatchReply(tool_version(), results)))

    def nthreads(self) -> Mapping[str, int]:
        return {"worker": self.script.thread_count}

    def scheduler_info(self) -> Mapping[str, Any]:
        return {"id": self.script.connections}

    def run(self, function: Callable[[], str]) -> Mapping[str, str]:
        return {
            f"worker {number}": function() if version == "here" else version
            for number, version in enumerate(self.script.versions)
        }

    def close(self) -> None: ...


def results(script: Script, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    monkeypatch.setattr(cluster.distributed, "Client", script.connect)
    fleet = cluster.ClusterFleet("tcp://nowhere:1", batch_size=4)
    text_of = {task.key: task.job.program.text for task in TASKS}
    return Counter((text_of[done.key], done.result.outcome) for done in fleet.results(TASKS))


def test_a_job_that_workers_die_of_is_found_and_its_neighbours_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(deadly=("# 5",))
    found = results(script, monkeypatch)
    assert found == Counter((f"# {number}", "crashed" if number == 5 else "passed") for number in range(8))
    assert len(script.sent) == len({*script.keys})


# Three batches are sent at once: the first of these that is lost ends the connection, and all is sent again.
@pytest.mark.parametrize(("lost", "connections"), [((1,), 2), ((1, 2, 3), 2), ((1, 4), 3)], ids=str)
def test_what_a_scheduler_has_lost_is_sent_again_under_another_key(
    lost: tuple[int, ...], connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script(lost=lost)
    assert results(script, monkeypatch) == Counter((f"# {number}", "passed") for number in range(8))
    assert script.connections == connections
    assert len(script.keys) == len({*script.keys})


def test_no_more_is_in_flight_than_threads_have_work_with(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script()
    monkeypatch.setattr(cluster.distributed, "Client", script.connect)
    first = cluster.ClusterFleet("tcp://nowhere:1", batch_size=1).results(TASKS)
    next(first)
    assert len(script.sent) == 3
    first.close()


def test_workers_of_another_version_are_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(versions=("here", "RelaxScope of tomorrow"))
    with pytest.raises(FleetError, match=r"worker 1 of tcp://nowhere:1 has another version: (.|\n)*of tomorrow"):
        results(script, monkeypatch)
    assert not script.sent
