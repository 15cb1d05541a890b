"""The sample programs: files with a header of `# key: words` lines, `// key: words` in Relay."""

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
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


def stamps_below(pattern: str) -> tuple[Stamp, ...]:
    """Return the files of `samples` that a pattern names, ordered by path; the folder is looked at once a second."""
    return _stamps(SAMPLES, pattern, int(time.monotonic()))


@lru_cache(maxsize=8)
def _stamps(folder: Path, pattern: str, _second: int) -> tuple[Stamp, ...]:
    return tuple(sorted(filter(None, map(_stamp, folder.glob(pattern))), key=attrgetter("path")))


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        # An editor was just putting another file in its place.
        return None
    return Stamp(path, found.st_mtime_ns, found.st_size) if S_ISREG(found.st_mode) else None


def list_samples() -> tuple[Sample, ...]:
    """Return the samples, ordered by path; a file without a title is named by its file name.

    What a teacher writes while the server runs is read again.
    """
    return _samples(stamps_below("**/*.py"), stamps_below("**/*.relay"))


@lru_cache(maxsize=1)
def _samples(*stamps: tuple[Stamp, ...]) -> tuple[Sample, ...]:
    return tuple(_sample(path) for path in sorted(stamp.path for kind in stamps for stamp in kind))


def list_tables() -> tuple[tuple[str, str], ...]:
    """Return name and text of the tables of patterns, ordered by name."""
    return _tables(stamps_below("patterns/*.json"))


@lru_cache(maxsize=1)
def _tables(stamps: tuple[Stamp, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((stamp.path.stem, stamp.path.read_text(encoding="utf-8")) for stamp in stamps)


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
