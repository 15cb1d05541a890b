"""The C library's heap: memory that kernels give back is kept for the next ones.

By default glibc takes every large piece from the kernel and returns it at once, so that each call of a kernel with a
temporary or a new output pays for a page fault per 4096 bytes; that took most of the time of such kernels.
"""

import ctypes
from functools import cache

MAPPED_BYTES = 32 << 20
"""Pieces of at least so many bytes are still mapped one by one: the most that glibc allows."""
KEPT_BYTES = 256 << 20
"""The most that stays in the process when it is free."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@cache
def keep_freed_memory() -> bool:
    """Let the heap of this process keep what is freed; tell whether the C library can. The first call counts."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    values = ((_M_MMAP_THRESHOLD, MAPPED_BYTES), (_M_TRIM_THRESHOLD, KEPT_BYTES))
    return all(bool(set_option(option, value)) for option, value in values)
