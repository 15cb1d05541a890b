"""Reading files that somebody names: only what is a file, and no more of it than a limit."""

import errno
import os
import stat
from typing import BinaryIO

from relax_core.present.measures import bytes_text

_NO_FILES = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_PART_BYTES = 1 << 20


class UnreadableFileError(Exception):
    """A file cannot be read; the message is a sentence that names it."""


class FileTooLargeError(UnreadableFileError):
    """A file has more bytes than may be read."""


class NoFileLeftError(UnreadableFileError):
    """This process, or the machine, may open no more files: nothing is wrong with the one that was named."""


def printable(text: str) -> str:
    """Return a file name as text: bytes of it that are no UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode() or "a file without a name"


def read_file(path: str, limit_bytes: int) -> bytes:
    """Read a file of at most `limit_bytes`.

    Raises:
        UnreadableFileError: it cannot be read, is larger, or is no file, such as a device, which may have no end.
        NoFileLeftError: no more files may be open.
    """
    try:
        with open(path, "rb", opener=_opener) as file:
            return read_within(file, limit_bytes, printable(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        is_limit = isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
        kind = NoFileLeftError if is_limit else UnreadableFileError
        raise kind(f"cannot read {printable(path)}: {reason}") from None


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


def read_within(file: BinaryIO, limit_bytes: int, name: str) -> bytes:
    """Read an open file to its end.

    Raises:
        UnreadableFileError: it has more than `limit_bytes`.
    """
    # In parts: `read(n)` would ask for all of the memory before it knows how much there is.
    parts: list[bytes] = []
    count = 0
    while part := file.read(_PART_BYTES):
        parts.append(part)
        count += len(part)
        if count > limit_bytes:
            raise FileTooLargeError(f"{name} is too large: at most {bytes_text(limit_bytes)} are read")
    return b"".join(parts)
