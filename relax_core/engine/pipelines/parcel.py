"""A recorded pipeline as one value that is sent: what a user uploaded or named, small enough for a request."""

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.requests import (
    Parcel,
)
from relax_core.engine.files import printable
from relax_core.engine.limits import REQUEST_BYTES
from relax_core.engine.pipelines.entries import (
    FILE_LIMIT,
    TEXT_LIMIT_BYTES,
    fail,
    file_entry,
    folder_entries,
    shown,
    too_large,
)
from relax_core.present.measures import bytes_text

# A request holds a program's inputs besides.
PARCEL_LIMIT_BYTES: Final = REQUEST_BYTES // 4 * 3
_ZIP: Final = b"PK"
_LONGEST_NAME: Final = 400
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)


def parcel_of(files: Sequence[tuple[str, bytes]]) -> Parcel:
    """Pack files into one; what is a zip already, such as a trace, is left as it is.

    Raises:
        CompileError: PL001: there is no file. PL002: they are too large, packed or not.
    """
    if not files:
        fail("PL001", "no file is given")
    name = shown(files[0][0]) if len(files) == 1 else f"{len(files)} files"
    require_room(name, len(files), sum(len(content) for _, content in files))
    content = files[0][1] if len(files) == 1 and files[0][1].startswith(_ZIP) else _zipped(files)
    if len(content) > PARCEL_LIMIT_BYTES:
        limit = bytes_text(PARCEL_LIMIT_BYTES)
        hint = "record a smaller model, or open it on the command line: python -m relax_core bisect PATH"
        message = f"{name} packed is {bytes_text(len(content))}, and at most {limit} are opened in the app"
        raise CompileError((Diagnostic("PL002", message, hint=hint),))
    return Parcel(name, content)


def require_room(name: str, count: int, size_bytes: int) -> None:
    """Refuse files that are too many, or too large together, before they are read.

    Raises:
        CompileError: PL002.
    """
    if count > FILE_LIMIT:
        fail("PL002", f"{name} are too many: at most {FILE_LIMIT:,} are read")
    if size_bytes > TEXT_LIMIT_BYTES:
        too_large(f"the bytes of {name}", TEXT_LIMIT_BYTES)


def parcel_at(path: str) -> Parcel:
    """Pack a file or a folder that is on this machine.

    Raises:
        CompileError: PL001, PL002: it cannot be read, or is too large.
    """
    if "\0" in path or not Path(path).is_dir():
        entries = (file_entry(path, Path(path).name if "\0" not in path else ""),)
    else:
        entries = folder_entries(path)
    if not entries:
        fail("PL001", f"{printable(path)} is empty")
    left = TEXT_LIMIT_BYTES
    files: list[tuple[str, bytes]] = []
    for entry in entries:
        content = entry.read(left)
        left -= len(content)
        files.append((entry.name, content))
    made = parcel_of(files)
    return msgspec.structs.replace(made, name=printable(Path(path).name or path))


def _zipped(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Return files as a zip; of two with one name the later one gets another."""
    target = io.BytesIO()
    names: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=zlib.Z_BEST_SPEED) as made:
        for number, (given, content) in enumerate(files):
            name = _member_name(given) or f"file_{number}"
            if name in names:
                stem, dot, ending = name.rpartition(".")
                name = f"{stem} {number}{dot}{ending}"
            names.add(name)
            made.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _member_name(given: str) -> str:
    """Return a name that a zip can hold: it ends at a zero byte there, and its length is a number of two bytes."""
    name = printable(given).replace("\0", "?").strip("/")
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}{name[-_LONGEST_NAME // 2 :]}"
