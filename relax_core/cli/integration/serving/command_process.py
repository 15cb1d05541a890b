"""A process that carries out commands for a server: `python -m relax_core.cli.integration.serving.command_process FD`.

It reads and writes files in the folder of each request alone, and has the limits of a worker; programs run in a worker
of its own, which stays for the next request. It ends when the other end of socket FD is closed.
"""

import argparse
import contextlib
import io
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from relax_core import late
from relax_core.cli.command_line import parser
from relax_core.cli.integration.serving.exchange import (
    ANSWER_BYTES,
    MEANINGS,
    READY,
    Binary,
    File,
    Order,
    Outcome,
    Unanswered,
)
from relax_core.cli.terminal import BAD_USAGE, LIMIT, OutputError, UsageError, complain, complain_of
from relax_core.engine.limits import REQUEST_BYTES, Limits, lower, within_inherited
from relax_core.engine.process.client import Client, Ticket
from relax_core.engine.process.frames import read_frame, write_frame
from relax_core.engine.protocol import Failure, Progress, Request

R = TypeVar("R")

_STANDARD: Final = (0, 1)
_ORDER_BYTES: Final = 2 * REQUEST_BYTES
_TOO_LARGE: Final = f"error: The command printed and wrote more than {ANSWER_BYTES:,} B.\n"


class NotingClient(Client):
    """A client that keeps why there was no answer."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Failure] = []

    def request(
        self,
        message: Request[R],
        timeout: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        ticket: Ticket | None = None,
    ) -> R | Failure:
        """Send a message and wait for its reply; see `Client.request`."""
        found = super().request(message, timeout, progress, ticket)
        if isinstance(found, Failure):
            self.failures.append(found)
        return found


def carry_out(client: NotingClient, order: Order) -> Outcome:
    """Carry out a command in its folder."""
    client.failures.clear()
    folder = Path(order.folder)
    try:
        _write(folder, order.files)
    except OSError as error:
        words = f"error: the files cannot be put into one folder: {error.strerror}"
        return Outcome(BAD_USAGE, MEANINGS[BAD_USAGE], messages=words)
    os.chdir(folder)
    buffers = io.BytesIO(), io.BytesIO()
    printed, complained = map(_stream, buffers)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
        status = _status(client, order.arguments)
        printed.flush()
        complained.flush()
    text, messages = (buffer.getvalue().decode("utf-8") for buffer in buffers)
    files = dict(_written(folder, order.files))
    size = len(text) + len(messages) + sum(map(_size, files.values()))
    if size > ANSWER_BYTES:
        status, text, messages, files = LIMIT, "", _TOO_LARGE, {}
    results = _objects(text) if "--json" in order.arguments else None
    stopped = tuple(Unanswered(item.kind, item.title, item.message, item.problems) for item in client.failures)
    told = "" if results is not None else text
    return Outcome(status, MEANINGS[status], results, told, messages, stopped, files)


def _write(folder: Path, files: dict[str, File]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(content))


def _bytes(content: File) -> bytes:
    return content.base64 if isinstance(content, Binary) else content.encode("utf-8")


def _status(client: NotingClient, arguments: tuple[str, ...]) -> int:
    """Carry out a command, and return the exit status that the command line would end with."""
    try:
        options = parser(arguments[0]).parse_args(arguments)
        command: Callable[[Client, argparse.Namespace], int] = options.command
        return command(client, options)
    except SystemExit:
        return BAD_USAGE
    except UsageError as error:
        complain_of(error)
        return BAD_USAGE
    except OutputError as error:
        complain(f"error: cannot write the output: {error}")
        return BAD_USAGE
    except (late.NotLoadedError, MemoryError):
        complain("error: Out of memory. The process of the command may not have more than it has taken.")
        return LIMIT


def _stream(buffer: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", newline="\n")


def _objects(text: str) -> list[dict[str, Any]] | None:
    """Read what `--json` printed, an object per line; `None` if it is text, which some options print all the same."""
    try:
        return [msgspec.json.decode(line, type=dict[str, Any]) for line in text.splitlines() if line]
    except msgspec.MsgspecError:
        return None


def _written(folder: Path, given: dict[str, File]) -> Iterator[tuple[str, File]]:
    """Read what the command wrote."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        if name in given and content == _bytes(given[name]):
            continue
        try:
            yield name, content.decode("utf-8")
        except UnicodeDecodeError:
            yield name, Binary(content)


def _size(content: File) -> int:
    return len(content.base64) if isinstance(content, Binary) else len(content)


def serve(channel: socket.socket) -> None:
    """Carry out one command after the other, until nobody asks any more."""
    home = os.getcwd()
    client = NotingClient()
    with client:
        client.start()
        write_frame(channel, READY)
        while (body := read_frame(channel, _ORDER_BYTES)) is not None:
            try:
                found = carry_out(client, msgspec.msgpack.decode(body, type=Order))
            finally:
                os.chdir(home)
            write_frame(channel, msgspec.msgpack.encode(found))


def main() -> None:
    """Serve at the descriptor that is named, with the limits of a worker."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    for number in _STANDARD:
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    lower(resource.RLIMIT_AS, within_inherited(Limits()).memory_bytes)
    lower(resource.RLIMIT_FSIZE, ANSWER_BYTES)
    # Whoever asked may have gone meanwhile.
    with contextlib.suppress(BrokenPipeError):
        serve(channel)


if __name__ == "__main__":
    main()
