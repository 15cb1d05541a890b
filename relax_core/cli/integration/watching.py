"""A command that is carried out again whenever a file that it reads has changed."""

import argparse
import glob
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from relax_core.cli.terminal import BAD_USAGE, UsageError, complain, complain_of, say
from relax_core.diagnostics import plural

_READ: Final = (
    "constants",
    "file",
    "files",
    "input_files",
    "inputs",
    "more",
    "pass_file",
    "rules",
    "table",
    "vocabulary",
)
"""The arguments that name files which commands read."""
_LOOK_SECONDS: Final = 0.2
_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"

Stamp = tuple[tuple[str, int, int], ...]
"""Path, time of the last change and size of each file."""


def repeat(once: Callable[[], int], options: argparse.Namespace, look_seconds: float = _LOOK_SECONDS) -> int:
    """Carry out a command, and again after each change of its files, until Ctrl-C; return its last status.

    Raises:
        UsageError: a file cannot be watched.
    """
    paths = watched(options)
    status = BAD_USAGE
    try:
        while True:
            stamp = stamp_of(paths)
            if sys.stdout.isatty():
                sys.stdout.write(_CLEAR)
            try:
                status = once()
            except UsageError as error:
                complain_of(error)
                status = BAD_USAGE
            words = paths[0] if len(paths) == 1 else plural(len(paths), "file")
            complain(f"[status {status}; {words} watched since {time.strftime('%H:%M:%S')}, Ctrl-C ends]")
            while stamp_of(paths) == stamp:
                time.sleep(look_seconds)
    except KeyboardInterrupt:
        say("")
        return status


def watched(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the paths of the files that a command reads.

    Raises:
        UsageError: one of them is standard input, which comes once.
    """
    found: list[str] = []
    for name in _READ:
        given = getattr(options, name, None) or ()
        found += (given,) if isinstance(given, str) else given
    if "-" in found:
        raise UsageError("standard input cannot be watched: it comes once")
    return tuple(found)


def stamp_of(paths: tuple[str, ...]) -> Stamp:
    """Return what changes when one of the files does, or one in one of the folders; a file that is gone has none."""
    stamps: list[tuple[str, int, int]] = []
    for path in paths:
        found = map(str, Path(path).rglob("*")) if Path(path).is_dir() else glob.glob(path, recursive=True) or [path]
        inside = sorted(found)
        for file in inside:
            try:
                found = os.stat(file)
            except OSError:
                continue
            stamps.append((file, found.st_mtime_ns, found.st_size))
    return tuple(stamps)
