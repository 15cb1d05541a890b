"""`python -m relax_core COMMAND`."""

import sys

from relax_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
