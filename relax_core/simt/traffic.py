"""What accesses cost on a GPU: conflicts of banks in shared memory, sectors in global memory.

Counted for the warps of the first block of a launch, in the first instances of each access. Shared memory has 32 banks
of 4 bytes: lanes that want different words of one bank wait for each other, 8 bytes in half warps and 16 in quarters.
Global memory moves in sectors of 32 bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from relax_core.analysis.cost.float_operations import operations_in
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr
from relax_core.ops.kernels.numbers import Plain, is_array
from relax_core.simt.lanes import WARP, Array, Lanes, Mask
from relax_core.simt.memory import Memory, View
from relax_core.simt.values import lanes_first

Figures = TypeVar("Figures")
Way: TypeAlias = Literal["load", "store"]
BANKS: Final = 32
BANK_BYTES: Final = 4
SECTOR_BYTES: Final = 32
_INSTANCES: Final = 32


@dataclass(slots=True, eq=False)
class AccessCost:
    """The figures of one access in the program, over the instances that were counted."""

    node: Node
    way: Way
    kind: str
    """"shared" or "global"."""
    instances: int = 0
    warps: int = 0
    parts: int = 0
    """Groups of lanes that are served at once: of shared memory."""
    degrees: int = 0
    """Of shared memory: how often the banks were asked, in all groups together."""
    worst: int = 0
    """The largest number of different words that a group wanted of one bank."""
    sectors: int = 0
    """Of global memory: sectors that were moved, in all warps together."""
    ideal_sectors: int = 0
    """How many would do if the bytes that a warp asks for were neighbours."""
    wanted_bytes: int = 0
    elements: int = 0
    """How many all lanes of all blocks touched."""
    element_bytes: int = 0
    memory: Memory | None = None
    """Where it goes; of shared memory that of the first blocks."""
    marks: Array | None = None
    """Which cells it touched, of shared memory in any block; `None` if that was not looked at."""

    @property
    def footprint_bytes(self) -> int:
        """How many different bytes it touched; of shared memory one block has them."""
        if self.marks is None or self.memory is None:
            return 0
        return int(np.count_nonzero(self.marks)) * self.memory.cell_bytes

    @property
    def moved_bytes(self) -> float:
        """What moves for it: whole sectors of global memory, or bytes of shared memory as often as banks are asked."""
        size = self.elements * self.element_bytes
        if self.kind == "shared":
            return size * (self.degrees / self.parts if self.parts else 1)
        return size / self.efficiency

    @property
    def efficiency(self) -> float:
        """Which part of the bytes in the sectors that were moved was asked for, from 0 to 1."""
        return self.wanted_bytes / (SECTOR_BYTES * self.sectors) if self.sectors else 1.0


class Traffic:
    """The costs of the accesses of a launch."""

    def __init__(self, *, is_of_first: bool = True, is_marked: bool = False) -> None:
        """Count in the first block of a launch, or in any; with `is_marked` mark which cells are touched."""
        self._is_of_first = is_of_first
        self._is_marked = is_marked
        self.rows: dict[tuple[Node, Way], AccessCost] = {}
        self.operations = 0
        """On floats, by all lanes."""
        self._operations_in: dict[PrimExpr, int] = {}
        self._banks = _Counted(BANK_BYTES, _banks_of)
        self._sectors = _Counted(SECTOR_BYTES, _sectors_of)

    def note(self, view: View, at: Plain, access: tuple[Node, Way], mask: Mask, lanes: Lanes) -> None:
        """Count an access; `at` are the elements, numbered through the copies of a memory."""
        row = self.rows.get(access)
        if row is None:
            row = self.rows[access] = AccessCost(
                *access, view.memory.kind, element_bytes=view.dtype.itemsize, memory=view.memory
            )
        each = at.shape[1] if is_array(at) and at.ndim == 2 else 1
        row.elements += each * (lanes.count if mask is None else int(np.count_nonzero(mask)))
        if self._is_marked:
            _mark(row, view, at, mask, lanes)
        if (lanes.first and self._is_of_first) or row.instances >= _INSTANCES:
            return
        count = min(lanes.grid.thread_count, lanes.count)
        active = np.flatnonzero(lanes.full(mask)[:count])
        if not len(active):
            return
        row.instances += 1
        size = view.dtype.itemsize
        elements = np.asarray(at)
        rows = (
            elements[active]
            if is_array(at) and len(elements) == lanes.count
            else np.repeat(elements[None], len(active), 0)
        )
        addresses = rows.reshape(len(active), -1).astype(np.int64) * size
        for column, width in _columns(addresses, size):
            if view.memory.kind == "shared":
                parts, degrees, worst = self._banks.of(column, width, active)
                row.parts += parts
                row.degrees += degrees
                row.worst = max(row.worst, worst)
            else:
                sectors, warps, ideal, wanted = self._sectors.of(column, width, active)
                row.sectors += sectors
                row.warps += warps
                row.ideal_sectors += ideal
                row.wanted_bytes += wanted

    def compute(self, expr: PrimExpr, mask: Mask, lanes: Lanes) -> None:
        """Count the operations of an expression in the lanes of `mask`."""
        each = self._operations_in.get(expr)
        if each is None:
            each = self._operations_in[expr] = operations_in(expr)
        if each:
            self.operations += each * (lanes.count if mask is None else int(np.count_nonzero(mask)))

    def costs(self) -> tuple[AccessCost, ...]:
        """Return the accesses that were counted, in the order in which they came first."""
        return tuple(item for item in self.rows.values() if item.instances)


def _mark(row: AccessCost, view: View, at: Plain, mask: Mask, lanes: Lanes) -> None:
    cell_count = view.memory.bytes_each // view.memory.cell_bytes
    if row.marks is None:
        row.marks = np.zeros(cell_count, np.bool_)
    per_element = view.dtype.itemsize // view.memory.cell_bytes
    elements = np.asarray(at) if mask is None else lanes_first(at, lanes.count)[mask]
    first = elements.reshape(-1) * per_element % cell_count
    for part in range(per_element):
        row.marks[first + part] = True


def _columns(addresses: Array, size: int) -> list[tuple[Array, int]]:
    """Return the accesses of a vector: one if its elements are neighbours, else one for each."""
    width = addresses.shape[1]
    is_whole = bool((np.diff(addresses, axis=1) == size).all()) and width * size in (2, 4, 8, 16)
    if is_whole:
        return [(addresses[:, 0], width * size)]
    return [(addresses[:, at], size) for at in range(width)]


class _Counted(Generic[Figures]):
    """Figures of accesses that stay as they are where all addresses move by `unit` bytes: counted once for each shape.

    Moved by a word all lanes take other banks, as many of them each; moved by a sector they take as many sectors.
    """

    def __init__(self, unit: int, count: Callable[[Array, int, Array], Figures]) -> None:
        self._unit = unit
        self._count = count
        self._known: dict[tuple[int, bytes, bytes], Figures] = {}

    def of(self, addresses: Array, width: int, active: Array) -> Figures:
        """Return the figures of an access of `width` bytes each by the lanes `active`."""
        moved = addresses - addresses[0] // self._unit * self._unit
        key = width, active.tobytes(), moved.tobytes()
        if key not in self._known:
            self._known[key] = self._count(moved, width, active)
        return self._known[key]


def _banks_of(addresses: Array, width: int, active: Array) -> tuple[int, int, int]:
    """Return how many groups of lanes there are, how often they ask the banks together, and the most one asks one."""
    group = active // max(1, WARP * BANK_BYTES // max(width, BANK_BYTES))
    words = addresses[:, None] // BANK_BYTES + np.arange(max(1, width // BANK_BYTES))
    groups, words = _distinct(np.broadcast_to(group[:, None], words.shape).reshape(-1), words.reshape(-1))
    counts = np.bincount(groups * BANKS + words % BANKS)
    degrees = np.pad(counts, (0, -len(counts) % BANKS)).reshape(-1, BANKS).max(axis=1)
    return int((degrees > 0).sum()), int(degrees.sum()), int(degrees.max())


def _sectors_of(addresses: Array, width: int, active: Array) -> tuple[int, int, int, int]:
    """Return how many sectors are moved, for how many warps, how many would do, and the bytes that are asked for."""
    warps, ends = active // WARP, addresses + width - 1
    sectors = np.concatenate([addresses, ends]) // SECTOR_BYTES
    moved = len(_distinct(np.concatenate([warps, warps]), sectors)[0])
    asked, _ = _distinct(warps, addresses)
    bytes_of_warp = np.bincount(asked) * width
    ideal = int((-(-bytes_of_warp // SECTOR_BYTES)).sum())
    return moved, len(np.unique(warps)), ideal, int(bytes_of_warp.sum())


def _distinct(groups: Array, places: Array) -> tuple[Array, Array]:
    """Return the different pairs of a group and a place in it, in order."""
    least = int(places.min())
    span = int(places.max()) - least + 1
    # One number for each pair: NumPy sorts numbers many times faster than columns.
    pairs = np.unique(groups * span + (places - least))
    return pairs // span, pairs % span + least
