"""What all commands share: files in, text out, and how a failure ends the process."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from relax_core.engine.protocol import Failure, Program, Request

R = TypeVar("R")

DIAGNOSED, BAD_USAGE, LIMIT, INTERRUPTED = 1, 2, 3, 130
TABLE_HELP = "a JSON file of patterns and supported operators, for the passes that partition"
FILE_HELP = "a TVMScript or Relay file; - reads standard input"
PASSES_HELP = "passes with options, such as 'LambdaLift, LegalizeOps'"
_STANDARD_INPUT = "-"


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


def read_program(file: str, *, pipeline: str | None = None, entry: str = "", table: str | None = None) -> Program:
    """Read a program and its table; `-` is standard input.

    Raises:
        UsageError: a file cannot be read.
    """
    name = "<stdin>" if file == _STANDARD_INPUT else file
    return Program(read_text(file), name, pipeline=pipeline, entry=entry, tables=read_text(table) if table else "")


def read_text(file: str) -> str:
    """Read a file of UTF-8 text; `-` is standard input."""
    raw = sys.stdin.buffer.read() if file == _STANDARD_INPUT else read_bytes(file)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        name = "<stdin>" if file == _STANDARD_INPUT else file
        raise UsageError(f"{name} is not UTF-8 text: byte {error.start}") from None


def read_bytes(path: str) -> bytes:
    """Read a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


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
    """Print to standard output."""
    sys.stdout.write(_printable(text, sys.stdout.encoding))
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print to standard error."""
    sys.stderr.write(_printable(text, sys.stderr.encoding))
    sys.stderr.flush()


def _printable(text: str, encoding: str | None) -> str:
    """End `text` with one newline, and escape what the stream's encoding has no character for."""
    text = text if text.endswith("\n") else f"{text}\n"
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)
