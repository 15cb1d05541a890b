"""Run many modules in one process, in several, and on a Dask cluster:  python -m benchmarks.many_modules [COUNT].

The modules are those of the samples, each with a comment of its own, so that none is known from another. On the
cluster, once all is left alone, and once a worker is killed after a third of the results, and the scheduler after
another third, which is started again. All results have to be those of one process, none lost and none twice. Kernels
are kept nowhere: each module is compiled anew. Starting a fleet is part of the time, starting the cluster is not.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from benchmarks.dask_cluster import ROOT, DaskCluster
from relax_core.engine.protocol import Program
from relax_core.fleet.cluster import ClusterFleet
from relax_core.fleet.jobs import Fleet, Job, Result, Task
from relax_core.fleet.local import LocalFleet
from relax_core.fleet.versions import tool_version

_FOLDERS = ("relax", "tir", "relay")
_WAYS = ("pool", "dask", "killed")


@dataclass(frozen=True, slots=True)
class FleetRun:
    """The results of a fleet by their keys, how many it gave, and how long it took."""

    name: str
    results: dict[str, Result]
    count: int
    seconds: float


def tasks(count: int) -> tuple[Task, ...]:
    """Return so many jobs `run` on different modules."""
    files = sorted(path for folder in _FOLDERS for path in (ROOT / "samples" / folder).iterdir() if path.is_file())
    made: list[Task] = []
    for number, path in enumerate(islice(cycle(files), count)):
        mark = "//" if path.suffix == ".relay" else "#"
        job = Job("run", Program(f"{_text(path)}\n{mark} {number}\n", path.name))
        made.append(Task(job.key(tool_version()), job))
    return tuple(made)


def carried_out(
    name: str, fleet: Fleet, jobs: tuple[Task, ...], disturb: Callable[[int], None] = lambda _count: None
) -> FleetRun:
    """Have a fleet carry jobs out; `disturb` is called with the number of results after each of them."""
    began = time.monotonic()
    found: dict[str, Result] = {}
    count = 0
    for count, done in enumerate(fleet.results(jobs), 1):
        found[done.key] = done.result.without_time
        disturb(count)
    return FleetRun(name, found, count, time.monotonic() - began)


def disturbance(cluster: DaskCluster, count: int) -> Callable[[int], None]:
    """Return what kills a worker after a third of `count` results, and the scheduler after another third."""

    def disturb(number: int) -> None:
        if number == count // 3:
            cluster.kill_worker()
            cluster.start_workers(1)
        elif number == 2 * count // 3:
            cluster.kill_scheduler()
            cluster.start_scheduler()
            cluster.start_workers(cluster.worker_count)

    return disturb


def runs(jobs: tuple[Task, ...], worker_count: int, ways: Collection[str]) -> Iterator[FleetRun]:
    """Carry the jobs out in one process, and in those of the other ways that are asked for."""
    yield carried_out("1 process", LocalFleet(1), jobs)
    if "pool" in ways:
        yield carried_out(f"{worker_count} processes", LocalFleet(worker_count), jobs)
    if "dask" in ways:
        with DaskCluster() as cluster:
            yield carried_out(f"Dask, {worker_count} workers", _fleet_on(cluster, worker_count), jobs)
    if "killed" in ways:
        with DaskCluster() as cluster:
            fleet, disturb = _fleet_on(cluster, worker_count), disturbance(cluster, len(jobs))
            yield carried_out("Dask, a worker and the scheduler killed", fleet, jobs, disturb)


def _fleet_on(cluster: DaskCluster, worker_count: int) -> ClusterFleet:
    """Start a cluster, and wait until it has carried out a job."""
    cluster.start_scheduler()
    cluster.start_workers(worker_count)
    fleet = ClusterFleet(cluster.address)
    job = Job("check", Program("# empty"))
    assert len(tuple(fleet.results((Task(job.key(""), job),)))) == 1
    return fleet


def main() -> int:
    """Print a row for each way; the status is 1 if one has other results than one process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_modules", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000, metavar="COUNT", help="default: 1000")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: 2")
    ways = "beside one process; default: all"
    parser.add_argument("--ways", nargs="+", choices=_WAYS, default=_WAYS, metavar="WAY", help=ways)
    options = parser.parse_args()
    os.environ["RELAXSCOPE_CACHE"] = "off"
    jobs = tasks(options.count)
    is_alike = True
    first: FleetRun | None = None
    for run in runs(jobs, options.workers, options.ways):
        first = first or run
        lost, twice = len(jobs) - len(run.results), run.count - len(run.results)
        other = sum(run.results.get(key) != result for key, result in first.results.items())
        is_alike &= not (lost or twice or other)
        rate, factor = len(jobs) / run.seconds, first.seconds / run.seconds
        sys.stdout.write(
            f"{run.name:45} {run.seconds:7.1f} s {rate:6.1f} modules/s  x {factor:4.2f}   "
            f"lost {lost}, twice {twice}, other result {other}\n"
        )
        sys.stdout.flush()
    return 0 if is_alike else 1


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
