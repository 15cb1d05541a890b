"""The sample programs: files with a header of `# key: words` lines, `// key: words` in Relay."""

import re
from functools import lru_cache
from pathlib import Path

import msgspec

from relax_core.engine.places import ROOT
from relax_core.engine.replies import Sample

SAMPLES = ROOT / "samples"
_HEADER = re.compile(r"^(?:#|//) (title|shows|source|changes):\s*(.*)$")


@lru_cache(maxsize=1)
def list_samples() -> tuple[Sample, ...]:
    """Return the samples, ordered by path; a file without a title is named by its file name."""
    paths = sorted(path for path in SAMPLES.rglob("*") if path.suffix in (".py", ".relay") and path.is_file())
    return tuple(map(_sample, paths))


@lru_cache(maxsize=1)
def list_tables() -> tuple[tuple[str, str], ...]:
    """Return name and text of the tables of patterns, ordered by name."""
    return tuple((path.stem, path.read_text(encoding="utf-8")) for path in sorted(SAMPLES.glob("patterns/*.json")))


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
    text = path.read_text(encoding="utf-8")
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
