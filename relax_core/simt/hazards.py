"""Races: two accesses of a cell by different threads, at least one a write, with no barrier between them.

What orders two threads of a block is a barrier that both reach; nothing orders threads of two blocks of a launch. Of
each cell the last writer is kept, and two readers: a write that neither of them is ordered with shows every race that a
third one would show. Reads of memory that nothing writes until the next barrier are not looked at one by one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from relax_core.ir.node import Node
from relax_core.simt.lanes import Array, Grid, Lanes
from relax_core.simt.memory import Bools, Memory

Hazard: TypeAlias = Literal["read after write", "write after write", "write after read"]
NOBODY: Final = -1
_MANY: Final = 1 << 24
"""So many accesses may wait until it is known whether a write meets them."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One access: by which lanes, of which cells, and by what in the program. All arrays have one entry per cell."""

    memory: Memory
    node: Node
    cells: Array
    thread: Array
    epoch: Array
    warp_epoch: Array
    is_atomic: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """The races of two places in the program in one access: the threads of both, and the cells."""

    hazard: Hazard
    memory: Memory
    first: Node
    second: Node
    cells: Array
    first_threads: Array
    second_threads: Array
    is_same_warp: bool
    """Whether all pairs of threads are of one warp, and of the same block."""
    is_same_value: bool


class Shadow:
    """Who accessed the cells of a memory last."""

    def __init__(self, memory: Memory, grid: Grid, nodes: list[Node]) -> None:
        count = len(memory.written)
        self._memory = memory
        self._grid = grid
        self._nodes = nodes
        """The places in the program, by number."""
        self._number_of: dict[Node, int] = {}
        self._writer = np.full(count, NOBODY, np.int64)
        self._readers = np.full((2, count), NOBODY, np.int64)
        # Of the writer and of each reader: the barrier before it, the barrier of its warp, its place in the program.
        self._facts = np.zeros((3, 3, count), np.int32)
        self._is_atomic = np.zeros(count, np.bool_)
        self._waiting: list[Callable[[], Access]] = []
        self._waiting_count = 0
        self.is_written = False
        """Whether a write came since the last barrier of all."""

    def copied(self) -> tuple[Array, ...]:
        """Return what is known of each cell, to come back to; no read may wait."""
        parts = (self._writer, self._readers, self._facts, self._is_atomic)
        return (*(item.copy() for item in parts), np.asarray(self.is_written))

    def restore(self, kept: tuple[Array, ...]) -> None:
        """Know what was known before."""
        self.forget_reads()
        self._writer[:], self._readers[:], self._facts[:], self._is_atomic[:] = kept[:4]
        self.is_written = bool(kept[4])

    @property
    def writers(self) -> Array:
        """The thread that wrote each cell last, numbered through all blocks; `NOBODY` if none did."""
        return self._writer

    def forget_reads(self) -> None:
        """Begin anew behind a barrier that every thread reached: no read in front of it meets a write behind it."""
        self._waiting.clear()
        self._waiting_count = 0
        self.is_written = False

    @property
    def lets_reads_wait(self) -> bool:
        """Whether no write came since the last barrier of all, so that a read may wait for one."""
        return self._memory.kind == "shared" and not self.is_written and self._waiting_count < _MANY

    def wait(self, read: Callable[[], Access], count: int) -> None:
        """Let a read of `count` cells wait: it is made when a write comes, before the next barrier."""
        self._waiting.append(read)
        self._waiting_count += count

    def read(self, access: Access) -> list[Race]:
        """Look at a read."""
        return [*self.flushed(), *self._read(access)]

    def flushed(self) -> list[Race]:
        """Look at the reads that wait."""
        waiting, self._waiting, self._waiting_count = self._waiting, [], 0
        return [race for access in waiting for race in self._read(access())]

    def _number(self, node: Node) -> int:
        if node not in self._number_of:
            self._number_of[node] = len(self._nodes)
            self._nodes.append(node)
        return self._number_of[node]

    def _meets(self, access: Access, other: Array, role: int) -> Bools:
        """Tell in which cells the access and the one that `other` made are not ordered."""
        here, there = access.thread, other
        found = (there != NOBODY) & (there != here)
        if not found.any():
            return found
        barrier, warp_barrier, _ = self._facts[role][:, access.cells]
        threads = self._grid.thread_count
        is_same_block = here // threads == there // threads
        is_ordered = is_same_block & (barrier != access.epoch)
        is_same_warp = here % threads // 32 == there % threads // 32
        is_ordered |= is_same_block & is_same_warp & (warp_barrier != access.warp_epoch)
        return found & ~is_ordered

    def _races(self, access: Access, hazard: Hazard, found: Bools, other: Array, role: int) -> list[Race]:
        if not found.any():
            return []
        cells, here, there = access.cells[found], access.thread[found], other[found]
        places = self._facts[role][2, cells]
        races: list[Race] = []
        numbers: list[int] = np.unique(places).tolist()
        for number in numbers:
            at = places == number
            races.append(self._race(access, hazard, self._nodes[number], (cells[at], there[at], here[at])))
        return races

    def _race(self, access: Access, hazard: Hazard, first: Node, of: tuple[Array, Array, Array]) -> Race:
        cells, there, here = of
        threads = self._grid.thread_count
        blocks = here // threads == there // threads
        is_same_warp = bool((blocks & (here % threads // 32 == there % threads // 32)).all())
        return Race(hazard, self._memory, first, access.node, cells, there, here, is_same_warp, is_same_value=False)

    def _read(self, access: Access) -> list[Race]:
        cells = access.cells
        writer = self._writer[cells]
        found = self._meets(access, writer, 0)
        if access.is_atomic:
            found &= ~self._is_atomic[cells]
        races = self._races(access, "read after write", found, writer, 0)
        self._note_reader(access)
        return races

    def _note_reader(self, access: Access) -> None:
        """Keep the reader; who read before goes to the second place unless it is ordered, or the same thread."""
        cells, number = access.cells, self._number(access.node)
        old = self._readers[0, cells]
        stays = self._meets(access, old, 1)
        kept = cells[stays]
        self._readers[1, kept] = old[stays]
        self._facts[2][:, kept] = self._facts[1][:, kept]
        facts = (access.epoch, access.warp_epoch)
        self._put_reader(0, access, np.ones(len(cells), np.bool_), facts, number)
        # Of lanes that read one cell at once one is in the first place now, and another one goes to the second.
        others = self._readers[0, cells] != access.thread
        if others.any():
            self._put_reader(1, access, others, facts, number)

    def _put_reader(self, place: int, access: Access, at: Bools, facts: tuple[Array, Array], number: int) -> None:
        cells = access.cells[at]
        self._readers[place, cells] = access.thread[at]
        self._facts[place + 1][0, cells] = facts[0][at]
        self._facts[place + 1][1, cells] = facts[1][at]
        self._facts[place + 1][2, cells] = number

    def write(self, access: Access, is_same: Callable[[], Bools]) -> list[Race]:
        """Look at a write; `is_same` tells of each cell whether it holds what is written."""
        races = self.flushed()
        self.is_written = True
        cells = access.cells
        writer = self._writer[cells]
        found = self._meets(access, writer, 0)
        if access.is_atomic:
            found &= ~self._is_atomic[cells]
        races += self._by_value(access, found, writer, is_same)
        if not access.is_atomic:
            for place in (0, 1):
                reader = self._readers[place, cells]
                found = self._meets(access, reader, place + 1)
                races += self._races(access, "write after read", found, reader, place + 1)
        self._writer[cells] = access.thread
        facts = self._facts[0]
        facts[0, cells], facts[1, cells], facts[2, cells] = access.epoch, access.warp_epoch, self._number(access.node)
        self._is_atomic[cells] = access.is_atomic
        return races

    def clash(self, access: Access, is_same: Callable[[], Bools]) -> list[Race]:
        """Find lanes that wrote one cell at once, behind `write`; `is_same` tells whether the cell kept their value."""
        if access.is_atomic:
            return []
        last = self._writer[access.cells]
        return self._by_value(access, last != access.thread, last, is_same)

    def _by_value(self, access: Access, found: Bools, writer: Array, is_same: Callable[[], Bools]) -> list[Race]:
        """Return the races of two writes: those that change a value, and those that do not."""
        if not found.any():
            return []
        kept = is_same()
        return [
            _with_value(race, is_same_value=same)
            for same in (False, True)
            for race in self._races(access, "write after write", found & (kept == same), writer, 0)
        ]


def _with_value(race: Race, *, is_same_value: bool) -> Race:
    parts = (race.hazard, race.memory, race.first, race.second, race.cells, race.first_threads, race.second_threads)
    return Race(*parts, race.is_same_warp, is_same_value)


class Barriers:
    """How often the threads of each block, and of each warp, met at a barrier."""

    def __init__(self, lanes: Lanes) -> None:
        self.of_block = np.zeros(lanes.block_count, np.int32)
        self.of_warp = np.zeros(lanes.block_count * lanes.grid.warp_count, np.int32)

    def meet(self, blocks: Bools) -> None:
        """Let the threads of some blocks of the batch meet."""
        self.of_block[blocks] += 1

    def meet_in_warps(self, warps: Array) -> None:
        """Let the lanes of some warps of the batch meet."""
        self.of_warp[warps] += 1

    def before(self, lanes: Lanes, chosen: "Bools | slice") -> tuple[Array, Array]:
        """Return of some lanes how many barriers of their block, and of their warp, are behind them."""
        return self.of_block[lanes.block_in_batch[chosen]], self.of_warp[lanes.warp[chosen]]
