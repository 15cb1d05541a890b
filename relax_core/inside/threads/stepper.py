"""Positions in the run of a block: how many statements its warps have run, forwards and backwards.

The run is the same each time: a position is come to from the nearest copy behind it.
"""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Final, TypeAlias

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.inside.threads.block import BlockRun, Kept, Order
from relax_core.inside.threads.lockstep import Lockstep, goes_together
from relax_core.simt.kernels import LaunchStart

SPACING: Final = 1 << 10
"""Statements between copies; they are thinned out where they would take more than COPIES_BYTES."""
COPIES_BYTES: Final = 1 << 27
EXPLORING_SECONDS: Final = 1.0
_QUIETLY: Final = np.errstate(all="ignore")
"""What overflows or divides by zero on a GPU says nothing."""
Wanted: TypeAlias = Callable[[BlockRun], bool]
"""Tells whether the statement that runs next is looked for."""
Excludes: TypeAlias = Callable[[Kept, Kept], bool]
"""Tells of the statements between two places where all warps met that none of them is looked for."""


class ThreadStepper:
    """A block of a launch at one of the statements that its warps run."""

    def __init__(
        self, start: LaunchStart, block: int, order: Order = "forward", seed: int | None = None, spacing: int = SPACING
    ) -> None:
        """Stop before the first statement.

        Raises:
            RunError: TI004 if there is no such block, GP010 if something in front of it is not simulated.
        """
        if not 0 <= block < start.grid.block_count:
            message = f"there is no block {block}: the launch has {start.grid.block_count:,}"
            raise RunError((Diagnostic("TI004", message, start.function.span),))
        self.start = start
        self.total: int | None = None
        """How many statements there are, if the run was followed to its end."""
        self.stopped: RunError | None = None
        """Why it goes no further than `total`."""
        self.found: dict[int, tuple[Diagnostic, ...]] = {}
        """What is wrong with what a statement does, by its number: each kind where it comes first."""
        with np.errstate(all="ignore"):
            self.run = BlockRun(start, block, order, seed)
        self._reported = 0
        self._report(0)
        self._spacing = spacing
        self._goes_together = self.run.order in ("forward", "backward") and goes_together(start.body)
        self._kept: list[Kept] = [self.run.first]

    @property
    def clock(self) -> int:
        """How many statements have run."""
        return self.run.clock

    @property
    def is_ended(self) -> bool:
        """Tell whether no statement is left, or the next one cannot be run."""
        return self.run.running is None

    @_QUIETLY
    def explore(self, seconds: float = EXPLORING_SECONDS) -> None:
        """Follow the run to its end, or for so long; the position stays."""
        here, end = self.clock, monotonic() + seconds
        self._go_together(end=end)
        if not self._goes_together:
            while monotonic() < end and self._step():
                pass
        self.move_to(here)

    @_QUIETLY
    def move_to(self, clock: int) -> None:
        """Stop before statement number `clock`, or at the end if there are fewer."""
        if clock > self._kept[-1].clock + 2 * self._spacing:
            self._go_together(until=clock)
        clock = max(clock if self.total is None else min(clock, self.total), 0)
        nearest = next(item for item in reversed(self._kept) if item.clock <= clock)
        if not nearest.clock <= self.clock <= clock:
            self.run.restore(nearest)
        while self.clock < clock and self._step():
            pass

    def _go_together(self, until: float = inf, end: float = inf) -> None:
        """Make copies up to a statement, or a moment, while nothing depends on the order of the warps.

        The position is that of the last copy then.
        """
        if not self._goes_together or self.total is not None:
            return
        together = Lockstep(self.run, self._kept[-1])
        while together.clock < until and monotonic() < end and self.total is None:
            if not together.to_barrier():
                self._goes_together = False
                break
            if together.is_ended:
                self.total = together.clock
            if together.is_ended or together.clock >= self._kept[-1].clock + self._spacing:
                self._keep(together.kept())
        self.run.restore(self._kept[-1])

    def _leave_out(self, excludes: Excludes) -> None:
        """From a copy go to a later one, if nothing that is looked for stands between them."""
        at = next((number for number, item in enumerate(self._kept) if item.clock == self.clock), None)
        if at is None or self._kept[at].whole is None:
            return
        first = at
        while True:
            if at + 1 == len(self._kept):
                self._go_together(until=self.clock + self._spacing)
            if at + 1 == len(self._kept) or not self._excludes(excludes, at):
                break
            at += 1
        if at > first or self.clock != self._kept[at].clock:
            self.run.restore(self._kept[at])

    def _excludes(self, excludes: Excludes, at: int) -> bool:
        first, second = self._kept[at : at + 2]
        return second.whole is not None and excludes(first, second)

    @_QUIETLY
    def find(self, wanted: Wanted, after: int | None = None, excludes: Excludes | None = None) -> bool:
        """Stop before the next statement that is looked for, if there is one behind this one, or behind `after`."""
        here = self.clock
        if after is not None:
            self.move_to(after + 1)
        elif not self._step():
            return False
        while self.run.running is not None:
            if excludes is not None:
                self._leave_out(excludes)
            if wanted(self.run):
                return True
            if not self._step():
                break
        self.move_to(here)
        return False

    @_QUIETLY
    def find_back(self, wanted: Wanted) -> bool:
        """Stop before the last statement that is looked for and has run, if there is one."""
        here = end = self.clock
        for kept in reversed([item for item in self._kept if item.clock < here]):
            self.run.restore(kept)
            last = -1
            while self.clock < end:
                if wanted(self.run):
                    last = self.clock
                self._step()
            if last >= 0:
                self.move_to(last)
                return True
            end = kept.clock
        self.move_to(here)
        return False

    @_QUIETLY
    def find_report(self, *, is_back: bool) -> bool:
        """Stop before the next statement, or the last one, of which something is told that is no note."""
        here = self.clock
        if is_back:
            earlier = [clock for clock in self.found if clock < here and self._is_wrong(clock)]
            if earlier:
                self.move_to(max(earlier))
            return bool(earlier)
        while True:
            # Where warps went together nothing is wrong.
            self._leave_out(lambda first, second: True)
            if not self._step():
                break
            if self.clock - 1 > here and self._is_wrong(self.clock - 1):
                self.move_to(self.clock - 1)
                return True
        self.move_to(here)
        return False

    def _is_wrong(self, clock: int) -> bool:
        return any(item.severity != "note" for item in self.found.get(clock, ()))

    def _step(self) -> bool:
        """Run the next statement, if there is one that can be run."""
        if self.run.running is None or self.clock == self.total:
            self.total = self.clock
            return False
        clock = self.clock
        try:
            self.run.step()
        except RunError as error:
            if any(item.code == "VM008" for item in error.diagnostics):
                raise
            self.stopped, self.total = error, clock
            self.run.restore(self._kept[-1])
            self.move_to(clock)
            return False
        self._report(clock)
        if self.clock >= self._kept[-1].clock + self._spacing:
            self._keep_here()
        return True

    def _report(self, clock: int) -> None:
        findings = self.run.launch.findings
        if len(findings) > self._reported:
            self.found[clock] = (*self.found.get(clock, ()), *findings.told_since(self._reported))
            self._reported = len(findings)

    def _keep_here(self) -> None:
        here = self.clock
        self._go_together(until=here)
        self.move_to(here)
        if not self._goes_together and self._kept[-1].clock < here:
            self._keep(self.run.kept())

    def _keep(self, kept: Kept) -> None:
        self._kept.append(kept)
        if sum(item.size_bytes for item in self._kept) > COPIES_BYTES and len(self._kept) > 2:
            self._spacing *= 2
            thinned = [self._kept[0]]
            for item in self._kept[1:]:
                if item.clock >= thinned[-1].clock + self._spacing:
                    thinned.append(item)
            self._kept = thinned
