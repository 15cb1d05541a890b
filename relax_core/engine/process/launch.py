"""How the processes of a worker are started: what they get, and what their clients need of them."""

import subprocess
import sys
from dataclasses import dataclass
from typing import Protocol

import msgspec

from relax_core.engine.limits import Limits
from relax_core.engine.process.ahead import WORKER, WorkerAhead, worker_environment
from relax_core.jit.compilation import compile_process


class Process(Protocol):
    """A process that was started, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WorkerEnds:
    """Descriptors that a worker inherits; its client closes its own copies."""

    channel: int
    """The socket on which requests come and answers go."""
    compiler: int
    """The socket of its compile process."""
    errors: int
    """Its standard error."""


class Launcher(Protocol):
    """Starts the processes of workers; each method raises OSError if no process can be started."""

    def worker(self, limits: Limits, ends: WorkerEnds) -> Process:
        """Start a worker."""
        ...

    def compiler(self, channel: int, directory: str) -> Process:
        """Start the compile process at the other end of a worker's socket; "" is no directory of kept objects."""
        ...


class NewProcesses:
    """Starts each process anew: it loads what it needs of the package."""

    def worker(self, limits: Limits, ends: WorkerEnds) -> Process:
        """Start a worker.

        Raises:
            OSError: no process can be started.
        """
        return subprocess.Popen(
            (*_command(), str(ends.channel), msgspec.json.encode(limits).decode(), str(ends.compiler)),
            pass_fds=(ends.channel, ends.compiler),
            env=worker_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=ends.errors,
            start_new_session=True,
        )

    def compiler(self, channel: int, directory: str) -> Process:
        """Start a compile process.

        Raises:
            OSError: no process can be started.
        """
        return subprocess.Popen(
            compile_process.command("engine.process.compile_service", str(channel), directory),
            pass_fds=(channel,),
            env=worker_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _command() -> tuple[str, ...]:
    return sys.executable, "-P", "-m", WORKER


class OneAhead:
    """Has a worker that was started ahead, and starts all further ones anew."""

    def __init__(self, ahead: WorkerAhead) -> None:
        self._ahead: WorkerAhead | None = ahead
        self._anew = NewProcesses()

    def worker(self, limits: Limits, ends: WorkerEnds) -> Process:
        """Give the worker that was started ahead to the first client whose environment it has, or start one.

        Raises:
            OSError: no process can be started.
        """
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            is_alike = ahead.environment == worker_environment()
            if is_alike and ahead.takes(msgspec.json.encode(limits), ends.channel, ends.compiler, ends.errors):
                return ahead.process
            ahead.end()
        return self._anew.worker(limits, ends)

    def compiler(self, channel: int, directory: str) -> Process:
        """Start a compile process.

        Raises:
            OSError: no process can be started.
        """
        return self._anew.compiler(channel, directory)
