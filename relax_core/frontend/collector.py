"""Pause Python's garbage collector while many objects are allocated that all survive."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_held(*, exempts: bool = False) -> Generator[None, None, None]:
    """Suspend collections inside the context.

    The objects of a syntax tree, a module or a text all live until the end and form no cycles, so that every collection
    finds nothing, and collections make the time of long texts superlinear. The first one after it looks at all that was
    made inside and lives on, unless the context `exempts` that for good, as a process may that ends soon.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if exempts:
            gc.freeze()
        if was_enabled:
            gc.enable()
