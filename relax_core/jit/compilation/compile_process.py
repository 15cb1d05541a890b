"""A process that compiles the kernels and the LLVM IR that it is sent, keeps them in the cache, and runs none of them.

It reads work from a descriptor, `flags, length, content`, and answers each with `length, result`; nothing stands for
a failure, and what is only to be kept is not answered. It ends behind the last of its input, so that what a process
left when it ended is still made. A kernel is sent as its prim func, not as instructions: so what the cache has under
its name is what lowering makes of it, whoever asked.
"""

import os
import select
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Protocol, get_args

from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.pipelines import Pipeline
from relax_core.jit.compilation.specialisation import Request
from relax_core.jit.compilation.target import Target

TEXT_LIMIT_BYTES: Final = 16 << 20
IMAGE_LIMIT_BYTES: Final = 64 << 20
NICENESS: Final = 10
"""By how much it gives way: what it compiles for is at work meanwhile."""

_REQUEST, _ANSWER = struct.Struct("<BI"), struct.Struct("<I")
_IS_ONLY_KEPT, _IS_FINAL, _IS_KERNEL = 32, 64, 128
_PIPELINES: Final[tuple[Pipeline, ...]] = get_args(Pipeline)

Work = LLVMSource | Request

# It gives way from its start on, while it loads.
_BOOT = """import os, sys
os.nice({niceness})
sys.path.insert(0, sys.argv[1])
from relax_core.{module} import main
main(sys.argv[2:])"""
_ROOT = Path(__file__).resolve().parents[3]


class Connection(Protocol):
    """A way to a compile process."""

    def compile(self, work: Work) -> bytes | None:
        """Return the object of a source, or the entry of a kernel; `None` if nothing is made of it.

        Raises:
            OSError: the process is gone.
        """
        ...

    def close(self) -> None:
        """Let the process end."""
        ...


def command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that calls `main(arguments)` of a module of this package, in a Python of its own."""
    return (sys.executable, "-P", "-c", _BOOT.format(niceness=NICENESS, module=module), str(_ROOT), *arguments)


@dataclass(frozen=True, slots=True)
class Descriptors:
    """The descriptors of a compile process's input and output, which may be one socket."""

    to: int
    back: int
    _writing: Lock = field(default_factory=Lock)

    def keep(self, work: Work) -> bool:
        """Hand over what is to be made for the cache, for which nobody waits; tell whether that was possible at once.

        It is made even if this process ends now. Safe to call while another thread waits in `compile`.
        """
        flags, content = _packed(work)
        with self._writing, suppress(OSError):
            if len(content) <= TEXT_LIMIT_BYTES:
                if not select.select((), (self.to,), (), 0)[1]:
                    return False
                write_all(self.to, _REQUEST.pack(flags | _IS_ONLY_KEPT, len(content)) + content)
        return True

    def compile(self, work: Work) -> bytes | None:
        """Ask for what is made of `work`."""
        flags, content = _packed(work)
        if len(content) > TEXT_LIMIT_BYTES:
            return None
        with self._writing:
            write_all(self.to, _REQUEST.pack(flags, len(content)) + content)
        (length,) = _ANSWER.unpack(self._read(_ANSWER.size))
        if length > IMAGE_LIMIT_BYTES:
            raise OSError(f"the compile process announces an object of {length} bytes")
        return self._read(length) or None

    def close(self) -> None:
        """Leave them open, as they belong to who opened them."""

    def _read(self, count: int) -> bytes:
        content = read_exactly(self.back, count)
        if content is None:
            raise OSError("the compile process is gone")
        return content


class CompileProcess:
    """A compile process of this process, which ends with it; it writes to `cache` if this process may."""

    def __init__(self, cache: ObjectCache | None) -> None:
        directory = str(cache.directory) if cache is not None and cache.is_writable else ""
        self._process = subprocess.Popen(
            command("jit.compilation.compile_process", directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def compile(self, work: Work) -> bytes | None:
        """Ask for what is made of `work`."""
        sink, back = self._process.stdin, self._process.stdout
        assert sink is not None
        assert back is not None
        return Descriptors(sink.fileno(), back.fileno()).compile(work)

    def close(self) -> None:
        """Let the process end, and wait for it."""
        self._process.communicate()


def serve(source: int, sink: int, cache: ObjectCache | None, idle_seconds: float | None = None) -> None:
    """Answer requests until the end of the input, or until there was none for some time.

    Raises:
        OSError: what is read is no request.
    """
    target = Target()
    while select.select((source,), (), (), idle_seconds)[0]:
        head = read_exactly(source, _REQUEST.size)
        if head is None:
            return
        flags, length = _REQUEST.unpack(head)
        content = read_exactly(source, length) if length <= TEXT_LIMIT_BYTES else None
        if content is None:
            raise OSError("a request is too long, or cut off")
        made = _made(_unpacked(flags & ~_IS_ONLY_KEPT, content), target, cache)
        if not flags & _IS_ONLY_KEPT:
            # Who asked may be gone; what else it asked for is made for the cache.
            with suppress(OSError):
                write_all(sink, _ANSWER.pack(len(made)) + made)


def _packed(work: Work) -> tuple[int, bytes]:
    match work:
        case LLVMSource(text=text):
            return _PIPELINES.index(work.pipeline) | _IS_FINAL * work.is_final, text.encode()
        case Request(content=content):
            return _IS_KERNEL, content


def _unpacked(flags: int, content: bytes) -> Work:
    if flags & _IS_KERNEL:
        return Request(content)
    number = flags & ~_IS_FINAL
    if number >= len(_PIPELINES):
        raise OSError(f"there is no pipeline {number}")
    text = content.decode(errors="replace")
    return LLVMSource(text, pipeline=_PIPELINES[number], is_final=bool(flags & _IS_FINAL))


def _made(work: Work, target: Target, cache: ObjectCache | None) -> bytes:
    key = work.key(target)
    made = None if cache is None else cache.get(key)
    if made is None:
        try:
            made = work.compile(target)
        except (RuntimeError, ValueError):
            # Nothing is made of it: who sent it finds out why when it compiles it.
            made = None
        if cache is not None and (made is not None or isinstance(work, Request)):
            # That there is nothing to be made of a kernel is kept as well, so that no process starts for it again.
            cache.put(key, made or b"")
    return made or b""


def read_exactly(number: int, count: int) -> bytes | None:
    """Read `count` bytes from a descriptor, `None` if it ends before."""
    parts: list[bytes] = []
    while count:
        try:
            part = os.read(number, min(count, 1 << 20))
        except ConnectionResetError:
            # The other end is gone and left answers unread. That is said once; what it wrote is still there.
            continue
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_all(number: int, content: bytes) -> None:
    """Write all of `content` to a descriptor."""
    view = memoryview(content)
    while view:
        view = view[os.write(number, view) :]


def main(arguments: list[str]) -> None:
    """Serve standard input and output; the argument is the directory of the cache, if there is one."""
    (directory,) = arguments
    serve(0, 1, ObjectCache(Path(directory)) if directory else None)
