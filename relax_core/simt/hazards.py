"""Races: two accesses of a cell by different threads, at least one a write, with no barrier between them.

What orders two threads of a block is a barrier that both reach; nothing orders threads of two blocks of a launch. Of
each cell two threads are kept that stored last, two that read, and two that changed it by an atomic operation. Reads of
memory that nothing writes until the next barrier are not looked at one by one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from relax_core.ir.node import Node
from relax_core.simt.lanes import WARP, Array, Grid, Lanes
from relax_core.simt.memory import Bools, Memory

Hazard: TypeAlias = Literal["read after write", "write after write", "write after read"]
NOBODY: Final = -1
_NOT_NEEDED, _SAME_WARP, _OTHER_WARP, _OTHER_BLOCK = -1, 0, 1, 2
"""How far apart two threads are whose accesses are not ordered; none if they are, or are those of one thread."""
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
    keeps_values: bool = False
    """Whether it stores what each cell held, as `A[i] = A[i]` does."""


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


class Accessors:
    """Of each cell the last thread that accessed it in some way, and of those before it the one farthest from that.

    An access that is not ordered with one of those that are dropped is not ordered with one of these two. Of three
    threads the first may be dropped if a barrier stands between it and the last one, and what that barrier orders is
    ordered for all that comes; or if they are one thread. If not, an access that is ordered with the last thread, by a
    barrier of their warp or of their block or as one thread, is not ordered with the farther one of the two before.
    """

    def __init__(self, count: int, grid: Grid) -> None:
        self._grid = grid
        self.threads = np.full((2, count), NOBODY, np.int64)
        self._facts = np.zeros((2, 3, count), np.int32)
        """The barrier before each, the barrier of its warp, its place in the program."""
        self.count = 0
        """How many of the two places are in use."""

    def copied(self) -> tuple[Array, ...]:
        """Return what is known, to come back to."""
        return self.threads.copy(), self._facts.copy(), np.asarray(self.count)

    def restore(self, kept: tuple[Array, ...]) -> None:
        """Know what was known before."""
        self.threads[:], self._facts[:] = kept[:2]
        self.count = int(kept[2])

    def places(self, place: int, cells: Array) -> Array:
        """Return the numbers of the places in the program that accessed cells."""
        return self._facts[place, 2, cells]

    def is_recent(self, access: Access, place: int) -> Bools:
        """Tell in which cells no barrier orders the access with the one that is known, of the same thread or not."""
        here, there = access.thread, self.threads[place, access.cells]
        found = there != NOBODY
        if not found.any():
            return found
        barrier, warp_barrier, _ = self._facts[place][:, access.cells]
        is_behind, is_behind_in_warp = barrier != access.epoch, warp_barrier != access.warp_epoch
        if not (here == there).all():
            distance = self._distance(here, there)
            is_behind &= distance < _OTHER_BLOCK
            is_behind_in_warp &= distance < _OTHER_WARP
        return found & ~(is_behind | is_behind_in_warp)

    def meets(self, access: Access, place: int) -> Bools:
        """Tell in which cells the access and that of another thread are not ordered."""
        return self.is_recent(access, place) & (self.threads[place, access.cells] != access.thread)

    def _distance(self, here: Array, there: Array) -> Array:
        threads = self._grid.thread_count
        is_same_block = here // threads == there // threads
        is_same_warp = is_same_block & (here % threads // WARP == there % threads // WARP)
        return np.where(is_same_warp, _SAME_WARP, np.where(is_same_block, _OTHER_WARP, _OTHER_BLOCK))

    def note(self, access: Access, number: int) -> None:
        """Keep who accesses cells, at place `number` in the program."""
        cells = access.cells
        if self.count and (self.threads[0, cells] != access.thread).any():
            self._move(access)
        self._put(0, access, slice(None), number)
        self.count = max(self.count, 1)
        last = self.threads[0, cells]
        if (last != access.thread).any():
            self._note_others(access, last, number)

    def _move(self, access: Access) -> None:
        """Put who accessed cells last in the second place, if it is farther from the access than who is there."""
        cells = access.cells
        distances = [
            np.where(self.meets(access, place), self._distance(access.thread, self.threads[place, cells]), _NOT_NEEDED)
            for place in range(self.count)
        ]
        moves = (distances[0] > _NOT_NEEDED) & (distances[0] >= distances[-1])
        if moves.any():
            moved = cells[moves]
            self.threads[1, moved], self._facts[1][:, moved] = self.threads[0, moved], self._facts[0][:, moved]
            self.count = 2

    def _note_others(self, access: Access, last: Array, number: int) -> None:
        """Of lanes that access one cell at once one has the first place: give the farthest other one the second."""
        known = self.threads[1, access.cells]
        is_needed = (known != last) & self.is_recent(access, 1)
        farthest = np.where(is_needed, self._distance(last, known), _NOT_NEEDED)
        distance = np.where(access.thread != last, self._distance(last, access.thread), _NOT_NEEDED)
        for level in (_SAME_WARP, _OTHER_WARP, _OTHER_BLOCK):
            self._put(1, access, (distance == level) & (farthest <= level), number)
        self.count = 2

    def _put(self, place: int, access: Access, at: "Bools | slice", number: int) -> None:
        cells, facts = access.cells[at], self._facts[place]
        self.threads[place, cells] = access.thread[at]
        facts[0, cells], facts[1, cells], facts[2, cells] = access.epoch[at], access.warp_epoch[at], number


class Shadow:
    """Who accessed the cells of a memory last."""

    def __init__(self, memory: Memory, grid: Grid, nodes: list[Node]) -> None:
        count = len(memory.written)
        self._memory = memory
        self._grid = grid
        self._nodes = nodes
        """The places in the program, by number."""
        self._number_of: dict[Node, int] = {}
        self.writers = np.full(count, NOBODY, np.int64)
        """The thread that wrote each cell last, numbered through all blocks; `NOBODY` if none did."""
        self._stores, self._atomics, self._reads = (Accessors(count, grid) for _ in range(3))
        self._is_changing = np.zeros(count, np.bool_)
        """Which cells were stored different values since a barrier, though perhaps by one thread."""
        self._is_changed = np.zeros(count, np.bool_)
        """Which cells were stored anything but their own value since a barrier."""
        self._waiting: list[Callable[[], Access]] = []
        self._waiting_count = 0
        self.is_written = False
        """Whether a write came since the last barrier of all."""

    def copied(self) -> tuple[Array, ...]:
        """Return what is known of each cell, to come back to; no read may wait."""
        own = (self.writers.copy(), self._is_changing.copy(), self._is_changed.copy(), np.asarray(self.is_written))
        return *own, *self._stores.copied(), *self._atomics.copied(), *self._reads.copied()

    def restore(self, kept: tuple[Array, ...]) -> None:
        """Know what was known before."""
        self.forget_reads()
        self.writers[:], self._is_changing[:], self._is_changed[:] = kept[:3]
        self.is_written = bool(kept[3])
        for at, accessors in enumerate((self._stores, self._atomics, self._reads)):
            accessors.restore(kept[4 + 3 * at : 7 + 3 * at])

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

    def _met(self, access: Access, hazard: Hazard, accessors: Accessors) -> list[Race]:
        """Return the races with those who accessed the cells in one way."""
        return [
            race
            for place in range(accessors.count)
            for race in self._races(access, hazard, accessors.meets(access, place), (accessors, place))
        ]

    def _races(self, access: Access, hazard: Hazard, found: Bools, of: tuple[Accessors, int]) -> list[Race]:
        if not found.any():
            return []
        accessors, place = of
        cells, here = access.cells[found], access.thread[found]
        there, nodes = accessors.threads[place, cells], accessors.places(place, cells)
        races: list[Race] = []
        numbers: list[int] = np.unique(nodes).tolist()
        for number in numbers:
            at = nodes == number
            races.append(self._race(access, hazard, self._nodes[number], (cells[at], there[at], here[at])))
        return races

    def _race(self, access: Access, hazard: Hazard, first: Node, of: tuple[Array, Array, Array]) -> Race:
        cells, there, here = of
        threads = self._grid.thread_count
        blocks = here // threads == there // threads
        is_same_warp = bool((blocks & (here % threads // WARP == there % threads // WARP)).all())
        return Race(hazard, self._memory, first, access.node, cells, there, here, is_same_warp, is_same_value=False)

    def _read(self, access: Access) -> list[Race]:
        # Who stored the only value there is reads that, though another thread stored it too: the last one counts.
        found = self._stores.meets(access, 0)
        races = self._by_value(access, "read after write", found, (self._stores, 0)) if found.any() else []
        races += self._met(access, "read after write", self._atomics)
        self._reads.note(access, self._number(access.node))
        return races

    def write(self, access: Access, is_same: Callable[[], Bools]) -> list[Race]:
        """Look at a write; `is_same` tells of each cell whether it holds what is written."""
        races = self.flushed()
        self.is_written = True
        if access.is_atomic:
            races += self._met(access, "write after write", self._stores)
        else:
            races += self._stored(access, is_same)
            races += self._met(access, "write after write", self._atomics)
        for place in range(self._reads.count):
            races += self._by_value(access, "write after read", self._reads.meets(access, place), (self._reads, place))
        (self._atomics if access.is_atomic else self._stores).note(access, self._number(access.node))
        self.writers[access.cells] = access.thread
        return races

    def _stored(self, access: Access, is_same: Callable[[], Bools]) -> list[Race]:
        """Return the races of a store with those before it: equal values are harmless if there was no other one."""
        cells, stores = access.cells, self._stores
        recent = [stores.is_recent(access, place) for place in range(stores.count)]
        is_recent = np.logical_or.reduce(recent) if recent else np.zeros(len(cells), np.bool_)
        self._is_changed[cells] = is_recent & self._is_changed[cells] if access.keeps_values else True
        if not is_recent.any():
            self._is_changing[cells] = False
            return []
        is_changing = is_recent & (self._is_changing[cells] | ~is_same())
        self._is_changing[cells] = is_changing
        races: list[Race] = []
        for place, found in enumerate(recent):
            others = found & (stores.threads[place, cells] != access.thread)
            races += self._of_stores(access, others, ~is_changing, place)
        return races

    def clash(self, access: Access, is_same: Callable[[], Bools]) -> list[Race]:
        """Find lanes that wrote one cell at once, behind `write`; `is_same` tells whether the cell kept their value."""
        if access.is_atomic:
            return []
        others = self._stores.threads[0, access.cells] != access.thread
        return self._of_stores(access, others, is_same(), 0) if others.any() else []

    def _by_value(self, access: Access, hazard: Hazard, found: Bools, of: tuple[Accessors, int]) -> list[Race]:
        """Return the races of a read and stores: a cell that was stored its own value alone has that all the time."""
        if access.is_atomic:
            return self._races(access, hazard, found, of)
        return self._split(access, hazard, (found, ~self._is_changed[access.cells]), of)

    def _of_stores(self, access: Access, found: Bools, kept: Bools, place: int) -> list[Race]:
        """Return the races of two stores."""
        return self._split(access, "write after write", (found, kept), (self._stores, place))

    def _split(
        self, access: Access, hazard: Hazard, where: tuple[Bools, Bools], of: tuple[Accessors, int]
    ) -> list[Race]:
        """Return races where they are found: those that change a value, and those that keep it."""
        found, kept = where
        return [
            _with_value(race, is_same_value=same)
            for same in (False, True)
            for race in self._races(access, hazard, found & (kept == same), of)
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
