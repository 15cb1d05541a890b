"""Where compiled objects are kept on disk, as the environment says."""

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "RELAXSCOPE_CACHE"
"""Environment variable with the directory; `off` or nothing for no cache."""
HOME_VARIABLE: Final = "XDG_CACHE_HOME"

_OFF = ("", "0", "off")


def cache_directory() -> Path | None:
    """Return the directory, by default in the user's one for caches; `None` if the cache is switched off."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None and chosen.strip().lower() in _OFF:
        return None
    try:
        home = os.environ.get(HOME_VARIABLE) or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(chosen) if chosen else Path(home) / "relaxscope" / "objects"
