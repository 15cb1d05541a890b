"""A fleet of processes of this machine: what ends one of them ends one job."""

import os
import signal
import threading

from relax_core.engine.protocol import Program
from relax_core.fleet.jobs import Job, Result, Task
from relax_core.fleet.local import LocalFleet
from tests.engine.programs import ENDLESS, SMALL
from tests.fleet.fleets import VERSION, SessionFleet
from tests.processes import cpu_seconds_of, wait_until, workers_of

TASKS = tuple(
    Task(job.key(VERSION), job)
    for job in (Job("run", Program(text)) for text in (ENDLESS, SMALL, SMALL.replace("add", "multiply")))
)


def test_a_worker_that_is_lost_takes_one_job_with_it() -> None:
    before = workers_of(os.getpid())
    found: dict[str, Result] = {}

    def collect() -> None:
        found.update(LocalFleet(1).results(TASKS))

    thread = threading.Thread(target=collect)
    thread.start()
    # It has begun to run once it has taken some time.
    assert wait_until(lambda: any(cpu_seconds_of(pid) > 0.5 for pid in workers_of(os.getpid()) - before))
    for pid in workers_of(os.getpid()) - before:
        os.kill(pid, signal.SIGKILL)
    thread.join(60)
    lost, *others = (found[task.key] for task in TASKS)
    assert lost.outcome == "crashed"
    assert "was ended from outside by SIGKILL while running `main`" in lost.words
    assert [one.without_time for one in others] == [
        done.result.without_time for done in SessionFleet().results(TASKS[1:])
    ]


def test_what_is_not_read_any_more_is_stopped() -> None:
    results = LocalFleet(1).results((TASKS[1], TASKS[0]))
    assert next(results).result.outcome == "passed"
    results.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "fleet"]
