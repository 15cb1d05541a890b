"""Pause Python's garbage collector while many objects are allocated that all survive."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_held() -> Generator[None, None, None]:
    """Suspend collections inside the context.

    The objects of a syntax tree, a module or a text all live until the end and form no cycles, so that every collection
    finds nothing, and collections make the time of long texts superlinear.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
