"""The fork server: `python -m relax_core.engine.process.fork_server FD [all]` starts workers that share what it loads.

Loading the package takes a second and more, forking a process that has loaded it some milliseconds. So one process
loads all that workers need, holds nothing of any session, and forks; a worker confines itself behind the fork, as one
does that is started anew. The fork server works on one thread, since a fork copies only the thread that calls it. It
ends when the process at the other end of socket FD does, and its workers end with it.
"""

import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import msgspec

from relax_core import late
from relax_core.engine import toolchain
from relax_core.engine.limits import Limits
from relax_core.engine.process import compile_service, starting, worker
from relax_core.engine.process.fork_messages import (
    ALL,
    DESCRIPTOR_COUNT,
    MESSAGE_BYTES,
    Exited,
    Fork,
    ForkCompiler,
    Forked,
    Kill,
    News,
    Order,
    Refused,
)
from relax_core.jit.compilation import compile_process


class ForkServer:
    """Forks, kills and reaps, as the process at the other end asks."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pid_of: dict[int, int] = {}
        # Written to by Python when a child ends, so that `select` returns.
        self._woken, self._waking = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._waking, False)

    def serve(self) -> None:
        """Obey until the other end is closed."""
        signal.signal(signal.SIGCHLD, _woken)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select((self._control, self._woken), (), ())
            if self._woken in ready:
                os.read(self._woken, MESSAGE_BYTES)
                self._reap()
            if self._control in ready and not self._obey():
                return

    def _obey(self) -> bool:
        """Do what one message asks; false at the end of them."""
        data, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, DESCRIPTOR_COUNT)
        if not data:
            return False
        try:
            order: Order = msgspec.msgpack.decode(data, type=Order)
            match order:
                case Fork(number=number):
                    self._fork(number, lambda: self._work(order.limits, *descriptors))
                case ForkCompiler(number=number):
                    self._fork(number, lambda: self._compile(order.directory, *descriptors))
                case Kill(number=number) if number in self._pid_of:
                    # It has not been reaped, so that the number is still that of this worker.
                    os.kill(self._pid_of[number], signal.SIGKILL)
                case Kill():
                    pass
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _fork(self, number: int, become: Callable[[], None]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            self._say(Refused(number, str(error)))
            return
        if pid == 0:
            self._leave(become)
        self._pid_of[number] = pid
        self._say(Forked(number, pid))

    def _leave(self, become: Callable[[], None]) -> NoReturn:
        """Be another process, which holds nothing of the fork server."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for descriptor in (self._woken, self._waking):
                os.close(descriptor)
            self._control.close()
            become()
            status = 0
        except BaseException:  # nothing of the fork server may go on in the new process
            traceback.print_exc()
        finally:
            os._exit(status)

    def _work(self, limits: Limits, channel: int, compiler: int, errors: int) -> NoReturn:
        """Work as a process does that was started for it. The other end of `channel` has the worker's client."""
        os.dup2(errors, 2)
        os.close(errors)
        worker.work(channel, limits, compiler)

    def _compile(self, directory: str, channel: int) -> None:
        os.nice(compile_process.NICENESS)
        compile_service.compile_behind(channel, directory)

    def _reap(self) -> None:
        for number, pid in tuple(self._pid_of.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._pid_of[number]
                self._say(Exited(number, os.waitstatus_to_exitcode(status)))

    def _say(self, news: News) -> None:
        self._control.sendall(msgspec.msgpack.encode(news))


def _woken(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: that there is a handler lets the signal write to the pipe."""


def main(arguments: list[str]) -> None:
    """Load what all workers need, or "all" that any of them may, and serve the socket of the first argument."""
    control = socket.socket(fileno=int(arguments[0]))
    late.load(toolchain)
    if arguments[1:] == [ALL]:
        late.load_imported()
    worker.tune_collector()
    starting.end()
    ForkServer(control).serve()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
