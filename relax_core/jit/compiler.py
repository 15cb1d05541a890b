"""From LLVM IR to linked machine code: kept in memory, found in the cache, made ahead by another process, or here."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from relax_core.jit.cache import ObjectCache, open_cache
from relax_core.jit.compile_process import CompileProcess, Descriptors
from relax_core.jit.llvm_source import Source
from relax_core.jit.pool import Pool
from relax_core.jit.target import NO_SYMBOLS, Program, Target

PROGRAM_COUNT: Final = 512
PROCESS_COUNT: Final = 2


def local_compiler() -> "Compiler":
    """Return a compiler with the user's cache, and processes of its own that compile ahead."""
    target, cache = Target(), open_cache(is_writable=True)
    return Compiler(target, cache, Pool(lambda: CompileProcess(cache), PROCESS_COUNT, target, cache))


def served_compiler(descriptor: int) -> "Compiler":
    """Return a compiler that only reads the user's cache, and asks the process at a socket to write it."""
    target, cache = Target(), open_cache(is_writable=False)
    return Compiler(target, cache, Pool(lambda: Descriptors(descriptor, descriptor), 1, target, cache))


class Compiler:
    """Compiles for one target. The same instructions are compiled and linked once.

    Where `cache` may only be read, the processes of `pool` get what is missing there, and write it.
    """

    def __init__(self, target: Target, cache: ObjectCache | None = None, pool: Pool | None = None) -> None:
        self.target = target
        self.cache = cache
        self.pool = pool
        self._programs: OrderedDict[str, Program] = OrderedDict()

    @property
    def program_count(self) -> int:
        """Number of programs that are kept."""
        return len(self._programs)

    def program(self, source: Source, symbols: Mapping[str, int] = NO_SYMBOLS) -> Program:
        """Return the linked code of `source`; `symbols` are the addresses that it leaves open."""
        key = source.key(self.target)
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = self.target.link(self._image(key, source), source.entry, symbols)
            if len(self._programs) > PROGRAM_COUNT:
                self._programs.popitem(last=False)
        else:
            self._programs.move_to_end(key)
        return found

    def _image(self, key: str, source: Source) -> bytes:
        image = None if self.cache is None else self.cache.get(key)
        if image is None and self.pool is not None:
            image = self.pool.take(key)
        if image is not None:
            return image
        image = source.compile(self.target)
        if self.cache is not None:
            self.cache.put(key, image)
            if self.pool is not None and not self.cache.is_writable:
                self.pool.submit(key, lambda: source)
        return image
