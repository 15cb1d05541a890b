"""Processes that a fork server starts, as their clients see them."""

import itertools
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

import msgspec

from relax_core.engine.limits import Limits
from relax_core.engine.process.ahead import worker_environment
from relax_core.engine.process.fork_messages import (
    ALL,
    MESSAGE_BYTES,
    Exited,
    Fork,
    ForkCompiler,
    Forked,
    Kill,
    News,
    Refused,
)
from relax_core.engine.process.launch import NewProcesses, Process, WorkerEnds

_KILLED: Final = -9
_MODULE: Final = "relax_core.engine.process.fork_server"


class ForkedProcess:
    """A child of the fork server, with what clients use of `subprocess.Popen`."""

    def __init__(self, server: "_Connection", number: int) -> None:
        self.pid = 0
        self._server = server
        self._number = number
        self._status: int | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._refusal = ""

    def poll(self) -> int | None:
        """Return the exit status, `None` while the process runs."""
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once there is one.

        Raises:
            subprocess.TimeoutExpired: the process runs on.
        """
        if not self._ended.wait(timeout) or self._status is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        return self._status

    def kill(self) -> None:
        """End the process at once."""
        self._server.send(Kill(self._number))

    def wait_for_begin(self) -> None:
        """Wait until the process is there.

        Raises:
            OSError: the fork server has refused.
        """
        self._begun.wait()
        if self._refusal:
            raise OSError(self._refusal)

    def begun(self, pid: int) -> None:
        """Take note that the process is there."""
        self.pid = pid
        self._begun.set()

    def refused(self, reason: str) -> None:
        """Take note that there is no process."""
        self._refusal = reason
        self._begun.set()
        self.ended(_KILLED)

    def ended(self, status: int) -> None:
        """Take note that the process has ended."""
        self._status = status
        self._ended.set()


class _Connection:
    """A fork server that runs, or has run, and the thread that hears what it says."""

    def __init__(self, environment: Mapping[str, str], *, loads_all: bool) -> None:
        self.environment = environment
        self._numbers = itertools.count(1)
        self._processes: dict[int, ForkedProcess] = {}
        self._lock = threading.Lock()
        self._is_over = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = subprocess.Popen(
                (sys.executable, "-P", "-m", _MODULE, str(theirs.fileno()), *((ALL,) if loads_all else ())),
                pass_fds=(theirs.fileno(),),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        threading.Thread(target=self._hear, name="fork server", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Tell whether the fork server has ended."""
        return self._is_over

    def fork(self, order: Callable[[int], Fork | ForkCompiler], *descriptors: int) -> ForkedProcess:
        """Have a process forked that gets these descriptors; `order` says which one, given its number.

        Raises:
            OSError: the fork server is gone, or the system has no room for a process.
        """
        with self._lock:
            if self._is_over:
                raise ConnectionError("the fork server has ended")
            number = next(self._numbers)
            made = self._processes[number] = ForkedProcess(self, number)
        socket.send_fds(self._control, (msgspec.msgpack.encode(order(number)),), descriptors)
        made.wait_for_begin()
        return made

    def send(self, message: Kill) -> None:
        """Send what needs no answer; if nobody is there, its workers are gone, too."""
        try:
            self._control.sendall(msgspec.msgpack.encode(message))
        except OSError:
            return

    def _hear(self) -> None:
        try:
            while data := self._control.recv(MESSAGE_BYTES):
                self._note(msgspec.msgpack.decode(data, type=News))
        except (OSError, msgspec.MsgspecError):
            self._server.kill()
        finally:
            self._end()

    def _note(self, message: News) -> None:
        match message:
            case Forked(number=number, pid=pid):
                self._processes[number].begun(pid)
            case Refused(number=number, reason=reason):
                self._processes.pop(number).refused(reason)
            case Exited(number=number, status=status):
                self._processes.pop(number).ended(status)

    def _end(self) -> None:
        """Take note that the fork server has ended, and with it each of its workers."""
        with self._lock:
            self._is_over = True
            left, self._processes = self._processes, {}
        for process in left.values():
            process.refused("the fork server has ended")
        self._server.wait()


class ForkedWorkers:
    """Starts processes through a fork server, which is started for the first one and again when it has ended.

    One that `loads_all` takes half a second more to start, and its workers have all that any request needs; otherwise
    a worker loads what its requests need.
    """

    def __init__(self, *, loads_all: bool = True) -> None:
        self._loads_all = loads_all
        self._lock = threading.Lock()
        self._connection: _Connection | None = None
        self._anew = NewProcesses()

    def worker(self, limits: Limits, ends: WorkerEnds) -> Process:
        """Start a worker: forked, or else anew, if no fork server can be had.

        Raises:
            OSError: no process can be started.
        """
        try:
            order = partial(Fork, limits=limits)
            return self._connected().fork(order, ends.channel, ends.compiler, ends.errors)
        except OSError:
            return self._anew.worker(limits, ends)

    def compiler(self, channel: int, directory: str) -> Process:
        """Start a compile process in the same way.

        Raises:
            OSError: no process can be started.
        """
        try:
            return self._connected().fork(partial(ForkCompiler, directory=directory), channel)
        except OSError:
            return self._anew.compiler(channel, directory)

    def _connected(self) -> _Connection:
        environment = worker_environment()
        with self._lock:
            found = self._connection
            if found is None or found.is_over or found.environment != environment:
                found = self._connection = _Connection(environment, loads_all=self._loads_all)
            return found


@cache
def forked_workers() -> ForkedWorkers:
    """Return the one of this process that serves the pages, and any request."""
    return ForkedWorkers()


@cache
def forked_for_few() -> ForkedWorkers:
    """Return the one of this process for a command, whose few requests are of one kind."""
    return ForkedWorkers(loads_all=False)
