"""What the fork server and the process that it works for tell each other, as msgpack over a socket of packets."""

from typing import TypeAlias

import msgspec

from relax_core.engine.limits import Limits

ALL = "all"
"""The argument that has a fork server load what any request needs."""
MESSAGE_BYTES = 4096
"""More than any message has."""
DESCRIPTOR_COUNT = 3
"""With `Fork` come the worker's ends of the sockets of its client and its compiler, and its standard error; with
`ForkCompiler` the compile process's end of a socket."""


class Fork(msgspec.Struct, frozen=True, tag=True):
    """Start a worker, known by a number that no other one has had."""

    number: int
    limits: Limits


class ForkCompiler(msgspec.Struct, frozen=True, tag=True):
    """Start a compile process, known by a number like a worker, that keeps objects in `directory`, if there is one."""

    number: int
    directory: str


class Kill(msgspec.Struct, frozen=True, tag=True):
    """Kill a process, unless it has ended."""

    number: int


class Forked(msgspec.Struct, frozen=True, tag=True):
    """A process has been started."""

    number: int
    pid: int


class Refused(msgspec.Struct, frozen=True, tag=True):
    """No process could be started."""

    number: int
    reason: str


class Exited(msgspec.Struct, frozen=True, tag=True):
    """A process has ended; `status` as `subprocess.Popen.returncode`."""

    number: int
    status: int


Order: TypeAlias = Fork | ForkCompiler | Kill
News: TypeAlias = Forked | Refused | Exited
