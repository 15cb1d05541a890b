"""Zip archives that somebody gave: opened without trusting what they claim. Nothing is extracted to disk."""

import io
import lzma
import struct
import zipfile
import zlib
from typing import Final

DAMAGED: Final = (
    ValueError,
    TypeError,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    OverflowError,
    # An unknown or encrypted compression; `NotImplementedError` is one of these.
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What Python's readers of zips and compressed data raise for bytes that are none."""
_DIRECTORY_LIMIT_BYTES: Final = 8 << 20
_TAIL_BYTES: Final = (1 << 16) + 100
_NAME_LIMIT: Final = 120
_WORDS_LIMIT: Final = 200


class TooManyMembersError(Exception):
    """A zip holds more members than may be read; the message has the limit."""


def open_zip(content: bytes, member_limit: int) -> zipfile.ZipFile:
    """Open a zip of at most `member_limit` members.

    Raises:
        TooManyMembersError: it has more.
        DAMAGED: it is none.
    """
    # Python reads the whole directory at once, before its length can be asked for.
    if _directory_bytes(content) > _DIRECTORY_LIMIT_BYTES:
        raise TooManyMembersError(f"at most {member_limit:,} members are read")
    opened = zipfile.ZipFile(io.BytesIO(content))
    if (count := len(opened.infolist())) > member_limit:
        raise TooManyMembersError(f"at most {member_limit:,} of {count:,} members are read")
    return opened


def _directory_bytes(content: bytes) -> int:
    """Return the size of a zip's directory as its end announces it, the larger one if there are two announcements."""
    tail = content[-_TAIL_BYTES:]
    sizes = [0]
    at = tail.rfind(b"PK\x05\x06")
    if 0 <= at <= len(tail) - 16:
        size = int.from_bytes(tail[at + 12 : at + 16], "little")
        sizes.append(0 if size == 0xFFFFFFFF else size)
    at = tail.rfind(b"PK\x06\x06")
    if 0 <= at <= len(tail) - 48:
        sizes.append(int.from_bytes(tail[at + 40 : at + 48], "little"))
    # What announces more than there is will be refused as damaged.
    return max(size if size <= len(content) else 0 for size in sizes)


def escaped(name: str, limit: int = _NAME_LIMIT) -> str:
    """Return the name of a member for a message: in ASCII, and cut if it is long."""
    text = name.encode("unicode_escape").decode("ascii")
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def words_of(error: Exception) -> str:
    """Return what an error of `DAMAGED` says, in one line."""
    words = " ".join(str(error.args[0] if isinstance(error, KeyError) and error.args else error).split())
    return words[:_WORDS_LIMIT] or type(error).__name__
