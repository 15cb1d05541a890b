"""How the processes of a worker are started: what they get, and what their clients need of them."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec

from relax_core.engine.limits import Limits
from relax_core.jit.compilation import compile_process
from relax_core.jit.compilation.cache_directory import HOME_VARIABLE, VARIABLE

_ROOT: Final = Path(__file__).resolve().parents[3]
_KEPT_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    VARIABLE,
    HOME_VARIABLE,
    "RELAXSCOPE_PASSES",
    "RELAXSCOPE_STAND_INS",
)


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
    return (sys.executable, "-P", "-m", "relax_core.engine.process.worker")


def worker_environment() -> dict[str, str]:
    """Return the environment of a worker and of what compiles for it."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    # One thread works at a time: malloc arenas per thread would only take address space, which is limited.
    return kept | {"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
