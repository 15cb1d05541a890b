"""What all commands share: files in, text out, and how a failure ends the process."""

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES
from relax_core.engine.protocol import Failure, Program, Request
from relax_core.present.measures import bytes_text

R = TypeVar("R")

DIAGNOSED, BAD_USAGE, LIMIT, INTERRUPTED = 1, 2, 3, 130
TABLE_HELP = "a JSON file of patterns and supported operators, for the passes that partition"
FILE_HELP = "a TVMScript or Relay file; - reads standard input"
PASSES_HELP = "passes with options, such as 'LambdaLift, LegalizeOps'"
_STANDARD_INPUT = "-"
ARCHIVE_BYTES: Final = 1024 * MEGABYTE
"""Size of the largest archive that is read; one for the worker has to fit into a request as well."""
_NO_FILES = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Engine(Protocol):
    """A worker's client or a session in this process."""

    def request(self, message: Request[R]) -> R | Failure:
        """Answer a request."""
        ...


Run = Callable[[Engine, argparse.Namespace], int]


class Commands(Protocol):
    """Adds a command: its name, what it does, and how it is carried out."""

    def __call__(self, name: str, what: str, run: Run) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        ...


class UsageError(Exception):
    """The command cannot be carried out as given."""


class OutputError(Exception):
    """What a command prints cannot be written."""


def read_program(file: str, *, pipeline: str | None = None, entry: str = "", table: str | None = None) -> Program:
    """Read a program and its table; `-` is standard input.

    Raises:
        UsageError: a file cannot be read.
    """
    name = "<stdin>" if file == _STANDARD_INPUT else printable(file)
    return Program(read_text(file), name, pipeline=pipeline, entry=entry, tables=read_text(table) if table else "")


def read_text(file: str) -> str:
    """Read a file of UTF-8 text; `-` is standard input."""
    name = "<stdin>" if file == _STANDARD_INPUT else printable(file)
    raw = _standard_input() if file == _STANDARD_INPUT else read_bytes(file, REQUEST_BYTES)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: byte {error.start}") from None


def _standard_input() -> bytes:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        raise UsageError("cannot read <stdin>: it is closed")
    try:
        return _within(sys.stdin.buffer, REQUEST_BYTES, "<stdin>")
    except OSError as error:
        raise UsageError(f"cannot read <stdin>: {error.strerror}") from None


def read_bytes(path: str, limit_bytes: int = ARCHIVE_BYTES) -> bytes:
    """Read a file of at most `limit_bytes`.

    Raises:
        UsageError: it cannot be read, is larger, or is no file, such as a device, which may have no end.
    """
    try:
        with open(path, "rb", opener=_opener) as file:
            return _within(file, limit_bytes, printable(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"cannot read {printable(path)}: {reason}") from None


def _opener(path: str, flags: int) -> int:
    """Open a file that has an end. A pipe of the shell, `<(command)`, has one as well."""
    is_pipe_of_shell = path.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/"))
    # Without O_NONBLOCK a pipe that nobody writes to would be waited for, and some files of /proc as well.
    descriptor = os.open(path, flags if is_pipe_of_shell else flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    what = next((words for test, words in _NO_FILES if test(mode)), None)
    if what is not None and not (is_pipe_of_shell and stat.S_ISFIFO(mode)):
        os.close(descriptor)
        raise OSError(0, f"it is {what}, not a file")
    return descriptor


def printable(text: str) -> str:
    """Return a file name as text: bytes of it that are no UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode() or "a file without a name"


def _within(file: BinaryIO, limit_bytes: int, name: str) -> bytes:
    # In parts: `read(n)` would ask for all of the memory before it knows how much there is.
    parts: list[bytes] = []
    count = 0
    while part := file.read(1 << 20):
        parts.append(part)
        count += len(part)
        if count > limit_bytes:
            raise UsageError(f"{name} is too large: at most {bytes_text(limit_bytes)} are read")
    return b"".join(parts)


def write_bytes(path: str, content: bytes) -> None:
    """Write a file."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def failed(failure: Failure) -> int:
    """Print a failure and return the exit status for it."""
    complain(failure.rendered or f"error: {failure.title}. {failure.message}".rstrip())
    return DIAGNOSED if failure.kind in ("diagnosed", "internal") else LIMIT


def say(text: str) -> None:
    """Print to standard output.

    Raises:
        BrokenPipeError: nobody reads any more.
        OutputError: the output cannot be written.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        raise OutputError("it is closed")
    try:
        sys.stdout.write(_printable(text, sys.stdout.encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


def complain(text: str) -> None:
    """Print to standard error; if that cannot be written either, the exit status has to do."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it was closed when this process started
        with contextlib.suppress(OSError):
            sys.stderr.write(_printable(text, sys.stderr.encoding))
            sys.stderr.flush()


def _printable(text: str, encoding: str | None) -> str:
    """End `text` with one newline, and escape what the stream's encoding has no character for."""
    text = text if text.endswith("\n") else f"{text}\n"
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)
