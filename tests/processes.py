"""Processes of the system: whose children they are, and whether they are gone."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

_LONGEST_SECONDS = 60
_LOOK_SECONDS = 0.05


def server_of(url: str) -> int:
    """Return the process that serves at an address, by the port on its command line."""
    port = url.rsplit(":", 1)[1].encode()
    return next(pid for pid in _all() if {b"--server.port", port} <= set(_words(pid)))


def workers_of(server: int) -> frozenset[int]:
    """Return the workers of a server, which its fork server forked: one for each session that asked for something."""
    return frozenset(pid for pid in _forked_of(server) if not _gives_way(pid))


def compilers_of(server: int) -> frozenset[int]:
    """Return the compile processes that the fork server of a server forked."""
    return frozenset(pid for pid in _forked_of(server) if _gives_way(pid))


def _forked_of(server: int) -> Iterator[int]:
    return (pid for forking in fork_servers_of(server) for pid in _children(forking))


def _gives_way(process: int) -> bool:
    """Tell whether a process has a low priority, as those have that compile ahead."""
    try:
        return os.getpriority(os.PRIO_PROCESS, process) > 0
    except ProcessLookupError:
        return False


def fork_servers_of(server: int) -> frozenset[int]:
    """Return the fork servers of a server: one that runs, and for a moment those that are about to end."""
    return frozenset(pid for pid in _children(server) if b"relax_core.engine.process.fork_server" in _words(pid))


def family_of(process: int) -> frozenset[int]:
    """Return the processes that a process started, and theirs."""
    children = frozenset(_children(process))
    return children.union(*map(family_of, children))


def is_alive(process: int) -> bool:
    """Tell whether a process runs; one that has ended and is not reaped does not."""
    return _status(process)[0] not in ("", "Z", "X")


def cpu_seconds_of(process: int) -> float:
    """Return the processor time that a process and those that it started have taken."""
    ticks = 0
    for path in (Path(f"/proc/{process}"), *Path("/proc").glob("[0-9]*")):
        with contextlib.suppress(OSError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if path.name == str(process) or fields[1] == str(process):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, and say whether it does."""
    waiting = threading.Event()
    for _ in range(int(_LONGEST_SECONDS / _LOOK_SECONDS)):
        if holds():
            return True
        waiting.wait(_LOOK_SECONDS)
    return holds()


def _all() -> Iterator[int]:
    yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _children(process: int) -> Iterator[int]:
    yield from (pid for pid in _all() if _status(pid)[1] == process and is_alive(pid))


def _words(process: int) -> tuple[bytes, ...]:
    try:
        return tuple(Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0"))
    except OSError:
        return ()


def _status(process: int) -> tuple[str, int]:
    """Return the state of a process and its parent."""
    try:
        rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", 0
    return rest[0], int(rest[1])
