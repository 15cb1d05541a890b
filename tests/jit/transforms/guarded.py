"""Runs kernels on arrays that end where a page begins that must not be touched: a read behind one kills this process.

python -m tests.jit.transforms.guarded
"""

import ctypes
import mmap
from collections.abc import Sequence

import numpy as np

from relax_core.ir.prim import BinaryKind
from relax_core.ir.tir import IterKind, PrimFunc
from tests.jit.transforms.nests import ENGINES, Accumulation, Array, Input, permuted
from tests.jit.transforms.test_gather import arrays_of, function_of
from tests.jit.transforms.test_guard import arrays_of as indexed
from tests.jit.transforms.test_guard import kernel_of
from tests.jit.transforms.test_rows import added, rows, start_of

PROT_NONE = 0
S: IterKind = "spatial"
R: IterKind = "reduce"


def at_the_end_of_a_page(array: Array, kept: list[object]) -> Array:
    """Copy an array to the end of memory behind which nothing may be read; `kept` keeps the memory."""
    size = -(-max(array.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    kept.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(mmap.PAGESIZE), PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect")
    inside = np.frombuffer(memory, array.dtype, array.size, size - array.nbytes).reshape(array.shape)
    inside[...] = array
    return inside


def run(function: PrimFunc, arrays: Sequence[Array]) -> None:
    """Run a kernel with the narrowest and the widest vectors."""
    for engine in (ENGINES[128], ENGINES[512]):
        kept: list[object] = []
        engine.kernel(function, "guarded")(*(at_the_end_of_a_page(array, kept) for array in arrays))


def main() -> None:
    """Run reductions, a transposition, a copy, and reads and stores at places that are data, of awkward sizes."""
    reductions: tuple[tuple[BinaryKind, int], ...] = (("+", 19), ("+", 3), ("max", 1))
    for columns in (17, 130):
        for op, count in reductions:
            nest = rows(op, "float32")
            run(nest.function((count, columns)), nest.arrays((count, columns), 0))
        column_sums = Accumulation((R, S), (Input((0, 1)),), lambda x: x, added, start_of("+", "float32"))
        run(column_sums.function((5, columns)), column_sums.arrays((5, columns), 0))
        for shape, order in (((columns, 21), (1, 0)), ((columns, 5), (1, 0)), ((5, columns), (0, 1))):
            source = [shape[order.index(axis)] for axis in range(2)]
            arrays = [np.zeros(source, "float32"), np.zeros(shape, "float32")]
            run(permuted(shape, order, (1, 1)), arrays)
    for name, columns in (
        ("pairs", 13),
        ("pairs", 16),
        ("the second of pairs", 16),
        ("sums and products", 37),
        ("elements", 5),
        ("a place of another row", 13),
    ):
        run(function_of(name, "two loops", "float32", "int64"), arrays_of(0, (3, columns), "float32", "int64"))
    for name in ("added elements", "a store at pairs", "pairs in one row", "a store with a sum"):
        random = np.random.default_rng(0)
        run(kernel_of(name, "int32"), indexed(random, (5, 17), "int32", ()))


if __name__ == "__main__":
    main()
