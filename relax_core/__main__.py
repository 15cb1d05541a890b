"""`python -m relax_core COMMAND`, and `relaxscope COMMAND` where the package is installed."""

import gc
import os
import signal
import sys
from typing import NoReturn

# Before all that the command needs is loaded, so that the worker loads what it needs meanwhile.
from relax_core.engine.process.ahead import started_ahead

_AHEAD = started_ahead(sys.argv[1:])

# isort: split
try:
    from relax_core.cli import INTERRUPTED, main
except KeyboardInterrupt:
    # It may come while all this is loaded.
    sys.stderr.write("interrupted\n")
    os._exit(128 + signal.SIGINT)


def run() -> NoReturn:
    """Carry out the command of this process, and end it."""
    status = main(ahead=_AHEAD)
    # The work is done: Python's own end is no place for a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if status == INTERRUPTED:
        # All is written. A thread may still be at work, and to take apart what it holds can take seconds.
        os._exit(status)
    # The whole of it ends: nothing has to be looked for that could be dropped.
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    run()
