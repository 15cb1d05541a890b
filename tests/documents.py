"""The documents of the repository, and the samples of code in them that are marked to be run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")))

_SAMPLE = re.compile(r"^<!-- (run|prints)(?:: (\d))? -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sample:
    """A block that is marked: code that is run, or lines that what ran before it prints."""

    kind: str
    status: int
    language: str
    text: str
    line: int


def samples(path: Path) -> Iterator[Sample]:
    """List the marked blocks of a document in order."""
    text = path.read_text(encoding="utf-8")
    for found in _SAMPLE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Sample(found[1], int(found[2] or 0), found[3], found[4], line)


def name_of(path: Path) -> str:
    """Return the path of a document from the top of the repository."""
    return path.relative_to(REPOSITORY).as_posix()
