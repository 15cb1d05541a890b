"""The compile process of a worker: it runs no program, writes the cache that workers read, and compiles ahead for them.

A worker has one end of a socket from its start on. What it writes first starts the process at the other end, which
ends after a while without work; so a worker that compiles nothing costs nothing.
"""

import contextlib
import os
import resource
import select
import socket
import subprocess
import threading
from pathlib import Path
from typing import Final

from relax_core.engine.limits import MEGABYTE
from relax_core.engine.sandbox import die_with_parent, filter_calls, leave_network
from relax_core.jit.compilation.cache import ObjectCache, open_cache
from relax_core.jit.compilation.compile_process import IMAGE_LIMIT_BYTES, command, serve

IDLE_SECONDS: Final = 20.0
_MEMORY_BYTES: Final = 1024 * MEGABYTE
_CPU_SECONDS: Final = 600


class CompileService:
    """Starts compile processes for one worker; `descriptor` is the worker's end of the socket."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._ours, self._theirs = socket.socketpair()
        threading.Thread(target=self._watch, name="compile service", daemon=True).start()

    @property
    def descriptor(self) -> int:
        """What the worker is started with."""
        return self._theirs.fileno()

    def detach(self) -> None:
        """Close the worker's end here: when the worker is gone, the process at the other end sees that."""
        self._theirs.close()

    def _watch(self) -> None:
        """Start a process where there is something to read; one that fails is not started again."""
        cache = open_cache(is_writable=True)
        directory = "" if cache is None else str(cache.directory)
        number = self._ours.fileno()
        with self._ours, contextlib.suppress(OSError):
            while select.select((number,), (), ())[0] and self._ours.recv(1, socket.MSG_PEEK):
                status = subprocess.call(
                    command("engine.compile_service", str(number), directory),
                    pass_fds=(number,),
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                if status != 0:
                    return


def main(arguments: list[str]) -> None:
    """Confine this process, and serve the socket of the first argument with the cache in the second's directory."""
    leave_network()
    die_with_parent()
    os.nice(5)
    for kind, value in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, IMAGE_LIMIT_BYTES),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
    filter_calls(may_write=True)
    number, directory = int(arguments[0]), arguments[1]
    serve(number, number, ObjectCache(Path(directory)) if directory else None, IDLE_SECONDS)
