"""Whether a path names several stages or one program, which its content says; nothing of it is opened yet.

Every command asks this of every path, so this module loads little.
"""

import re
from pathlib import Path
from typing import Final

from relax_core.engine.files import UnreadableFileError, read_file

OPEN_VARIABLE: Final = "RELAXSCOPE_OPEN"
"""Names, in the environment of the app's server, the program or recording that it shows. No browser can set it."""
WATCH_VARIABLE: Final = "RELAXSCOPE_WATCH"
"""Is set if the pages are to follow the program that the server was started on when its file changes."""
ARCHIVE_LIMIT_BYTES: Final = 1 << 30
ZIP: Final = b"PK"
LOG_HEADER: Final = re.compile(r"^(After|Before) Running Pass:(.*)$", re.MULTILINE)
"""The line in front of each module in a log of PrintAfterAll or PrintBeforeAll."""

_LOG_HEAD: Final = 4 << 20


def is_pipeline(path: str) -> bool:
    """Tell whether a path names a source of several stages, and not a file with one program."""
    if "\0" in path:
        return False
    if Path(path).is_dir():
        return True
    # A pipe can be read once only, and holds a program.
    if not Path(path).is_file():
        return False
    try:
        content = read_file(path, ARCHIVE_LIMIT_BYTES)
    except UnreadableFileError:
        return False
    # An archive of values, `.npz`, is a zip as well.
    return (content.startswith(ZIP) and not path.endswith(".npz")) or is_log(decoded(content[:_LOG_HEAD]))


def is_log(text: str) -> bool:
    """Tell whether a text is a log of PrintAfterAll or PrintBeforeAll."""
    return LOG_HEADER.search(text) is not None


def decoded(content: bytes) -> str:
    """Return a text: UTF-8, or UTF-16 as PowerShell writes it; what is neither shows as U+FFFD."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", "replace")
    else:
        text = content.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
