"""Hold Python's garbage collector while many objects are made that all stay."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_held() -> Generator[None, None, None]:
    """Make no collections inside.

    A syntax tree, a module or the pieces of a text are made of objects that all live until the end, without cycles that
    could be freed before. Each of the collector's passes over them is in vain, and they make the time of a long
    text grow faster than the text.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
