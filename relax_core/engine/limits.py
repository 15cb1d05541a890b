"""Limits of a worker: what the process may use, and what it found when it was started.

A process may lower its limits but not raise them above those it inherits (`ulimit`, a container). So a worker has the
smaller of both, and what is said of a limit names the figure that holds.
"""

import resource
from pathlib import Path

import msgspec

MEGABYTE = 1 << 20
REQUEST_BYTES = 16 * MEGABYTE
"""Size of the largest request that a worker reads."""


class Limits(msgspec.Struct, frozen=True):
    """What a worker may use; passed to it as JSON on its command line."""

    memory_bytes: int = 2048 * MEGABYTE
    """Address space of the process."""
    cpu_seconds: int = 120
    """Processor time of one request of an ordinary kind; see `allowance`."""
    wall_seconds: float = 60.0
    """Time on the clock of one request of an ordinary kind, from its beginning to its end; the client enforces it."""
    output_bytes: int = 64 * MEGABYTE
    """Size of one reply."""
    open_files: int = 64
    process_cpu_seconds: int = 0
    """Processor time of the process as a whole, which only an inherited limit sets; 0: any."""

    @property
    def memory_text(self) -> str:
        """`2 GB` or `512 MB`."""
        gigabytes = self.memory_bytes / (1024 * MEGABYTE)
        return f"{gigabytes:g} GB" if gigabytes >= 1 else f"{self.memory_bytes // MEGABYTE} MB"

    def cpu_of(self, seconds: int) -> int:
        """Return the processor time of a request that is allowed `seconds`, within that of the process."""
        return min(seconds, self.process_cpu_seconds - 1) if self.process_cpu_seconds else seconds


def within_inherited(limits: Limits) -> Limits:
    """Return `limits` as far as this process, or one that it starts, can have them."""
    processor = resource.getrlimit(resource.RLIMIT_CPU)[1]
    return msgspec.structs.replace(
        limits,
        memory_bytes=_within(resource.RLIMIT_AS, limits.memory_bytes),
        open_files=_within(resource.RLIMIT_NOFILE, limits.open_files),
        process_cpu_seconds=0 if processor == resource.RLIM_INFINITY else max(processor, 2),
    )


def _within(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def lower(kind: int, value: int) -> None:
    """Set a limit of this process to `value`, or leave it at the inherited one if that is smaller."""
    value = _within(kind, value)
    resource.setrlimit(kind, (value, value))


def apply_limits(limits: Limits) -> None:
    """Confine this process: address space, files, core dumps. Children of a limit cannot raise it."""
    lower(resource.RLIMIT_AS, limits.memory_bytes)
    lower(resource.RLIMIT_NOFILE, limits.open_files)
    lower(resource.RLIMIT_FSIZE, 0)
    lower(resource.RLIMIT_CORE, 0)


def allow_cpu_seconds(seconds: int) -> None:
    """Give the process `seconds` more of processor time from now; it gets SIGXCPU after them.

    An inherited limit holds as well: a second before it the process gets SIGXCPU, since at the limit itself the kernel
    sends SIGKILL, which says nothing of its reason.
    """
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(_cpu_used()) + 1 + seconds
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, max(hard - 1, 1))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def used_share(limits: Limits) -> float:
    """Return how much of its memory, or of an inherited processor time, this process has taken: 0 to 1.

    What counts is the address space, which the limit is on. Where the kernel does not say, the share is 0.
    """
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    except (OSError, ValueError, IndexError):
        pages = 0
    memory = pages * resource.getpagesize() / limits.memory_bytes
    return max(memory, _cpu_used() / limits.process_cpu_seconds) if limits.process_cpu_seconds else memory


def _cpu_used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
