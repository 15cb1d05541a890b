"""Compiled objects on disk, by the content that they were made of: shared by processes, bounded in size.

A file is named by its key, which holds everything that the object depends on. It is written beside its place and
renamed, so that a reader sees all of it or nothing; its digest tells one that was damaged later, which is dropped.
"""

import logging
import os
import stat
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Final

from relax_core.jit.compilation.cache_directory import cache_directory

LIMIT_BYTES: Final = 256 << 20

_MAGIC = b"RSOBJ1\n"
_DIGEST_BYTES = 16
_PART = ".part"
# Temporary files and the times of last use are looked at to the hour only.
_HOUR_SECONDS = 3600
# Objects are dropped when the limit is passed, down to this share of it; how much is there is looked up again after
# that part of the limit was written.
_KEPT_SHARE, _WRITTEN_SHARE = 7 / 8, 1 / 16

_log = logging.getLogger(__name__)


def open_cache(*, is_writable: bool) -> "ObjectCache | None":
    """Return the cache in the user's directory for such, `None` if it is switched off or cannot be trusted."""
    directory = cache_directory()
    if directory is None:
        return None
    if is_writable:
        with suppress(OSError):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return ObjectCache(directory, is_writable=is_writable) if _is_trusted(directory) else None


def _is_trusted(directory: Path) -> bool:
    """Tell whether only this user writes there: what is read from it is run."""
    try:
        found = directory.stat()
    except OSError:
        return False
    is_private = found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not is_private:
        _log.warning("The cache %s is not used, since others may write to it", directory)
    return is_private and stat.S_ISDIR(found.st_mode)


class ObjectCache:
    """Objects by key. With `is_writable` off it only reads; an error of the file system is a miss."""

    def __init__(self, directory: Path, *, is_writable: bool = True, limit_bytes: int = LIMIT_BYTES) -> None:
        self.directory = directory
        self.is_writable = is_writable
        self._root = str(directory)
        self._limit_bytes = limit_bytes
        self._written_bytes = limit_bytes

    def get(self, key: str) -> bytes | None:
        """Return the object of `key`, `None` if it is not there or damaged."""
        found = _read(f"{self._root}/{key[:2]}/{key[2:]}", is_used=self.is_writable)
        if found is None:
            return None
        start = len(_MAGIC) + _DIGEST_BYTES
        image = found[start:]
        if found[:start] == _MAGIC + _digest(key, image):
            return image
        _log.warning("A damaged object was dropped from the cache: %s", self.path(key))
        if self.is_writable:
            with suppress(OSError):
                self.path(key).unlink()
        return None

    def put(self, key: str, image: bytes) -> None:
        """Keep an object; one that takes a large part of the whole cache is not kept."""
        if not self.is_writable or len(image) > self._limit_bytes // 8:
            return
        path = self.path(key)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            number, name = tempfile.mkstemp(_PART, dir=path.parent)
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(_MAGIC + _digest(key, image) + image)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._written_bytes += len(image)
            if self._written_bytes > self._limit_bytes * _WRITTEN_SHARE:
                self._trim()

    def path(self, key: str) -> Path:
        """Return where the object of `key` lies, if it is there."""
        return self.directory / key[:2] / key[2:]

    def _trim(self) -> None:
        """Drop what was used longest ago, until the rest fits."""
        self._written_bytes = 0
        found = [(path, state) for path in self.directory.glob("*/*") if (state := _state(path)) is not None]
        total = sum(state.st_size for _, state in found)
        is_full = total > self._limit_bytes
        for path, state in sorted(found, key=lambda item: item[1].st_mtime):
            is_left_over = path.suffix == _PART and state.st_mtime < time() - _HOUR_SECONDS
            if is_left_over or (is_full and total > self._limit_bytes * _KEPT_SHARE):
                with suppress(OSError):
                    path.unlink()
                    total -= state.st_size


def _state(path: Path) -> os.stat_result | None:
    """Return what is known of a file, `None` for one that another process has dropped meanwhile."""
    try:
        return path.lstat()
    except OSError:
        return None


def _read(name: str, *, is_used: bool) -> bytes | None:
    """Return what a file holds; if it `is_used`, let its time say so. The first call of a kernel waits for this."""
    try:
        number = os.open(name, os.O_RDONLY)
    except OSError:
        return None
    try:
        state = os.fstat(number)
        if is_used and state.st_mtime < time() - _HOUR_SECONDS:
            os.utime(number)
        return os.read(number, state.st_size)
    except OSError:
        return None
    finally:
        os.close(number)


def _digest(key: str, image: bytes) -> bytes:
    return blake2b(key.encode() + image, digest_size=_DIGEST_BYTES).digest()
