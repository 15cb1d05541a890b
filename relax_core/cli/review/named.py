"""The modules that paths, folders and patterns name."""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from relax_core.cli.review.pairing import SUFFIXES, modules_below
from relax_core.cli.terminal import UsageError
from relax_core.diagnostics import CompileError
from relax_core.engine.files import printable
from relax_core.engine.pipelines import sources

_WILD: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A file with a module; `name` is that of its row, `below` its path below the folder or pattern that names it."""

    name: str
    path: str
    below: str


def module_files(given: Iterable[str]) -> tuple[ModuleFile, ...]:
    """Find the modules of files, of folders with all that is below them, and of patterns such as `zoo/**/*.py`.

    They are sorted, and each file is there once. A name is the path below what was given, or the whole path where two
    would have the same one.

    Raises:
        UsageError: there is no module, or nothing of that name.
    """
    found = {os.path.normpath(path): (path, below) for one in given for path, below in _named(one)}
    count = Counter(below for _, below in found.values())
    files = (ModuleFile(printable(below if count[below] == 1 else path), path, below) for path, below in found.values())
    return tuple(sorted(files, key=lambda file: file.name))


def holds_modules(path: str) -> bool:
    """Tell whether a path names modules of their own: a pattern, or a folder that is not the stages of a recording.

    Files without numbers in a folder are modules; those with numbers are what a compiler dumped, one after the other.
    """
    if not os.path.isdir(path):
        return not os.path.exists(path) and _WILD.search(path) is not None
    names = tuple(map(os.path.basename, modules_below(path)))
    try:
        is_numbered = sources.open_pipeline(path).source_kind != "files" or all(name[:1].isdigit() for name in names)
    except CompileError as error:
        is_numbered = error.diagnostics[0].code != "PL001"
    return bool(names) and not is_numbered


def _named(one: str) -> Iterator[tuple[str, str]]:
    """Return path and path below of the modules that one argument names."""
    if os.path.isdir(one):
        below = modules_below(one)
        if not below:
            raise UsageError(f"{printable(one)} holds no module: {', '.join(SUFFIXES)}")
        yield from ((path, name) for name, path in below.items())
    elif os.path.exists(one) or not _WILD.search(one):
        # A file that is not there has a row, which says so.
        yield one, os.path.basename(one)
    else:
        paths = [path for path in glob.glob(one, recursive=True) if os.path.isfile(path)]
        if not paths:
            raise UsageError(f"no file is named like {printable(one)}")
        parts = Path(one).parts
        fixed = next(number for number, part in enumerate(parts) if _WILD.search(part))
        yield from ((path, Path(*Path(path).parts[fixed:]).as_posix()) for path in paths)
