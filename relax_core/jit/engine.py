"""The engine: makes kernels, keeps what is compiled, and stops what runs."""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from weakref import ref

from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.calls.builtin import RECORD_COUNT, Builtins, Records, builtin_program
from relax_core.jit.calls.memory import keep_freed_memory
from relax_core.jit.calls.threads import thread_count, thread_symbols
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.metadata import KernelMetadata
from relax_core.jit.compilation.specialisation import Request, Specialisation, source_of
from relax_core.jit.compilation.target import NO_SYMBOLS, Target
from relax_core.jit.kernel import CANCELLED_FUEL, Compiled, Kernel
from relax_core.jit.lowering.lower import NO_FUNCTIONS
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions

UNLIMITED_FUEL = 1 << 62
KERNEL_COUNT = 512
# A module of fewer kernels is compiled here before other processes would have started.
AHEAD_COUNT = 16


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
        compiler: Compiler | None = None,
    ) -> None:
        keep_freed_memory()
        self._compiler = compiler or Compiler(Target())
        self.target = self._compiler.target
        self.fuel = fuel
        self.options = replace(
            options,
            vector_bits=options.vector_bits or self.target.vector_bits,
            threads=thread_count(options.threads),
        )
        self.allocation_limit_bytes = allocation_limit_bytes
        self._is_cancelled = is_cancelled
        self._builtins: Builtins | None = None
        self._has_builtins = True
        self._kernels: OrderedDict[tuple[PrimFunc, str, RewriteLog | None, int], Kernel] = OrderedDict()
        self._prepared: set[int] = set()
        self._running: dict[int, ctypes.Array[ctypes.c_int64]] = {}
        self._cancelled: set[int] = set()
        self._is_stopping = False

    @property
    def program_count(self) -> int:
        """Number of programs that are compiled and kept."""
        return self._compiler.program_count

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

    def compile_ahead(self, kernel: Kernel) -> None:
        """Let other processes compile the kernels of the module of `kernel`, if these are many, but not `kernel`.

        Those of an engine for brief runs are compiled in less time than another process takes to be asked.
        """
        pool = self._compiler.pool
        if pool is None or self.options.is_brief:
            return
        number, count = id(kernel.functions), len(kernel.functions)
        if number not in self._prepared and AHEAD_COUNT <= count <= KERNEL_COUNT // 2:
            self._prepared.add(number)
            for name, function in kernel.functions.items():
                other = self.kernel(function, name, kernel.log, kernel.functions)
                if other is not kernel:
                    # What waits does not keep an engine that is done with.
                    pool.submit(id(other), partial(_request_ahead, ref(other)))
        pool.claim(id(kernel))

    @property
    def builtins(self) -> Builtins | None:
        """What builtins that run kernels share, made when it is first asked for; `None` if they cannot be made."""
        if self._builtins is None and self._has_builtins:
            program = builtin_program(self._compiler)
            self._has_builtins = program is not None
            if program is not None:
                self._builtins = Builtins(program, Records(self.fuel, (1 << RECORD_COUNT) - 1), self._is_cancelled)
        return self._builtins

    def cancel(self) -> None:
        """Stop the kernels that run, from another thread; each ends with JT014 within milliseconds.

        So does one that is lowered; what LLVM is at work on it finishes.
        """
        self._is_stopping = True
        if self._builtins is not None:
            self._builtins.records.empty(CANCELLED_FUEL)
        for number, record in list(self._running.items()):
            self._cancelled.add(number)
            record[0] = CANCELLED_FUEL

    def compiled(self, kernel: Kernel, wanted: Specialisation) -> Compiled:
        """Find the code of a specialisation of `kernel`, or lower and compile it."""
        compiler, request = self._compiler, wanted.request()
        key = "" if request is None else request.key(self.target)
        entry = None if request is None else compiler.find(key)
        if entry is None:
            self.compile_ahead(kernel)
            entry = compiler.take(key)
        if entry is not None:
            return Compiled(entry.metadata, compiler.link(key, entry, self._symbols(entry.metadata)), None)
        self._is_stopping = False
        lowered = wanted.lowered(kernel.locate, self._is_unwanted)
        metadata, source = wanted.metadata(lowered, self.target), source_of(lowered)
        if request is None or not metadata.is_kept:
            return Compiled(metadata, compiler.program(source, self._symbols(metadata)), lowered)
        return Compiled(metadata, compiler.compile(request, metadata, source, self._symbols(metadata)), lowered)

    def is_at_hand(self, wanted: Specialisation) -> bool:
        """Tell whether the code of a specialisation is found, and nothing has to be compiled."""
        request = wanted.request()
        return request is not None and self._compiler.has(request.key(self.target))

    def make_ahead(self, wanted: Specialisation) -> str | None:
        """Let another process compile a specialisation; return what to ask `is_made` for, `None` if none can.

        That of an engine for brief runs is compiled in less time than another process takes to be asked.
        """
        pool, request = self._compiler.pool, wanted.request()
        if pool is None or request is None or self.options.is_brief:
            return None
        key = request.key(self.target)
        pool.submit(key, lambda: request)
        return key

    def is_made(self, key: str) -> bool:
        """Tell whether another process has compiled what `make_ahead` named so."""
        return self._compiler.has(key)

    def _is_unwanted(self) -> bool:
        return self._is_stopping or self._is_cancelled()

    def _symbols(self, metadata: KernelMetadata) -> Mapping[str, int]:
        return thread_symbols(self.options.threads, self._compiler) if metadata.has_chunks else NO_SYMBOLS

    def variation(self, options: KernelOptions) -> "Variation":
        """Return what makes kernels with other options, which run and are cancelled here."""
        return Variation(self, options)

    def start(self, record: "ctypes.Array[ctypes.c_int64]") -> None:
        """Declare that a kernel runs with this error record."""
        number = ctypes.addressof(record)
        # A cancellation may have come between the end of the last kernel with a record here and its `finish`.
        self._cancelled.discard(number)
        self._running[number] = record
        if self._is_cancelled():
            self.cancel()

    def finish(self, record: "ctypes.Array[ctypes.c_int64]") -> bool:
        """Declare that it ended; tell whether it was cancelled."""
        number = ctypes.addressof(record)
        del self._running[number]
        was_cancelled = number in self._cancelled
        self._cancelled.discard(number)
        return was_cancelled


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    """What a kernel needs of an engine that compiles other kernels with other options."""

    engine: Engine
    options: KernelOptions

    @property
    def target(self) -> Target:
        """The processor."""
        return self.engine.target

    @property
    def fuel(self) -> int:
        """The limit of the work of one call."""
        return self.engine.fuel

    @property
    def allocation_limit_bytes(self) -> int:
        """The most that a kernel allocates."""
        return self.engine.allocation_limit_bytes

    @property
    def builtins(self) -> Builtins | None:
        """What builtins that run kernels share, with the engine's own kernels too."""
        return self.engine.builtins

    def compiled(self, kernel: Kernel, wanted: Specialisation) -> Compiled:
        """Find the code of a specialisation of `kernel`, or lower and compile it."""
        return self.engine.compiled(kernel, wanted)

    def is_at_hand(self, wanted: Specialisation) -> bool:
        """Tell whether the code of a specialisation is found, and nothing has to be compiled."""
        return self.engine.is_at_hand(wanted)

    def make_ahead(self, wanted: Specialisation) -> str | None:
        """Let another process compile a specialisation; return what to ask `is_made` for, `None` if none can."""
        return self.engine.make_ahead(wanted)

    def is_made(self, key: str) -> bool:
        """Tell whether another process has compiled what `make_ahead` named so."""
        return self.engine.is_made(key)

    def start(self, record: "ctypes.Array[ctypes.c_int64]") -> None:
        """Declare that a kernel runs with this error record."""
        self.engine.start(record)

    def finish(self, record: "ctypes.Array[ctypes.c_int64]") -> bool:
        """Declare that it ended; tell whether it was cancelled."""
        return self.engine.finish(record)


def _request_ahead(kernel: "ref[Kernel]") -> Request | None:
    found = kernel()
    return None if found is None else found.request_ahead()
