"""How often each element of memory was touched in a block, and by which statement last."""

import numpy as np

from relax_core.ir.node import Node
from relax_core.ops.kernels.numbers import Plain, is_array
from relax_core.simt.lanes import WARP, Array, Lanes, Mask
from relax_core.simt.memory import Memory, View
from relax_core.simt.traffic import Traffic, Way
from relax_core.simt.values import lanes_first


class Touches(Traffic):
    """How often each element of memory was touched, and by which statement last."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = 0
        self.of: dict[Memory, tuple[Array, Array]] = {}
        """For each cell the count, and the number of the last statement, -1 for none."""
        self.steps: Array | None = None
        """Of each warp how many statements it has run since they met; `None` where one warp runs at a time."""
        self._waiting: list[tuple[Array, Array, Array, Array]] = []

    def note(self, view: View, at: Plain, access: tuple[Node, Way], mask: Mask, lanes: Lanes) -> None:
        """Count an access."""
        counts, last = self.cells_of(view.memory)
        cells = np.asarray(at) if mask is None and is_array(at) and len(at) == lanes.count else (
            lanes_first(at, lanes.count)[lanes.full(mask)]
        )  # fmt: skip
        cells = cells.reshape(len(cells), -1)
        per_element = view.dtype.itemsize // view.memory.cell_bytes
        if per_element > 1:
            cells = (cells[:, :, None] * per_element + np.arange(per_element)).reshape(len(cells), -1)
        np.add.at(counts, cells, 1)
        if self.steps is None:
            last[cells] = self.clock
        else:
            warps = (lanes.inside if mask is None else lanes.inside[mask]) // WARP
            self._waiting.append((last, cells, warps, self.steps[warps]))

    def meet(self, start: int, before: Array) -> None:
        """Number the statements that touched something since `start`, where all warps met.

        Args:
            start: how many statements had run then.
            before: of each warp, how many of the others run in front of its first one.
        """
        for last, cells, warps, steps in self._waiting:
            # What comes in front of the first statement of a warp is done by the one before.
            numbers = np.where(steps > 0, start + before[warps] + steps - 1, start - 1)
            np.maximum.at(last, cells, numbers[:, None].astype(last.dtype))
        self._waiting.clear()

    def cells_of(self, memory: Memory) -> tuple[Array, Array]:
        """Return the counts and the last statements of a memory."""
        if memory not in self.of:
            cells = len(memory.written)
            self.of[memory] = np.zeros(cells, np.int32), np.full(cells, -1, np.int32)
        return self.of[memory]
