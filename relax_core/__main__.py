"""`python -m relax_core COMMAND`."""

import os
import signal
import sys

from relax_core.cli import INTERRUPTED, main
from relax_core.engine.process import starting

if __name__ == "__main__":
    starting.end()
    status = main()
    # The work is done: Python's own end is no place for a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if status == INTERRUPTED:
        # All is written. A thread may still be at work, and to take apart what it holds can take seconds.
        os._exit(status)
    sys.exit(status)
