"""Screens that are kept on this server, so that a short link leads to each of them for a stated time.

A link is known by its content: the same screen has the same link, and nobody guesses one that they were not given.
"""

import base64
import os
import sqlite3
import zlib
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from views.state import link_bucket, link_folder
from views.state.link_bucket import SCHEME, Bucket, bucket_of

VARIABLE: Final = "RELAXSCOPE_LINKS"
"""Environment variable with the file of the links, or with a folder or a bucket, `s3://bucket/prefix`, that several
servers share; `off` or nothing for no links."""
DAYS_VARIABLE: Final = "RELAXSCOPE_LINK_DAYS"
"""Environment variable with the number of days that a link is kept."""
DAYS: Final = 90
LARGEST_SCREEN: Final = 16 << 20
"""Bytes of a screen, compressed; an archive of inputs may have as many."""
LARGEST_STORE: Final = 256 << 20
"""Bytes of all screens together; the oldest make room for new ones."""
# Of what is unpacked, so that a damaged file cannot fill the memory.
_LARGEST_UNPACKED: Final = 128 << 20
_OFF: Final = ("", "0", "off")
_NAME_BYTES: Final = 10
NAME_LENGTH: Final = 16
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS screens (name TEXT PRIMARY KEY, made REAL NOT NULL, until REAL NOT NULL, content BLOB)"
)


class LinkError(Exception):
    """Why a screen is not kept."""


class KeptScreen(msgspec.Struct, frozen=True):
    """All that a screen is made of: more than an address holds."""

    values: dict[str, str | int]
    """The fields of the selection that are not as they are by default."""
    opened: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    """The groups that were opened in the graph of each page."""
    inputs: bytes | None = None
    """The archive of the inputs, if a file was given."""


class KeptLink(msgspec.Struct, frozen=True):
    """A link, by the name of its screen, and when it ends."""

    name: str
    until: datetime


def links_place(environment: Mapping[str, str] = os.environ) -> Path | Bucket | None:
    """Return the file, folder or bucket of the links, by default a file in the user's directory for data.

    `None` if links are switched off.
    """
    chosen = environment.get(VARIABLE)
    if chosen is not None and chosen.strip().lower() in _OFF:
        return None
    if chosen:
        return bucket_of(chosen) if chosen.startswith(SCHEME) else Path(chosen)
    try:
        home = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError:
        return None
    return Path(home) / "relaxscope" / "links.sqlite"


def days_kept(environment: Mapping[str, str] = os.environ) -> int:
    """Return for how many days a link is kept."""
    given = environment.get(DAYS_VARIABLE, "")
    return int(given) if given.isascii() and given.isdigit() and 0 < int(given) <= 36_500 else DAYS


def keep(screen: KeptScreen, place: Path | Bucket, now: datetime | None = None, most: int = LARGEST_STORE) -> KeptLink:
    """Keep a screen, from now on for as long as links are kept, and return its link.

    All screens together have at most `most` bytes, but in a bucket. A path is a folder if there is one of that name.

    Raises:
        LinkError: it is too large, or the place cannot be written.
    """
    content = zlib.compress(msgspec.msgpack.encode(screen, order="sorted"), 9)
    if len(content) > LARGEST_SCREEN:
        size = f"{len(content) / (1 << 20):.0f} MB"
        raise LinkError(f"this screen has {size} with its inputs, and a link holds {LARGEST_SCREEN >> 20} MB")
    made = now or datetime.now(UTC)
    link = KeptLink(_name(content), made + timedelta(days=days_kept()))
    if isinstance(place, Bucket):
        with _said("bucket"):
            link_bucket.put(place, link.name, content, made.timestamp(), link.until.timestamp())
        return link
    if place.is_dir():
        with _said("folder"):
            link_folder.put(place, link.name, content, made.timestamp(), link.until.timestamp(), most)
        return link
    with _opened(place) as store:
        store.execute("DELETE FROM screens WHERE until < ?", (made.timestamp(),))
        row = (link.name, made.timestamp(), link.until.timestamp(), content)
        store.execute("INSERT OR REPLACE INTO screens VALUES (?, ?, ?, ?)", row)
        _make_room(store, most)
    return link


def find(name: str, place: Path | Bucket, now: datetime | None = None) -> KeptScreen | None:
    """Return a screen by the name of its link; `None` if it is not kept here, any more or at all, or is damaged.

    Raises:
        LinkError: the place cannot be read.
    """
    if len(name) != NAME_LENGTH:
        return None
    content = _found(name, place, (now or datetime.now(UTC)).timestamp())
    return None if content is None or _name(content) != name else _unpacked(content)


def _found(name: str, place: Path | Bucket, at: float) -> bytes | None:
    if isinstance(place, Bucket):
        with _said("bucket"):
            return link_bucket.get(place, name, at)
    if place.is_dir():
        with _said("folder"):
            return link_folder.get(place, name, at)
    if not place.exists():
        return None
    with _opened(place) as store:
        row = store.execute("SELECT content FROM screens WHERE name = ? AND until >= ?", (name, at)).fetchone()
    return None if row is None else row[0]


def _make_room(store: sqlite3.Connection, most: int) -> None:
    """Drop the oldest screens until those that are left fit; the newest stays."""
    rows = store.execute("SELECT name, LENGTH(content) FROM screens ORDER BY made DESC, name").fetchall()
    total = 0
    for position, (name, size) in enumerate(rows):
        total += size
        if position and total > most:
            store.execute("DELETE FROM screens WHERE name = ?", (name,))


@contextmanager
def _opened(file: Path) -> Generator[sqlite3.Connection]:
    """Open the file for one transaction; only its owner may read it."""
    with _said("file"):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            file.touch(mode=0o600)
        with closing(sqlite3.connect(file, timeout=5)) as store, store:
            store.execute(_TABLE)
            yield store


@contextmanager
def _said(place: str) -> Generator[None]:
    """Say of a fault which place it is of."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise LinkError(f"the {place} of the links cannot be used ({error})") from error


def _name(content: bytes) -> str:
    return base64.b32encode(sha256(content).digest()[:_NAME_BYTES]).decode().lower()


def _unpacked(content: bytes) -> KeptScreen | None:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(content, _LARGEST_UNPACKED)
        return msgspec.msgpack.decode(data, type=KeptScreen) if stream.eof else None
    except (zlib.error, msgspec.MsgspecError):
        return None
