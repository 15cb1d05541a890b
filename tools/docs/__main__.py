"""Make the site: `python -m tools.docs [FOLDER]`; every warning of Sphinx is an error."""

import sys
from pathlib import Path

from tools.docs.site import BUILT, build


def main() -> int:
    """Build into the folder that is named, else into `.docs`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT
    status = build(folder)
    if status == 0:
        print(f"The site is {folder / 'html' / 'index.html'}")
    return status


sys.exit(main())
