"""A worker that is started before its client is loaded, so that both load beside each other."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from relax_core.jit.compilation.cache_directory import HOME_VARIABLE, VARIABLE

WORKER: Final = "relax_core.engine.process.worker"
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
_STANDARD_ERROR: Final = 2
OF_ONE_WORKER: Final = (
    *("check", "script", "opt", "diff", "effects", "costs", "run", "inside", "compare"),
    *("asm", "partition", "match", "devices", "origins", "ops", "report"),
)
"""The commands that ask a worker of their own."""
_WITHOUT: Final = frozenset(("--in-process", "--help", "-h"))


class WorkerAhead:
    """A process that loads what a worker needs, and waits until it is told whose worker it is.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self) -> None:
        self.environment = worker_environment()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                (sys.executable, "-P", "-m", WORKER, str(theirs.fileno())),
                pass_fds=(theirs.fileno(),),
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def takes(self, limits: bytes, *descriptors: int) -> bool:
        """Make it the worker that has these descriptors, once it is loaded; false if it could not be."""
        with self._control:
            try:
                socket.send_fds(self._control, (limits,), descriptors)
                return bool(self._control.recv(1))
            except OSError:
                return False

    def end(self) -> None:
        """End a process that nobody needs."""
        self._control.close()
        self.process.kill()
        self.process.wait()


def started_ahead(arguments: Sequence[str]) -> WorkerAhead | None:
    """Start the worker of the command that these arguments name; `None` if it needs none, or none can be had."""
    if not arguments or arguments[0] not in OF_ONE_WORKER or not _WITHOUT.isdisjoint(arguments):
        return None
    fill_standard_descriptors()
    try:
        return WorkerAhead()
    except OSError:
        # The client says why, if it cannot start one either.
        return None


def fill_standard_descriptors() -> None:
    """Open those of 0, 1 and 2 that were closed, so that no socket or pipe of ours becomes one of them in a worker."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(number)


def worker_environment() -> dict[str, str]:
    """Return the environment of a worker and of what compiles for it."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    # One thread works at a time: malloc arenas per thread would only take address space, which is limited.
    return kept | {"PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
