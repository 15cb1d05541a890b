"""All warps of a block at once, from barrier to barrier: several times as fast as one after the other.

Where nothing races, what warps do between two barriers is the same in any order, and so is what stands in memory when
all have met. How many statements each of them has run is counted: positions are those of warps that run in order.
"""

from typing import Final

import numpy as np

from relax_core.diagnostics import RunError
from relax_core.inside.threads.block import BlockRun, Kept, is_step
from relax_core.ir.node import preorder
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import Stmt
from relax_core.simt.findings import Findings
from relax_core.simt.lanes import WARP, Mask
from relax_core.simt.statements import meets
from relax_core.simt.units.atomics import ATOMICS
from relax_core.simt.units.copies import COMMITS, COPIES, WAITS
from relax_core.simt.units.matrices import FRAGMENTS

MOST: Final = 1 << 13
"""So many statements between two barriers are run at once: one by one they take a second."""
_HELD: Final = (*COPIES, *COMMITS, *WAITS, *FRAGMENTS)
"""What they begin is held by single warps."""


def goes_together(body: Stmt) -> bool:
    """Tell whether the warps of a launch may run at once, as far as its text says.

    What an atomic operation finds depends on which warp comes first.
    """
    names = {node.name for node in preorder(body) if isinstance(node, Intrinsic)}
    return not names & {*ATOMICS, *_HELD}


class Lockstep:
    """A block whose warps have all met, or have not begun."""

    def __init__(self, run: BlockRun, kept: Kept) -> None:
        """Go on from a copy that was made where all had met."""
        run.restore_whole(kept)
        self._run = run

    @property
    def clock(self) -> int:
        """How many statements have run."""
        return self._run.clock

    @property
    def is_ended(self) -> bool:
        """Tell whether the block has ended."""
        return not self._run.whole.frames

    def kept(self) -> Kept:
        """Return a copy to go on from."""
        return self._run.kept_whole()

    def to_barrier(self) -> bool:
        """Go behind the next barrier, or to the end; tell whether the order of the warps makes no difference."""
        launch, touches = self._run.launch, self._run.touches
        findings, launch.findings = launch.findings, Findings()
        touches.steps = np.zeros(self._run.grid.warp_count, np.int64)
        try:
            return self._runs_to_barrier() and not len(launch.findings)
        except RunError as error:
            if any(item.code == "VM008" for item in error.diagnostics):
                raise
            return False
        finally:
            launch.findings, touches.steps = findings, None

    def _runs_to_barrier(self) -> bool:
        run, whole, touches = self._run, self._run.whole, self._run.touches
        start, steps = run.clock, touches.steps
        assert steps is not None
        while whole.frames:
            part = whole.following()
            if part is None:
                continue
            node, mask = part
            if is_step(node):
                steps += self._warps(mask)
            if meets(node):
                if mask is not None:
                    return False
                self._meet(start)
                touches.steps, touches.clock = None, run.clock - 1
                whole.begin(node, mask)
                return True
            whole.begin(node, mask)
            if steps.sum() > MOST:
                return False
        whole.expressions.accesses.flush()
        self._meet(start)
        return True

    def _meet(self, start: int) -> None:
        steps = self._run.touches.steps
        assert steps is not None
        ordered = steps if self._run.order == "forward" else steps[::-1]
        before = np.cumsum(ordered) - ordered
        self._run.touches.meet(start, before if self._run.order == "forward" else before[::-1])
        self._run.clock = start + int(steps.sum())

    def _warps(self, mask: Mask) -> "np.ndarray[tuple[int], np.dtype[np.bool_]] | int":
        """Return which warps have a lane that takes part."""
        return 1 if mask is None else np.logical_or.reduceat(mask, np.arange(0, len(mask), WARP))
