"""Explain why a worker died or did not start, from its exit status and its last words on standard error."""

import resource
import signal
from typing import Final

import msgspec

from relax_core.engine.limits import MEGABYTE, Limits
from relax_core.engine.protocol import Failure

KEPT_TEXT: Final = "Your text and selection are as they were."
RESTARTED: Final = "Worker restarted"
NOT_STARTED: Final = "Worker did not start"
EXIT_MEMORY: Final = 71
"""Exit status of a worker that ran out of memory: its state is not trusted any more."""
EXIT_NOT_LOADED: Final = 72
"""Exit status of a worker that could not load what the passes and runs need; it says why."""

# They stand for what only the client knows of the request that waits.
_DOING, _CPU = "{doing}", "{cpu}"
_NEEDED_BYTES: Final = 640 * MEGABYTE
"""Address space with which a worker starts and does something, libraries included."""
_NEEDED_FILES: Final = 16
_MEMORY_SIGNS = (
    "MemoryError",
    "out of memory",
    "bad_alloc",
    "Cannot allocate memory",
    "failed to map segment",
    "can't allocate",
    "Unable to allocate",
)
_NO_THREAD: Final = "can't start new thread"
_FILE_SIGN: Final = "Too many open files"


def limit_reached(doing: str, limit: str, *, is_restarted: bool) -> Failure:
    """Return the failure of a request that reached a limit, such as `wall clock: 60 s`."""
    words = f"A limit was reached while {doing} ({limit}). {KEPT_TEXT}"
    return Failure("limit", RESTARTED if is_restarted else "Stopped", words, is_restarted=is_restarted)


def worded(failure: Failure, doing: str, cpu_seconds: int) -> Failure:
    """Fill in what the request was doing and its allowance, which only the client knows."""
    message = failure.message.replace(_DOING, doing).replace(_CPU, str(cpu_seconds))
    return msgspec.structs.replace(failure, message=message)


def cause_of(status: int, said: str, limits: Limits, *, is_ready: bool) -> Failure:
    """Explain the end of a worker from its exit status and the end of its standard error."""
    is_short = status in (EXIT_MEMORY, EXIT_NOT_LOADED) or (status != 0 and _has(said, _MEMORY_SIGNS))
    if not is_ready or status == EXIT_NOT_LOADED:
        return not_started(_last_line(said) or _ending(status), limits, is_short=is_short)
    if is_short:
        return limit_reached(_DOING, f"memory: {limits.memory_text}", is_restarted=True)
    if status == -signal.SIGXCPU:
        inherited = ", as `ulimit -t` allows" if limits.process_cpu_seconds else ""
        return limit_reached(_DOING, f"processor time: {_CPU} s{inherited}", is_restarted=True)
    words = f"It {_ending(status)} while {_DOING}. {KEPT_TEXT}"
    return Failure("crash", RESTARTED, words, is_restarted=True)


def not_started(reason: str, limits: Limits, *, is_short: bool = False) -> Failure:
    """Explain why no worker could be started, and which inherited limit is too small."""
    found = [reason.rstrip(".")]
    needed = f"about {_NEEDED_BYTES // MEGABYTE} MB are needed"
    is_without_thread = _NO_THREAD in reason
    if limits.memory_bytes < _NEEDED_BYTES and (is_short or is_without_thread or _has(reason, _MEMORY_SIGNS)):
        found.append(f"The address space is limited to {limits.memory_text} (`ulimit -v`), and {needed}")
    elif is_without_thread:
        count = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        found.append(f"At most {count} processes and threads may run (`ulimit -u`)" if count >= 0 else needed)
    elif _FILE_SIGN in reason:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        found.append(f"At most {files} files may be open (`ulimit -n`), and about {_NEEDED_FILES} are needed")
    elif limits.process_cpu_seconds:
        found.append(f"The processor time is limited to {limits.process_cpu_seconds} s (`ulimit -t`)")
    return Failure("crash", NOT_STARTED, f"{'. '.join(found)}.", is_restarted=True)


def _ending(status: int) -> str:
    """Say how a process ended: `ended with status 1`."""
    if status >= 0:
        return f"ended with status {status}"
    names = {int(item): item.name for item in signal.Signals}
    name = names.get(-status, f"signal {-status}")
    return f"was ended from outside by {name}" if status == -signal.SIGKILL else f"stopped with {name}"


def _has(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
