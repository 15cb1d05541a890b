"""Where the app, its samples and documents are: beside the package in a checkout, inside it once it is installed."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_INSTALLED: Final = _PACKAGE / "app"
"""Where `tools.wheel` puts them."""

ROOT: Final = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""Holds `app.py`, `views`, `samples`, `docs` and `static`."""
