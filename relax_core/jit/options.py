"""How kernels are compiled: the numerical mode, and which checks they make."""

from dataclasses import dataclass
from typing import Literal

Mode = Literal["bitwise", "exact", "fast"]


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What changes the code of a kernel; part of the key of everything compiled.

    `mode`: "bitwise" calls the C library and keeps the order of operations, so that results equal those of apache-tvm's
    `llvm` target bit for bit; "exact" keeps the order too, and takes polynomials of less than 1 ulp for
    transcendental functions; "fast" may also reassociate sums into a fixed tree and fuse a multiplication with
    an addition. `is_checked` is off only in benchmarks: accesses are then taken to be in range. `finds_uninitialised`
    stops a kernel that reads an element of an output or of a temporary to which nothing was written.
    `is_transformed` is off for the naive lowering, which tests compare with.
    """

    mode: Mode = "exact"
    is_checked: bool = True
    finds_uninitialised: bool = False
    is_transformed: bool = True


DEFAULT_OPTIONS = KernelOptions()
