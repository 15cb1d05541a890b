"""The engine: makes kernels, keeps what is compiled, and stops what runs."""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b

from relax_core.ir.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.kernel import Kernel
from relax_core.jit.lower import NO_FUNCTIONS
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions
from relax_core.jit.target import Program, Target

# So far below zero that no payment of a running kernel brings it back, and no sum of payments wraps around.
CANCELLED_FUEL = -(1 << 62)
UNLIMITED_FUEL = 1 << 62
PROGRAM_COUNT = 512
KERNEL_COUNT = 512


class Engine:
    """Compiles prim funcs for the host.

    `fuel` limits the work that the loops of one call do, a unit is about a nanosecond; `is_cancelled` is asked
    before a kernel starts, so that a cancellation between two kernels is not lost.
    """

    def __init__(
        self,
        *,
        fuel: int = UNLIMITED_FUEL,
        allocation_limit_bytes: int = 1 << 30,
        is_cancelled: Callable[[], bool] = lambda: False,
        options: KernelOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.target = Target()
        self.fuel = fuel
        self.options = options
        self.allocation_limit_bytes = allocation_limit_bytes
        self._is_cancelled = is_cancelled
        self._programs: OrderedDict[str, Program] = OrderedDict()
        self._kernels: OrderedDict[tuple[PrimFunc, str, RewriteLog | None, int], Kernel] = OrderedDict()
        self._running: dict[int, ctypes.Array[ctypes.c_int64]] = {}
        self._cancelled: set[int] = set()

    @property
    def program_count(self) -> int:
        """Number of programs that are compiled and kept."""
        return len(self._programs)

    def kernel(
        self,
        prim_func: PrimFunc,
        name: str,
        log: RewriteLog | None = None,
        functions: Mapping[str, PrimFunc] = NO_FUNCTIONS,
    ) -> Kernel:
        """Return the kernel of `prim_func`; it is compiled when it is called.

        `log` leads its nodes back to the user's text; `functions` are the prim funcs that it may call, by name.
        """
        # The kernel keeps `functions`, so that no other mapping has this number as long as it is kept.
        key = (prim_func, name, log, id(functions))
        found = self._kernels.get(key)
        if found is None:
            found = self._kernels[key] = Kernel(self, prim_func, name, log, functions)
            if len(self._kernels) > KERNEL_COUNT:
                self._kernels.popitem(last=False)
        return found

    def cancel(self) -> None:
        """Stop the kernels that run, from another thread; each ends with JT014 within milliseconds."""
        for number, record in list(self._running.items()):
            self._cancelled.add(number)
            record[0] = CANCELLED_FUEL

    def program(self, text: str, entry: str, *, has_vectors: bool) -> Program:
        """Compile LLVM IR, for `has_vectors` as the target says.

        The same instructions, whatever the comments, are compiled once.
        """
        # Structurally equal prim funcs lower to the same instructions, as these hold no names of the text.
        lines = (line for line in text.splitlines() if not line.lstrip().startswith(";"))
        key = blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = self.target.compile(text, entry, has_vectors=has_vectors)
            if len(self._programs) > PROGRAM_COUNT:
                self._programs.popitem(last=False)
        else:
            self._programs.move_to_end(key)
        return found

    def start(self, record: "ctypes.Array[ctypes.c_int64]") -> None:
        """Declare that a kernel runs with this error record."""
        self._running[ctypes.addressof(record)] = record
        if self._is_cancelled():
            self.cancel()

    def finish(self, record: "ctypes.Array[ctypes.c_int64]") -> bool:
        """Declare that it ended; tell whether it was cancelled."""
        number = ctypes.addressof(record)
        del self._running[number]
        was_cancelled = number in self._cancelled
        self._cancelled.discard(number)
        return was_cancelled
