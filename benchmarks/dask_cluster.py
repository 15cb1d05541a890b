"""A Dask cluster of processes of this machine, any of which can be killed and started again."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
_GRACE_SECONDS = 10
_START_SECONDS = 60
_LOOK_SECONDS = 0.1


class DaskCluster:
    """A scheduler, and workers with one thread each; use it with `with`, which ends them."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "DaskCluster":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.kill_scheduler()
        while self._workers:
            self.kill_worker()

    @property
    def worker_count(self) -> int:
        """How many workers were started and not killed, those included that have ended by themselves."""
        return len(self._workers)

    def start_scheduler(self) -> None:
        """Start the scheduler, at the same address as before, and wait until it answers."""
        self._scheduler = _started("dask_scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-show")
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no scheduler answers at {self.address}")
            time.sleep(_LOOK_SECONDS)

    def start_workers(self, count: int) -> None:
        """Start so many more workers."""
        options = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", "60")
        self._workers += [_started("dask_worker", self.address, *options) for _ in range(count)]

    def kill_worker(self) -> None:
        """End the worker that was started first, whatever it does."""
        worker = self._workers.pop(0)
        worker.kill()
        worker.wait(_GRACE_SECONDS)

    def kill_scheduler(self) -> None:
        """End the scheduler; its workers end by themselves, since they have lost it."""
        if self._scheduler is not None:
            self._scheduler.send_signal(signal.SIGKILL)
            self._scheduler.wait(_GRACE_SECONDS)
            self._scheduler = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1):
                return True
        except OSError:
            return False


def _started(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command, env=environment, cwd=Path("/"), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
