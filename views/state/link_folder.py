"""Screens of links as files of a folder, which several servers may share.

A file is called as its link. It begins with the times from which and until which it is kept, as two float64 of seconds;
what follows is the content. It is put into its place whole, so that no server reads a part of one.
"""

import os
import re
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_TIMES: Final = struct.Struct("<dd")
_NAME: Final = re.compile(r"[a-z2-7]{16}")


class _Entry(NamedTuple):
    made: float
    until: float
    path: Path
    size: int


def put(folder: Path, name: str, content: bytes, made: float, until: float, most: int) -> None:
    """Keep a content, drop those whose time is over, and the oldest until the others fit into `most` bytes.

    Raises:
        OSError: the folder cannot be written.
    """
    # A file of this kind can be read by its owner alone.
    handle, path = tempfile.mkstemp(dir=folder, prefix=".")
    os.close(handle)
    try:
        Path(path).write_bytes(packed(content, made, until))
        os.replace(path, folder / name)
    finally:
        Path(path).unlink(missing_ok=True)
    total = 0
    for entry in sorted(_entries(folder), reverse=True):
        is_over = entry.until < made
        total += 0 if is_over else entry.size
        if is_over or (entry.path.name != name and total > most):
            entry.path.unlink(missing_ok=True)


def get(folder: Path, name: str, at: float) -> bytes | None:
    """Return a content by its name; `None` if it is not kept, any more or at all.

    Raises:
        OSError: the folder cannot be read.
    """
    try:
        return unpacked((folder / name).read_bytes(), at) if is_name(name) else None
    except FileNotFoundError:
        return None


def is_name(name: str) -> bool:
    """Tell whether a link may be called so."""
    return _NAME.fullmatch(name) is not None


def packed(content: bytes, made: float, until: float) -> bytes:
    """Return a content with the times of its link."""
    return _TIMES.pack(made, until) + content


def unpacked(found: bytes, at: float) -> bytes | None:
    """Return the content of a link; `None` if its time is over, or this is none."""
    if len(found) < _TIMES.size or _TIMES.unpack_from(found)[1] < at:
        return None
    return found[_TIMES.size :]


def _entries(folder: Path) -> Iterator[_Entry]:
    for path in folder.iterdir():
        if not is_name(path.name):
            continue
        try:
            with path.open("rb") as file:
                head = file.read(_TIMES.size)
                size = os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            # Another server has dropped it.
            continue
        if len(head) == _TIMES.size:
            made, until = _TIMES.unpack(head)
            yield _Entry(made, until, path, size - _TIMES.size)
