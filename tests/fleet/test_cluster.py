"""A fleet on a Dask cluster: nothing is lost and nothing comes twice, whatever part of the cluster is lost."""

from collections.abc import Iterator
from typing import Any

import distributed
import pytest

from benchmarks.dask_cluster import DaskCluster
from relax_core.engine.protocol import Program
from relax_core.fleet import cluster
from relax_core.fleet.jobs import Command, FleetError, Job, Result, Task
from tests.engine.programs import SMALL
from tests.fleet.fleets import VERSION, SessionFleet

pytestmark = pytest.mark.dask

MODULE_COUNT = 20


def task(number: int, command: Command) -> Task:
    """Return a job on a module of its own; each fifth one is ill-typed."""
    value = "z" if number % 5 == 0 else "x"
    job = Job(command, Program(f"# {number}\n{SMALL.replace('R.add(x, x)', f'R.add(x, {value})')}"))
    return Task(job.key(VERSION), job)


TASKS = tuple(task(number, "run" if number % 2 else "check") for number in range(MODULE_COUNT))


@pytest.fixture(scope="module")
def started() -> Iterator[DaskCluster]:
    with DaskCluster() as made:
        made.start_scheduler()
        yield made


def test_a_cluster_without_workers_is_refused(started: DaskCluster) -> None:
    fleet = cluster.ClusterFleet(started.address, wait_seconds=3.0)
    with pytest.raises(FleetError, match=rf"no worker of {started.address} took a task within 3 s\nhint: `dask worker"):
        next(fleet.results(TASKS))


def test_the_results_are_those_of_one_process_though_a_worker_and_the_scheduler_are_killed(
    started: DaskCluster,
) -> None:
    started.start_workers(2)
    keys: list[str] = []
    found: dict[str, Result] = {}
    for count, done in enumerate(cluster.ClusterFleet(started.address, batch_size=2).results(TASKS), 1):
        keys.append(done.key)
        found[done.key] = done.result.without_time
        if count == 2:
            started.kill_worker()
        if count == 6:
            started.kill_scheduler()
            started.start_scheduler()
            started.start_workers(1)
    assert sorted(keys) == sorted(item.key for item in TASKS)
    assert found == {done.key: done.result.without_time for done in SessionFleet().results(TASKS)}
    assert {item.outcome for item in found.values()} == {"passed", "failed"}


def test_a_client_that_fails_while_it_is_closed_ends_nothing(
    started: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It does so where the scheduler was lost and is being looked for: the connections are closed under the search.
    close: Any = getattr(distributed.Client, "close")  # noqa: B009  its signature has no types

    def failing(client: distributed.Client) -> None:
        close(client)
        raise RuntimeError("ConnectionPool is closed")

    monkeypatch.setattr(distributed.Client, "close", failing)
    found = [done.key for done in cluster.ClusterFleet(started.address).results(TASKS[:2])]
    assert sorted(found) == sorted(item.key for item in TASKS[:2])


def test_a_worker_of_another_version_is_refused_when_it_answers(
    started: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The workers are asked by this function as well: as those that come later, they tell by their first batch only.
    monkeypatch.setattr(cluster, "tool_version", lambda: "RelaxScope of tomorrow")
    with pytest.raises(FleetError, match=r"has another version: .*\nthere: RelaxScope .*\nhere:  RelaxScope of tomorr"):
        next(cluster.ClusterFleet(started.address).results(TASKS))


def test_where_no_scheduler_answers_the_run_ends(started: DaskCluster) -> None:
    started.kill_scheduler()
    with pytest.raises(FleetError, match=r"no scheduler answers at tcp://127.0.0.1:\d+ within 0.5 s: "):
        next(cluster.ClusterFleet(started.address, wait_seconds=0.5).results(TASKS))
