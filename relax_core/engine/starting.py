"""What holds while `python -m relax_core` loads the package, before a command has begun.

Loading takes most of a second, in which Ctrl-C would end in a traceback from wherever an import was, and so would an
import for which an inherited limit leaves no memory. In any other process this module does nothing.
"""

import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Final

_INTERRUPTED: Final = 130
_LIMIT: Final = 3


def _begin() -> None:
    """Answer Ctrl-C and a failed import in a line, if this process is the command line."""
    # While Python looks for the module to run, this is its name.
    if sys.argv[:1] == ["-m"] and ("-m", "relax_core") in zip(sys.orig_argv, sys.orig_argv[1:], strict=False):
        signal.signal(signal.SIGINT, _interrupted)
        sys.excepthook = _not_loaded


def end() -> None:
    """Leave both to the command that begins."""
    if sys.excepthook is _not_loaded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.excepthook = sys.__excepthook__


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    # Not by an exception: libraries that are being loaded make other errors of it.
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


def _not_loaded(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    words = " ".join(str(error).split())
    text = (
        f"error: RelaxScope cannot be loaded: {kind.__name__}: {words}\nhint: see the limits of this shell, `ulimit -a`"
    )
    os.write(2, f"{text}\n".encode(errors="backslashreplace"))
    os._exit(_LIMIT)


_begin()
