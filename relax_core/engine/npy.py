"""Read arrays from .npy files and .npz archives, checking each header before memory is allocated for it.

A few bytes can claim any size: an array of terabytes, or a compressed member of gigabytes of zeros. Such a file is
refused with the name of the member and its claim.
"""

import ast
import io
import math
import struct
import zipfile
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NoReturn, cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine import archives
from relax_core.present.measures import bytes_text

Array = np.ndarray[Any, Any]

LIMIT_BYTES: Final = 512 << 20
"""The limit on the arrays of one archive together."""
_MEMBER_LIMIT: Final = 20_000
_HEADER_LIMIT_BYTES: Final = 10_000
_PART_BYTES: Final = 1 << 20
_MAGIC: Final = b"\x93NUMPY"
_LENGTHS: Final = MappingProxyType({1: struct.Struct("<H"), 2: struct.Struct("<I"), 3: struct.Struct("<I")})
# A header is text in the syntax of Python.
_DAMAGED = (*archives.DAMAGED, SyntaxError)


def read_npy(content: bytes) -> Array:
    """Read the array of a .npy file.

    Raises:
        RunError: EN004 if it cannot be read, EN016 if the array is too large.
    """
    if content.startswith(b"PK"):
        _fail("EN004", "the file holds several arrays", "save one by `np.save`")
    return _read("the file", io.BytesIO(content), len(content), LIMIT_BYTES)


def read_npz(archive: bytes) -> dict[str, Array]:
    """Read the arrays of an .npz archive by name.

    Raises:
        RunError: EN004 if it cannot be read, EN016 if its arrays are too large.
    """
    try:
        opened = archives.open_zip(archive, _MEMBER_LIMIT)
    except archives.TooManyMembersError as error:
        _fail("EN004", f"the archive has too many members: {error}")
    except MemoryError:
        _no_room("the archive")
    except _DAMAGED as error:
        _fail("EN004", f"the archive cannot be read: {archives.words_of(error)}")
    found: dict[str, Array] = {}
    room = LIMIT_BYTES
    with opened:
        for info in opened.infolist():
            name = info.filename.removesuffix(".npy")
            title = f"`{archives.escaped(info.filename)}` in the archive"
            if name in found:
                _fail("EN004", f"the archive has two members `{archives.escaped(info.filename)}`")
            if info.file_size > room:
                _too_large(title, info.file_size)
            found[name] = array = _member(opened, info, title, room)
            room -= array.nbytes
    return found


def _member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, title: str, room: int) -> Array:
    try:
        with opened.open(info) as file:
            return _read(title, cast("BinaryIO", file), info.file_size, room)
    except MemoryError:
        _no_room(title)
    except _DAMAGED as error:
        _fail("EN004", f"{title} cannot be read: {archives.words_of(error)}")


def _read(title: str, file: BinaryIO, size_bytes: int, room: int) -> Array:
    """Read an array from a file that claims to hold `size_bytes`, if it fits into `room`."""
    try:
        dtype, is_column_major, shape, header_bytes = _header(title, file)
        count = math.prod(shape)
        claimed = count * max(dtype.itemsize, 1)
        if claimed > room:
            _too_large(title, claimed)
        held = size_bytes - header_bytes
        if count * dtype.itemsize > held:
            _fail("EN004", f"{title} claims {count * dtype.itemsize:,} bytes of data, and holds {max(held, 0):,}")
        flat = np.zeros(count, dtype) if dtype.itemsize == 0 else _bytes(file, claimed).view(dtype)
        return flat.reshape(shape, order="F" if is_column_major else "C")
    except MemoryError:
        _no_room(title)
    except _DAMAGED as error:
        _fail("EN004", f"{title} cannot be read: {archives.words_of(error)}")


def _header(title: str, file: BinaryIO) -> "tuple[np.dtype[Any], bool, tuple[int, ...], int]":
    """Return dtype, whether it is in column-major order, shape, and the offset of the data."""
    start = file.read(len(_MAGIC) + 2)
    if not start.startswith(_MAGIC):
        _fail("EN004", f"{title} is no .npy array", "`numpy.savez(file, in_0=..., in_1=...)` writes one")
    layout = _LENGTHS.get(start[-2])
    if layout is None:
        raise ValueError(f"its format has version {start[-2]}")
    (length,) = layout.unpack(file.read(layout.size))
    if length > _HEADER_LIMIT_BYTES:
        raise ValueError(f"its header has {length:,} bytes")
    text = file.read(length).decode("utf-8" if start[-2] == 3 else "latin-1")
    match _parsed(text):
        case {"descr": descr, "fortran_order": bool() as is_column_major, "shape": tuple() as sizes}:  # pyright: ignore[reportUnknownVariableType]  # a header may hold anything
            dtype = np.lib.format.descr_to_dtype(cast("Any", descr))
            shape = cast("tuple[object, ...]", sizes)
        case _:
            raise ValueError("its header does not say what it holds")
    if dtype.hasobject:
        _fail("EN004", f"{title} holds Python objects, which are never unpickled", "save an array of numbers")
    dims = tuple(item for item in shape if type(item) is int and item >= 0)
    if len(dims) != len(shape):
        raise ValueError("its shape is none")
    return dtype, is_column_major, dims, len(start) + layout.size + length


def _parsed(text: str) -> object:
    try:
        return ast.literal_eval(text.strip())
    except (RecursionError, MemoryError):
        # Python's parser raises these for brackets that are nested too deeply.
        raise ValueError("its header is nested too deeply") from None


def _bytes(file: BinaryIO, count: int) -> Array:
    """Read exactly `count` bytes straight into their buffer, since decompressing first would hold them twice."""
    found = np.empty(count, np.uint8)
    at = 0
    while at < count:
        part = file.read(min(_PART_BYTES, count - at))
        if not part:
            raise EOFError("it ends too early")
        found[at : at + len(part)] = np.frombuffer(part, np.uint8)
        at += len(part)
    # The checksum of a member is verified only when its end is read.
    file.read(1)
    return found


def _too_large(title: str, claimed: int) -> NoReturn:
    words = f"{title} claims {claimed:,} bytes, and all arrays together may have {bytes_text(LIMIT_BYTES)}"
    _fail("EN016", words)


def _no_room(title: str) -> NoReturn:
    _fail("EN016", f"{title} takes more memory than the worker has left")


def _fail(code: str, message: str, hint: str = "") -> NoReturn:
    raise RunError((Diagnostic(code, message, None, hint),))
