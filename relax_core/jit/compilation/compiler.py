"""From LLVM IR to linked machine code: kept in memory, found in the cache, made ahead by another process, or here.

A kernel is found by what it is lowered from, so that one that was compiled before is not lowered either.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from relax_core.jit.compilation.cache import ObjectCache, open_cache
from relax_core.jit.compilation.compile_process import CompileProcess, Descriptors, Work
from relax_core.jit.compilation.llvm_source import LLVMSource
from relax_core.jit.compilation.metadata import CachedKernel, KernelMetadata
from relax_core.jit.compilation.pool import Pool
from relax_core.jit.compilation.specialisation import Request
from relax_core.jit.compilation.target import NO_SYMBOLS, Program, Target
from relax_core.jit.lowering.frame import ENTRY

PROGRAM_COUNT: Final = 512
PROCESS_COUNT: Final = 2


def local_compiler() -> "Compiler":
    """Return a compiler with the user's cache, and processes of its own that compile ahead."""
    target, cache = Target(), open_cache(is_writable=True)
    return Compiler(target, cache, Pool(lambda: CompileProcess(cache), PROCESS_COUNT, target, cache))


def served_compiler(descriptor: int) -> "Compiler":
    """Return a compiler that only reads the user's cache, and asks the process at a socket to write it."""
    target, cache, connection = Target(), open_cache(is_writable=False), Descriptors(descriptor, descriptor)
    return Compiler(target, cache, Pool(lambda: connection, 1, target, cache, connection.keep))


class Compiler:
    """Compiles for one target. The same instructions are compiled and linked once.

    Where `cache` may only be read, the processes of `pool` get what is missing there, and write it.
    """

    def __init__(self, target: Target, cache: ObjectCache | None = None, pool: Pool | None = None) -> None:
        self.target = target
        self.cache = cache
        self.pool = pool
        self._programs: OrderedDict[str, Program] = OrderedDict()
        self._metadata: OrderedDict[str, KernelMetadata] = OrderedDict()

    @property
    def program_count(self) -> int:
        """Number of programs that are kept."""
        return len(self._programs)

    def program(self, source: LLVMSource, symbols: Mapping[str, int] = NO_SYMBOLS) -> Program:
        """Return the linked code of `source`; `symbols` are the addresses that it leaves open."""
        key = source.key(self.target)
        found = self._kept(key)
        return found or self._linked(key, self._image(key, source), source.entry, symbols)

    def has(self, key: str) -> bool:
        """Tell whether the kernel that is known by `key` is in memory or in the cache, or was made ahead."""
        metadata = self._metadata.get(key)
        if metadata is not None and metadata.program in self._programs:
            return True
        if self.cache is not None and self.cache.path(key).exists():
            return True
        return self.pool is not None and self.pool.has(key)

    def find(self, key: str) -> CachedKernel | None:
        """Return the kernel that is known by `key` from memory or from the cache; one in memory has no object."""
        metadata = self._metadata.get(key)
        if metadata is not None and metadata.program in self._programs:
            return CachedKernel(metadata, b"")
        content = None if self.cache is None else self.cache.get(key)
        return None if content is None else CachedKernel.from_bytes(content)

    def take(self, key: str) -> CachedKernel | None:
        """Return the kernel that is known by `key`, if it was made ahead."""
        content = None if self.pool is None else self.pool.take(key)
        return None if content is None else CachedKernel.from_bytes(content)

    def link(self, key: str, entry: CachedKernel, symbols: Mapping[str, int] = NO_SYMBOLS) -> Program:
        """Return the linked code of a kernel that was found."""
        self._metadata[key] = entry.metadata
        self._metadata.move_to_end(key)
        if len(self._metadata) > PROGRAM_COUNT:
            self._metadata.popitem(last=False)
        found = self._kept(entry.metadata.program)
        return found or self._linked(entry.metadata.program, entry.image, ENTRY, symbols)

    def compile(
        self, request: Request, metadata: KernelMetadata, source: LLVMSource, symbols: Mapping[str, int] = NO_SYMBOLS
    ) -> Program:
        """Return the linked code of a kernel that was not found and is lowered to `source`."""
        key, image = request.key(self.target), b""
        if self._kept(metadata.program) is None:
            image = source.compile(self.target)
            # To keep what is made so quickly takes as long as to make it again.
            if source.pipeline != "brief":
                self._keep(key, CachedKernel(metadata, image).to_bytes(), request)
        return self.link(key, CachedKernel(metadata, image), symbols)

    def _kept(self, key: str) -> Program | None:
        found = self._programs.get(key)
        if found is not None:
            self._programs.move_to_end(key)
        return found

    def _linked(self, key: str, image: bytes, entry: str, symbols: Mapping[str, int]) -> Program:
        made = self._programs[key] = self.target.link(image, entry, symbols)
        if len(self._programs) > PROGRAM_COUNT:
            self._programs.popitem(last=False)
        return made

    def _image(self, key: str, source: LLVMSource) -> bytes:
        image = None if self.cache is None else self.cache.get(key)
        if image is None and self.pool is not None:
            image = self.pool.take(key)
        if image is None:
            image = source.compile(self.target)
            self._keep(key, image, source)
        return image

    def _keep(self, key: str, content: bytes, work: Work) -> None:
        """Put what was made into the cache, or let a process do so that may write it."""
        if self.cache is not None:
            self.cache.put(key, content)
            if self.pool is not None and not self.cache.is_writable:
                self.pool.keep(key, work)
