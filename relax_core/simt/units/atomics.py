"""Atomic operations: threads that meet in one cell change it one after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from relax_core.ops.kernels.numbers import BINARY, Plain, select
from relax_core.simt.memory import Bools
from relax_core.simt.values import lanes_first


def _exchanged(old: Plain, compared: Plain, value: Plain) -> Plain:
    return select(BINARY["=="](old, compared), value, old)


ATOMICS: Final[Mapping[str, Callable[..., Plain]]] = MappingProxyType(
    {
        "cuda.atomic_add": BINARY["+"], "atomic_add": BINARY["+"],
        "cuda.atomic_cas": _exchanged, "atomic_cas": _exchanged,
    }
)  # fmt: skip
"""What a cell holds behind each, from what it held and the operands."""


def rounds(indices: Sequence[Plain], lanes: Bools) -> Iterator[Bools]:
    """Yield the lanes of which each has a cell of its own: the first one of each cell, then the second, and so on."""
    chosen = np.flatnonzero(lanes)
    keys = np.stack([np.zeros(len(chosen), np.int64), *(lanes_first(item, len(lanes))[chosen] for item in indices)])
    cell = np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)
    order = np.argsort(cell, kind="stable")
    sorted_cells = cell[order]
    starts = np.searchsorted(sorted_cells, sorted_cells)
    rank = np.arange(len(order)) - starts
    for number in range(int(rank.max(initial=-1)) + 1):
        taken = np.zeros(len(lanes), np.bool_)
        taken[chosen[order[rank == number]]] = True
        yield taken
