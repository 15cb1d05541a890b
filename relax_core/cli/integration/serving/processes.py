"""The processes that carry out commands for a server: so many at a time, each ended with what it does if need be."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from relax_core.cli.integration.serving.exchange import ANSWER_BYTES, MEANINGS, READY, File, Order, Outcome, Unanswered
from relax_core.cli.terminal import LIMIT
from relax_core.engine.process.frames import HEADER

_MODULE: Final = "relax_core.cli.integration.serving.command_process"
_PACKAGE: Final = Path(__file__).resolve().parents[4]
_ANSWER_BYTES: Final = 2 * ANSWER_BYTES


class BusyError(Exception):
    """So many requests wait that one more is refused."""


class EndedError(Exception):
    """The process of a command has ended before its answer."""


@dataclass
class CommandProcess:
    """A process that carries out one command at a time."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def start(cls) -> "CommandProcess":
        """Start one, and wait until it can work.

        Raises:
            EndedError: it ends at once.
        """
        ours, its = socket.socketpair()
        with its:
            process = subprocess.Popen(
                (sys.executable, "-P", "-m", _MODULE, str(its.fileno())),
                pass_fds=(its.fileno(),),
                env=os.environ | {"PYTHONPATH": str(_PACKAGE), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        made = cls(process, *await asyncio.open_unix_connection(sock=ours))
        try:
            if await made.read() == READY:
                return made
        except BaseException:
            made.kill()
            raise
        made.kill()
        raise EndedError

    async def carry_out(self, order: Order) -> Outcome:
        """Carry out a command.

        Raises:
            EndedError: the process ends before its answer.
        """
        body = msgspec.msgpack.encode(order)
        try:
            self.writer.write(HEADER.pack(len(body)) + body)
            await self.writer.drain()
            return msgspec.msgpack.decode(await self.read(), type=Outcome)
        except (OSError, msgspec.MsgspecError):
            raise EndedError from None

    async def read(self) -> bytes:
        """Read what it sends.

        Raises:
            EndedError: it has ended.
        """
        try:
            (size,) = HEADER.unpack(await self.reader.readexactly(HEADER.size))
            if size <= _ANSWER_BYTES:
                return await self.reader.readexactly(size)
        except (OSError, EOFError):
            pass
        raise EndedError

    def kill(self) -> None:
        """End it at once; its workers end with it."""
        self.writer.close()
        self.process.kill()
        self.process.wait()


@dataclass
class Processes:
    """As many processes as carry out commands at a time, started when they are needed."""

    count: int
    waiting_limit: int
    """Requests that may wait for one."""
    seconds: float
    """What a command may take, beside the limits of each step of it."""
    idle: list[CommandProcess] = field(default_factory=list[CommandProcess])
    waiting: int = 0

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.count)

    async def start(self) -> None:
        """Start the first one ahead of the first request."""
        self.idle.append(await CommandProcess.start())

    async def carry_out(self, arguments: tuple[str, ...], files: dict[str, File]) -> Outcome:
        """Carry out a command; if the task is cancelled, so is the command.

        Raises:
            BusyError: too many wait.
            EndedError: the process that carried it out has ended.
        """
        if self._free.locked() and self.waiting >= self.waiting_limit:
            raise BusyError
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        try:
            return await self._carried_out(arguments, files)
        finally:
            self._free.release()

    async def _carried_out(self, arguments: tuple[str, ...], files: dict[str, File]) -> Outcome:
        process = await self._idle()
        folder = tempfile.mkdtemp(prefix="relaxscope-")
        is_whole = False
        try:
            async with asyncio.timeout(self.seconds):
                found = await process.carry_out(Order(folder, arguments, files))
            is_whole = True
            return found
        except TimeoutError:
            words = f"A command may take {self.seconds:g} s."
            return Outcome(LIMIT, MEANINGS[LIMIT], messages=words, stopped=(Unanswered("limit", "Time limit", words),))
        finally:
            if is_whole:
                self.idle.append(process)
            else:
                process.kill()
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)

    async def _idle(self) -> CommandProcess:
        while self.idle:
            process = self.idle.pop()
            if process.process.poll() is None:
                return process
            process.kill()
        return await CommandProcess.start()

    def close(self) -> None:
        """End all that wait for a command."""
        while self.idle:
            self.idle.pop().kill()
