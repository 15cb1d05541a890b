"""The threads of this process that run the chunks of big kernels, as `threads.ll` describes.

They start when the first kernel that is cut into chunks is linked. A process that is forked has none until it links
such a kernel itself; where none can be started, kernels run all chunks in the thread that called them.
"""

import atexit
import ctypes
import os
import platform
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread
from types import MappingProxyType
from typing import Final

from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.target import Program

THREAD_LIMIT: Final = 16

_TEXT: Final = Path(__file__).with_name("threads.ll")
# The number of the system call `futex`, by processor; `threads.ll` is written for these.
_FUTEX: Final = MappingProxyType({"x86_64": 202})
_STOP_SECONDS: Final = 1.0

_Line = ctypes.c_int64 * 8


class _Words(ctypes.Structure):
    """What `%Pool` of `threads.ll` declares."""

    _fields_ = (
        *((name, _Line) for name in ("busy", "ticket", "left", "sequence", "sleepers", "is_waiting", "result")),
        *((name, ctypes.c_int64) for name in ("entry", "slots", "record", "word_count", "chunk_count")),
        *(
            (name, ctypes.c_int64)
            for name in ("workers", "stop", "futex", "run_chunks", "penalty", "skips", "shortest")
        ),
    )


def thread_count(asked: int) -> int:
    """Return how many threads run the chunks of a kernel, its caller included: as many as processors if 0 are asked."""
    if sys.platform != "linux" or platform.machine() not in _FUTEX:
        return 1
    return min(asked or len(os.sched_getaffinity(0)), THREAD_LIMIT)


def thread_symbols(count: int, compiler: Compiler) -> Mapping[str, int]:
    """Return the addresses that a kernel in chunks leaves open; `count` threads run them, its caller included.

    The first call makes their code with `compiler`, which is kept as long as this process.
    """
    threads = _threads()
    threads.prepare(compiler)
    threads.start(count - 1)
    return MappingProxyType({"run_chunks": threads.address})


def worker_count() -> int:
    """Return how many threads wait for chunks."""
    return _threads().count


def forget_slow_kernels() -> None:
    """Let all threads run the chunks of the next kernel, however little the kernels before have gained."""
    _threads().forget_slow_kernels()


class _Threads:
    """The workers of this process, and the memory through which they are given chunks."""

    def __init__(self) -> None:
        # Cache lines of a processor start at multiples of 64 bytes.
        self._memory = ctypes.create_string_buffer(ctypes.sizeof(_Words) + 64)
        place = -(-ctypes.addressof(self._memory) // 64) * 64
        self._words = _Words.from_address(place)
        self._words.futex = _FUTEX[platform.machine()]
        self._program: Program | None = None
        self._compiler: Compiler | None = None
        self.address = 0
        self._waker = ctypes.CDLL(None).syscall
        self._lock = Lock()
        self._workers: list[Thread] = []
        atexit.register(self.stop)
        os.register_at_fork(after_in_child=self._forget)

    @property
    def count(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    def prepare(self, compiler: Compiler) -> None:
        """Make the machine code of callers and workers, if there is none."""
        with self._lock:
            if self._program is None:
                source = LLVMSource(_TEXT.read_text(encoding="utf-8"), "work", is_final=True)
                program = compiler.program(source, {"pool": ctypes.addressof(self._words)})
                program.run(0, 0)
                self.address = self._words.run_chunks
                self._program, self._compiler = program, compiler

    def start(self, count: int) -> None:
        """Start workers until there are `count`, or as many as the system allows."""
        with self._lock:
            while len(self._workers) < min(count, THREAD_LIMIT - 1) and not self._words.stop:
                assert self._program is not None, "the code of workers is made before they start"
                worker = Thread(target=self._program.run, args=(1, 0), name="chunks", daemon=True)
                try:
                    worker.start()
                except RuntimeError:
                    # The system, or this process's sandbox, allows no further thread.
                    return
                self._workers.append(worker)
                self._words.workers = len(self._workers)

    def forget_slow_kernels(self) -> None:
        """Forget how many kernels are to be run by their callers alone."""
        self._words.penalty = self._words.skips = 0

    def stop(self) -> None:
        """End the workers, which cannot be started again in this process."""
        with self._lock:
            self._words.workers = 0
            self._words.stop = 1
            self._words.sequence[0] += 1
            wake, everyone = 129, (1 << 31) - 1
            address = ctypes.c_void_p(ctypes.addressof(self._words.sequence))
            self._waker(ctypes.c_long(self._words.futex), address, wake, everyone, None, None, 0)
            for worker in self._workers:
                worker.join(_STOP_SECONDS)

    def _forget(self) -> None:
        """Begin anew in a process that was forked: the workers are those of the other."""
        self._lock = Lock()
        self._workers = []
        futex = self._words.futex
        ctypes.memset(ctypes.addressof(self._words), 0, ctypes.sizeof(_Words))
        self._words.futex = futex


@lru_cache(1)
def _threads() -> _Threads:
    return _Threads()
