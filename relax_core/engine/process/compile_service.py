"""The compile process of a worker: compiles ahead for it and writes the cache that it may only read.

The worker has one end of a socket. Its first write starts the process at the other end, which exits after a while
without work, so that a worker that compiles nothing costs nothing. Work that is queued when the worker dies is still
done, so that the same program finds its kernels in the cache next time. The process runs no program.
"""

import contextlib
import os
import resource
import select
import socket
import threading
import time
from pathlib import Path
from typing import Final

from relax_core.engine.limits import MEGABYTE, lower
from relax_core.engine.process import sandbox
from relax_core.engine.process.launch import Launcher, Process
from relax_core.jit.compilation import cache, compile_process

IDLE_SECONDS: Final = 20.0
FINISH_SECONDS: Final = 60.0
"""How long the process may go on after the worker is gone."""
_HAND_OVER_SECONDS: Final = 5.0
_MEMORY_BYTES: Final = 1024 * MEGABYTE
_CPU_SECONDS: Final = 600


class CompileService:
    """Starts compile processes for one worker; `descriptor` is the worker's end of the socket."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._ours, self._theirs = socket.socketpair()
        self._changed = threading.Condition()
        self._is_settled = False
        threading.Thread(target=self._watch, name="compile service", daemon=True).start()

    @property
    def descriptor(self) -> int:
        """The worker's end of the socket, inherited by the worker."""
        return self._theirs.fileno()

    def detach(self) -> None:
        """Close the worker's end in this process, so that its death closes the connection."""
        self._theirs.close()

    def hand_over(self) -> None:
        """After the worker is gone, wait until a process has taken over its queued work."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_settled, _HAND_OVER_SECONDS)

    def _watch(self) -> None:
        """Start a process whenever there is work; give up after one that failed."""
        try:
            with self._ours, contextlib.suppress(OSError):
                while self._has_work():
                    process = self._start()
                    self._settle(is_settled=True)
                    if process.wait() != 0:
                        return
                    self._settle(is_settled=False)
        finally:
            self._settle(is_settled=True)

    def _has_work(self) -> bool:
        """Wait for work, or for the end of the worker."""
        select.select((self._ours,), (), ())
        with contextlib.suppress(ConnectionResetError):
            return bool(self._ours.recv(1, socket.MSG_PEEK))
        # The worker died with unread answers, which is reported once as a reset; what it wrote can still be read.
        return bool(self._ours.recv(1, socket.MSG_PEEK))

    def _settle(self, *, is_settled: bool) -> None:
        with self._changed:
            self._is_settled = is_settled
            self._changed.notify_all()

    def _start(self) -> Process:
        objects = cache.open_cache(is_writable=True)
        return self._launcher.compiler(self._ours.fileno(), "" if objects is None else str(objects.directory))


def main(arguments: list[str]) -> None:
    """Compile, as a process that was started anew, for the socket `arguments[0]`, with the directory `arguments[1]`."""
    compile_behind(int(arguments[0]), arguments[1])


def compile_behind(channel: int, directory: str) -> None:
    """Confine this process, then serve a socket with the objects that are kept in a directory, if it is not ""."""
    sandbox.leave_network()
    for kind, value in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, compile_process.IMAGE_LIMIT_BYTES),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        lower(kind, value)
    sandbox.filter_calls(may_write=True)
    threading.Thread(target=_end_behind, args=(channel,), daemon=True).start()
    objects = cache.ObjectCache(Path(directory)) if directory else None
    compile_process.serve(channel, channel, objects, IDLE_SECONDS)


def _end_behind(number: int) -> None:
    """Exit some time after the worker at the other end of the socket is gone."""
    ended = select.poll()
    ended.register(number, 0)
    ended.poll()
    time.sleep(FINISH_SECONDS)
    os._exit(0)
