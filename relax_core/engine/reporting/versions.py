"""Which versions a worker runs."""

import platform

import llvmlite  # pyright: ignore[reportMissingTypeStubs]  # llvmlite has no types
import numpy as np

from relax_core.engine.protocol import RELEASE


def versions() -> str:
    """Name the versions that a bug report needs."""
    libraries = f"llvmlite {llvmlite.__version__} · NumPy {np.__version__}"
    return f"RelaxScope {RELEASE} · {libraries} · Python {platform.python_version()}"
