"""Folders of files for a test."""

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts as files, each under its name, in which folders may stand, below a folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
