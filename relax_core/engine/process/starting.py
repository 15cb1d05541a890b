"""What holds while `python -m relax_core`, `relaxscope` or a worker loads the package, before it has begun to work.

In the command line, Ctrl-C would end in a traceback from wherever an import was, and so would an import for which an
inherited limit leaves no memory. In both, the garbage collector stands still: what is loaded stays, and searching it
for what could be dropped takes a tenth of the time. In any other process this module does nothing.
"""

import gc
import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Final

_INTERRUPTED: Final = 130
_LIMIT: Final = 3
_COMMAND: Final = "relax_core"
_SCRIPT: Final = "relaxscope"
_WORKERS: Final = ("relax_core.engine.process.worker", "relax_core.engine.process.fork_server")


def _begin() -> None:
    # While Python looks for the module to run, this is its name.
    options = zip(sys.orig_argv, sys.orig_argv[1:], strict=False) if sys.argv[:1] == ["-m"] else ()
    module = next((name for option, name in options if option == "-m"), "")
    is_command = module == _COMMAND or os.path.basename(sys.argv[0] if sys.argv else "") == _SCRIPT
    if is_command or module in _WORKERS:
        gc.disable()
    if is_command:
        signal.signal(signal.SIGINT, _interrupted)
        sys.excepthook = _not_loaded


def end() -> None:
    """Leave all this to the command or the worker that begins."""
    gc.enable()
    if sys.excepthook is _not_loaded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.excepthook = sys.__excepthook__


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    # Not by an exception: libraries that are being loaded make other errors of it.
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


def cannot_load(reason: str) -> str:
    """Say that the package could not be loaded, and where to look for the cause."""
    words = " ".join(reason.split())
    return f"error: RelaxScope cannot be loaded: {words}\nhint: see the limits of this shell, `ulimit -a`"


def _not_loaded(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    text = cannot_load(f"{kind.__name__}: {error}")
    os.write(2, f"{text}\n".encode(errors="backslashreplace"))
    os._exit(_LIMIT)


_begin()
