"""How kernels are compiled: the numerical mode, and which checks they make."""

from dataclasses import dataclass
from typing import Literal, get_args

Mode = Literal["bitwise", "exact", "fast"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What changes the code of a kernel; part of the key of everything compiled.

    `mode`: "bitwise" calls the C library and keeps the order of operations, so that results equal those of apache-tvm's
    `llvm` target bit for bit; "exact" keeps the order too, and takes polynomials of less than 1 ulp for
    transcendental functions; "fast" may also reassociate sums into a fixed tree and fuse a multiplication with
    an addition. `is_checked` is off only in benchmarks: accesses are then taken to be in range. `finds_uninitialised`
    stops a kernel that reads an element of an argument or of a temporary to which nothing was written.
    `is_transformed` is off for the naive lowering, which tests compare with. With `is_brief` a kernel that is known to
    run for microseconds is compiled as quickly as that goes, to the same bits; "fast" takes no notice of it.
    `vector_bits` is the width of the vectors that transformations write, which an engine takes from its processor where
    it is 0. `threads` are how many run the chunks of a big kernel, its caller included; an engine takes as many as
    there are processors where it is 0. `without` are the names of transformations that leave every loop alone, in
    alphabetical order.
    """

    mode: Mode = "exact"
    is_checked: bool = True
    finds_uninitialised: bool = False
    is_transformed: bool = True
    is_brief: bool = False
    vector_bits: int = 0
    threads: int = 0
    without: tuple[str, ...] = ()

    def lanes(self, bits: int) -> int:
        """Return how many values of `bits` bits a vector holds; every x86-64 and ARM processor has 128 bits."""
        return max((self.vector_bits or 128) // max(bits, 8), 1)


DEFAULT_OPTIONS = KernelOptions()
