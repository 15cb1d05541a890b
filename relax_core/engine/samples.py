"""The sample programs: files with a header of `# key: words` lines, `// key: words` in Relay."""

import fnmatch
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

import msgspec

from relax_core.engine.places import ROOT
from relax_core.engine.replies import Sample

SAMPLES = ROOT / "samples"
_HEADER = re.compile(r"^(?:#|//) (title|shows|source|changes):\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file, and what tells that it was written since."""

    path: Path
    modified_ns: int
    size_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """Files as they were when they were looked at, ordered by path.

    It is the key of what was read of them, which a page asks for several times: two are compared by a digest, for
    hashing 400 paths takes longer than all else that a look at the table of samples does.
    """

    files: tuple[Stamp, ...]
    digest: bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stamps) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def stamps_below(pattern: str) -> Stamps:
    """Return the files of `samples` whose place a pattern matches, where `*` stands for folders as well.

    The folder is looked at once a second.
    """
    return _stamps(SAMPLES, pattern, int(time.monotonic()))


@lru_cache(maxsize=8)
def _stamps(folder: Path, pattern: str, second: int) -> Stamps:
    known = _known(str(folder), second)
    parts = tuple(known[place] for place in fnmatch.filter(known, pattern))
    return Stamps(
        tuple(Stamp(Path(path), *rest) for path, *rest in parts), hashlib.blake2b(repr(parts).encode()).digest()
    )


@lru_cache(maxsize=2)
def _known(folder: str, _second: int) -> dict[str, tuple[str, int, int]]:
    """Return all files of a folder, ordered, by their places in it: path, when it was modified in ns, size in bytes.

    One walk with `os.scandir` costs a fifth of what a glob for each pattern does, in every second with a visitor.
    """
    return {item[0][len(folder) + 1 :].replace(os.sep, "/"): item for item in sorted(_walked(folder))}


def _walked(folder: str, *, is_linked: bool = False) -> Iterator[tuple[str, int, int]]:
    """Yield the files below a folder. A link to a folder is followed, but none behind it: those may lead in circles."""
    # An editor that puts another file or folder in the place of one has it gone for a moment.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if not (is_linked and entry.is_symlink()):
                    yield from _walked(entry.path, is_linked=is_linked or entry.is_symlink())
                continue
            with suppress(OSError):
                found = entry.stat()
                if S_ISREG(found.st_mode):
                    yield entry.path, found.st_mtime_ns, found.st_size


def list_samples() -> tuple[Sample, ...]:
    """Return the samples, ordered by path; a file without a title is named by its file name.

    What a teacher writes while the server runs is read again.
    """
    return _samples(stamps_below("*.py"), stamps_below("*.relay"))


@lru_cache(maxsize=1)
def _samples(*stamps: Stamps) -> tuple[Sample, ...]:
    return tuple(_sample(path) for path in sorted(stamp.path for kind in stamps for stamp in kind.files))


def list_tables() -> tuple[tuple[str, str], ...]:
    """Return name and text of the tables of patterns, ordered by name."""
    return _tables(stamps_below("patterns/*.json"))


@lru_cache(maxsize=1)
def _tables(stamps: Stamps) -> tuple[tuple[str, str], ...]:
    return tuple((stamp.path.stem, stamp.path.read_text(encoding="utf-8")) for stamp in stamps.files)


def list_recordings() -> tuple[Sample, ...]:
    """Return the recorded pipelines among the samples, without their contents; the words are in a table beside each."""
    found = (path for place in ("recordings/*.rxt", "lessons/*/*.rxt") for path in SAMPLES.glob(place))
    paths = sorted(found, key=lambda path: (path.parent.name != "recordings", path))
    return tuple(map(_recording, paths))


def _recording(path: Path) -> Sample:
    words = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=dict[str, str])
    place = path.relative_to(SAMPLES).as_posix()
    return Sample(place, words["title"], words["shows"], words["source"], area="recordings")


def _sample(path: Path) -> Sample:
    text = path.read_text(encoding="utf-8", errors="replace")
    words: dict[str, str] = {}
    changes: list[str] = []
    key = ""
    for line in text.splitlines():
        match = _HEADER.match(line)
        if match is not None:
            key, value = match.groups()
            if key == "changes":
                changes.append(value)
            else:
                words[key] = value
        elif line.startswith(("#  ", "//  ")) and key:
            # An indented comment line goes on with the one before.
            if key == "changes":
                changes[-1] = f"{changes[-1]} {line.lstrip('#/ ')}".strip()
            else:
                words[key] += f" {line.lstrip('#/ ')}"
        elif not line.startswith(("# ", "//")):
            break
    place = path.relative_to(SAMPLES)
    title = words.get("title", place.stem.replace("_", " "))
    area = place.parts[0] if len(place.parts) > 1 else ""
    return Sample(place.as_posix(), title, words.get("shows", ""), words.get("source", ""), tuple(changes), text, area)
