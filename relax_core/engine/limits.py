"""Limits of a worker: what the process may use, and what one request may."""

import resource

import msgspec

MEGABYTE = 1 << 20
REQUEST_BYTES = 16 * MEGABYTE
"""Size of the largest request that a worker reads."""


class Limits(msgspec.Struct, frozen=True):
    """What a worker may use; passed to it as JSON on its command line."""

    memory_bytes: int = 2048 * MEGABYTE
    """Address space of the process."""
    cpu_seconds: int = 120
    """Processor time of one request."""
    wall_seconds: float = 60.0
    """Time on the clock of one step of a request, such as a pass or the run; the client enforces it."""
    output_bytes: int = 64 * MEGABYTE
    """Size of one reply."""
    open_files: int = 64

    @property
    def memory_text(self) -> str:
        """`2 GB` or `512 MB`."""
        gigabytes = self.memory_bytes / (1024 * MEGABYTE)
        return f"{gigabytes:g} GB" if gigabytes >= 1 else f"{self.memory_bytes // MEGABYTE} MB"


def apply_limits(limits: Limits) -> None:
    """Confine this process: address space, files, core dumps. Children of a limit cannot raise it."""
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def allow_cpu_seconds(seconds: int) -> None:
    """Give the process `seconds` more of processor time from now; it gets SIGXCPU after them."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
