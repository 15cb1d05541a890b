"""Which version carries out a job: what its result depends on beside the job itself."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from relax_core.engine.protocol import RELEASE

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_SUFFIXES: Final = frozenset((".py", ".toml", ".json", ".relay", ".ll", ".in"))
_DIGITS: Final = 12


@cache
def tool_version() -> str:
    """Name the sources of the package by their digest, and the versions of what it computes with."""
    libraries = f"llvmlite {version('llvmlite')}, NumPy {version('numpy')}, Python {platform.python_version()}"
    return f"RelaxScope {RELEASE} ({_sources()[:_DIGITS]}), {libraries}, {platform.machine()}"


def _sources() -> str:
    found = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in _SUFFIXES:
            content = path.read_bytes()
            found.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()
