"""The files of a source: of a folder, of a zip, or as given; what is read of them all together is bounded."""

import os
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Final, NoReturn, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine import archives
from relax_core.engine.files import FileTooLargeError, UnreadableFileError, printable, read_file, read_within
from relax_core.engine.pipelines.recognize import decoded
from relax_core.present.measures import bytes_text

_ERROR_LIMIT: Final = 400
FILE_LIMIT: Final = 20_000
TEXT_LIMIT_BYTES: Final = 256 << 20
"""The limit on the texts of one source together."""
ARRAY_LIMIT_BYTES: Final = 1 << 30
"""The limit on the arrays of one source together."""
_CUT_SHORT: Final = "it may have been cut short; copy it again"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a source: its name, with `/`, and how to read at most so many bytes of it."""

    name: str
    read: Callable[[int], bytes]

    @property
    def file_name(self) -> str:
        """The name without folders."""
        return self.name.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folders of the name, with `/` at the end; "" if there are none."""
        return self.name[: len(self.name) - len(self.file_name)]


class Room:
    """What may still be read of a source; equal texts are kept once."""

    def __init__(self, text_bytes: int = TEXT_LIMIT_BYTES, array_bytes: int = ARRAY_LIMIT_BYTES) -> None:
        self.array_bytes = array_bytes
        self._text_bytes = text_bytes
        self._limit = text_bytes
        self._texts: dict[str, str] = {}

    def text(self, entry: Entry) -> str:
        """Read a text.

        Raises:
            CompileError: it cannot be read, or the texts are too large together.
        """
        text = decoded(self.bytes_of(entry))
        return self._texts.setdefault(text, text)

    def bytes_of(self, entry: Entry) -> bytes:
        """Read a file that counts as text."""
        content = entry.read(self._text_bytes + 1)
        self._text_bytes -= len(content)
        if self._text_bytes < 0:
            too_large(f"the texts up to {shown(entry.name)}", self._limit)
        return content


def shown(name: str) -> str:
    """Return a file name for a message: printable, and cut if it is long."""
    return archives.escaped(printable(name))


def shown_error(words: str) -> str:
    """Return what another compiler stopped with, for a message: printable, and cut if it is very long."""
    return archives.escaped(words, _ERROR_LIMIT)


def fail(code: str, message: str, hint: str = "") -> NoReturn:
    """Refuse a source.

    Raises:
        CompileError: always.
    """
    raise CompileError((Diagnostic(code, message, hint=hint),))


def too_large(what: str, limit_bytes: int) -> NoReturn:
    """Refuse what is larger than a limit."""
    fail("PL002", f"{what} are too large: at most {bytes_text(limit_bytes)} are read")


def file_entry(path: str, name: str = "") -> Entry:
    """Return a file that is on disk."""

    def read(limit_bytes: int) -> bytes:
        try:
            return read_file(path, limit_bytes)
        except FileTooLargeError as error:
            fail("PL002", str(error))
        except UnreadableFileError as error:
            fail("PL001", str(error))

    return Entry(name or printable(path), read)


def given_entry(name: str, content: bytes) -> Entry:
    """Return a file whose content is at hand, such as an upload."""

    def read(limit_bytes: int) -> bytes:
        if len(content) > limit_bytes:
            too_large(f"the bytes of {shown(name)}", limit_bytes)
        return content

    return Entry(name, read)


def folder_entries(path: str) -> tuple[Entry, ...]:
    """Return the files of a folder, and of folders in it, but for hidden ones.

    Raises:
        CompileError: PL001 if it cannot be read, PL002 if it holds too many files.
    """
    found: list[Entry] = []
    stack = [(path, "", 0)]
    while stack:
        folder, prefix, depth = stack.pop()
        try:
            with os.scandir(folder) as items:
                for item in items:
                    if item.name.startswith("."):
                        continue
                    if item.is_dir(follow_symlinks=False):
                        if depth < 2:
                            stack.append((item.path, f"{prefix}{item.name}/", depth + 1))
                    else:
                        found.append(file_entry(item.path, printable(f"{prefix}{item.name}")))
                    if len(found) + len(stack) > FILE_LIMIT:
                        fail("PL002", f"{printable(path)} holds too many files: at most {FILE_LIMIT:,} are read")
        except OSError as error:
            fail("PL001", f"cannot read {printable(folder)}: {error.strerror}")
    return tuple(sorted(found, key=lambda entry: entry.name))


def zip_entries(name: str, content: bytes) -> tuple[Entry, ...]:
    """Return the members of a zip. Nothing is extracted, and a member is decompressed up to what may be read of it.

    Raises:
        CompileError: PL003 if it is damaged, PL002 if it holds too many members.
    """
    try:
        opened = archives.open_zip(content, FILE_LIMIT)
        members = opened.infolist()
    except archives.TooManyMembersError as error:
        fail("PL002", f"{shown(name)} holds too many members: {error}")
    except archives.DAMAGED as error:
        fail("PL003", f"{shown(name)} is damaged: {archives.words_of(error)}", _CUT_SHORT)
    twice = next((item for item, count in Counter(info.filename for info in members).items() if count > 1), None)
    if twice is not None:
        fail("PL003", f"{shown(name)} has two members {shown(twice)}")

    def entry(info: zipfile.ZipInfo) -> Entry:
        return Entry(info.filename, lambda limit: _member(opened, info, name, limit))

    return tuple(entry(info) for info in members if not info.is_dir() and "__MACOSX" not in info.filename)


def _member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limit_bytes: int) -> bytes:
    title = f"{shown(info.filename)} in {shown(name)}"
    if info.file_size > limit_bytes:
        left = f"at most {bytes_text(limit_bytes)} are left to read"
        fail("PL002", f"{title} claims {info.file_size:,} bytes, and {left}")
    try:
        with opened.open(info) as file:
            return read_within(cast("BinaryIO", file), limit_bytes, title)
    except UnreadableFileError as error:
        fail("PL002", str(error))
    except archives.DAMAGED as error:
        fail("PL003", f"{title} is damaged: {archives.words_of(error)}", _CUT_SHORT)
