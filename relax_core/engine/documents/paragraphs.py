"""Every diagnostic code with its paragraph, a program that has it, and that program mended."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from relax_core.codes import CODES
from relax_core.engine.samples import SAMPLES

FOLDER: Final = "errors"
_MARK: Final = re.compile(r"[ \t]*(?:#|//)!\s*([A-Z]{2}\d{3}(?:[ ,]+[A-Z]{2}\d{3})*)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What is known of a code."""

    code: str
    text: str
    sample: str = ""
    """The path of a sample that has the code, such as `errors/ty_matmul.py`; empty if there is none."""
    failing: str = ""
    """The text of that sample, with a comment `#! CODE` at each line that has a code."""
    mended: str = ""
    """The same program without the fault, without such comments; empty if none is written down."""


def paragraph_of(code: str) -> Paragraph | None:
    """Return what is known of a code; `None` if there is no such code."""
    text = CODES.get(code)
    if text is None:
        return None
    path = _samples_of_codes().get(code)
    if path is None:
        return Paragraph(code, text)
    failing = path.read_text(encoding="utf-8")
    return Paragraph(code, text, f"{FOLDER}/{path.name}", failing, mended_text(path.name, failing))


def mended_text(name: str, failing: str) -> str:
    """Return the text of a sample with its faults mended; empty if nothing is written down for it."""
    changes = mendings().get(name)
    if changes is None:
        return ""
    for old, new in changes.items():
        failing = _MARK.sub("", failing).replace(old, new)
    return failing


@lru_cache(maxsize=1)
def mendings() -> Mapping[str, Mapping[str, str]]:
    """Return, by the name of a sample with errors, what is written in place of what."""
    return MappingProxyType(tomllib.loads((SAMPLES / FOLDER / "mended.toml").read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def _samples_of_codes() -> Mapping[str, Path]:
    """Return for each code the sample that shows it best: one that is mended, with few codes, and short."""
    found: dict[str, tuple[tuple[bool, int, int], Path]] = {}
    for path in sorted((SAMPLES / FOLDER).iterdir()):
        if path.suffix not in (".py", ".relay"):
            continue
        text = path.read_text(encoding="utf-8")
        codes = {code for mark in _MARK.findall(text) for code in re.findall(r"\w+", mark)}
        for code in codes:
            rank = (path.name not in mendings(), len(codes), len(text))
            if code not in found or rank < found[code][0]:
                found[code] = rank, path
    return MappingProxyType({code: path for code, (_, path) in found.items()})
