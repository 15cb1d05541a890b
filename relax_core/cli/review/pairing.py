"""Two folders of modules side by side: those of one name belong together."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from relax_core.cli.terminal import UsageError
from relax_core.engine.files import printable

SUFFIXES: Final = (".py", ".relay", ".relax", ".tir", ".txt")
"""The names of files that are modules."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A module of both folders, or of one: then the other path is empty."""

    name: str
    old: str
    new: str


def paired(old: str, new: str) -> tuple[Pair, ...]:
    """Pair two files, or the modules below two folders by their relative names, in the order of these.

    Files need not be there: whoever reads them says so.

    Raises:
        UsageError: one is a folder and the other is not, or neither folder holds a module.
    """
    if Path(old).is_dir() != Path(new).is_dir():
        raise UsageError(f"{printable(old)} and {printable(new)}: one is a folder, and the other is not")
    if not Path(old).is_dir():
        return (Pair(Path(new).name, old, new),)
    left, right = modules_below(old), modules_below(new)
    if not left and not right:
        raise UsageError(f"neither {printable(old)} nor {printable(new)} holds a module: {', '.join(SUFFIXES)}")
    return tuple(Pair(name, left.get(name, ""), right.get(name, "")) for name in sorted({*left, *right}))


def modules_below(folder: str) -> dict[str, str]:
    """Map the relative name of each module below a folder to its path; links to folders are not followed."""
    found: dict[str, str] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            if path.suffix in SUFFIXES and path.is_file():
                found[path.relative_to(folder).as_posix()] = str(path)
    return found
