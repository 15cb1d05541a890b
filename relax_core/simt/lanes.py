"""The threads of a launch: the grid, and the threads of some of its blocks as lanes of arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_] | None
"""Which lanes take part; `None` for all of them."""
WARP: Final = 32
AXES: Final = ("x", "y", "z")
LANES_AT_ONCE: Final = 1 << 15
"""So many lanes are simulated in one go: their arrays fit into the cache of a processor."""


@dataclass(frozen=True)
class Grid:
    """How many blocks and threads there are along each axis; a tag that nothing launches has one."""

    extents: Mapping[str, int]

    def along(self, kind: str) -> tuple[int, int, int]:
        """Return the extents of "blockIdx" or "threadIdx" along x, y, z."""
        x, y, z = (self.extents.get(f"{kind}.{axis}", 1) for axis in AXES)
        return x, y, z

    @cached_property
    def block_count(self) -> int:
        """The number of blocks."""
        return prod(self.along("blockIdx"))

    @cached_property
    def thread_count(self) -> int:
        """The number of threads of a block."""
        return prod(self.along("threadIdx"))

    @cached_property
    def warp_count(self) -> int:
        """The number of warps of a block."""
        return -(-self.thread_count // WARP)

    def place(self, thread: int) -> str:
        """Name a thread, numbered through all blocks: where it is in the grid, in its block, in its warp."""
        block, inside = divmod(thread, self.thread_count)
        parts: list[str] = []
        for kind, number in (("block", block), ("thread", inside)):
            x, y, _ = shape = self.along(f"{kind}Idx")
            place = (number % x, number // x % y, number // (x * y))
            used = max((axis + 1 for axis in range(3) if shape[axis] > 1), default=1)
            parts.append(f"{kind} {place[0] if used == 1 else place[:used]}")
        return f"{', '.join(parts)} (warp {inside // WARP}, lane {inside % WARP})"

    def batches(self) -> range:
        """Return the first blocks of the groups of blocks that are simulated at once."""
        return range(0, self.block_count, max(1, LANES_AT_ONCE // self.thread_count))


class Lanes:
    """The threads of the blocks from `first` on, one lane each; the lanes of a block are neighbours."""

    def __init__(self, grid: Grid, first: int, block_count: int | None = None, warp: int | None = None) -> None:
        """Take so many blocks, as many as there is room for by default; with `warp` only one warp of the first."""
        self.grid = grid
        self.first = first
        most = min(max(1, LANES_AT_ONCE // grid.thread_count), grid.block_count - first)
        self.block_count = most if block_count is None else block_count
        lane = np.arange(self.block_count * grid.thread_count)
        if warp is not None:
            lane = lane[warp * WARP : (warp + 1) * WARP]
        self.count = len(lane)
        self._all = np.ones(self.count, np.bool_)
        self._all.setflags(write=False)
        self.block_in_batch = lane // grid.thread_count
        """The number of a lane's block among those of the batch."""
        self.inside = lane % grid.thread_count
        """The number of a lane's thread in its block."""
        self.thread = lane + first * grid.thread_count
        """The number of a lane's thread through all blocks."""
        self.warp = self.block_in_batch * grid.warp_count + self.inside // WARP
        """The number of a lane's warp among those of the batch."""

    def numbers(self, tag: str, dtype: str) -> Array | int:
        """Return what a variable of a tag, such as "threadIdx.x", is in each lane."""
        kind, _, axis = tag.partition(".")
        x, y, z = self.grid.along(kind)
        number = self.block_in_batch + self.first if kind == "blockIdx" else self.inside
        match axis:
            case "x":
                found, extent = number % x, x
            case "y":
                found, extent = number // x % y, y
            case _:
                found, extent = number // (x * y), z
        return 0 if extent == 1 else found.astype(dtype)

    def full(self, mask: Mask) -> npt.NDArray[np.bool_]:
        """Return a mask with all its lanes."""
        return self._all if mask is None else mask
