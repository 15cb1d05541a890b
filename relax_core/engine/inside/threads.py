"""A run through the threads of a launch with all that is asked about it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.requests import HeatOf, ThreadsOf
from relax_core.inside.threads.conditions import Condition
from relax_core.inside.threads.moves import move_threads
from relax_core.inside.threads.stepper import ThreadStepper
from relax_core.ir.module import IRModule
from relax_core.present.running.inside import LARGEST_WINDOW, Listing, shown
from relax_core.present.running.inside_models import HeatView, InsideView, LaunchReport
from relax_core.present.running.threads.heat import present_memory
from relax_core.present.running.threads.here import Presenter
from relax_core.present.running.threads.report import present_launches
from relax_core.simt.kernels import count_accesses, launch_of
from relax_core.simt.lanes import WARP
from relax_core.simt.roofline import Machine


@dataclass(frozen=True, slots=True, eq=False)
class ThreadWalk:
    """A run through the threads of a block, and its text."""

    stepper: ThreadStepper
    listing: Listing
    module: IRModule
    entry: str
    args: tuple[Any, ...]

    def look(
        self, clock: int, moves: tuple[str, ...], window: int, chosen: ThreadsOf, watches: tuple[str, ...] = ()
    ) -> InsideView:
        """Go before statement `clock`, make the moves while they find what they look for, and present what is there.

        Raises:
            CompileError: a move is none, or names what there is not.
        """
        begun = perf_counter()
        self.stepper.move_to(clock)
        is_found = all(move_threads(self.stepper, item, chosen.thread) for item in moves)
        seconds = perf_counter() - begun
        presenter = Presenter(self.stepper, self.listing, chosen.thread, order_words(chosen), chosen.launch)
        view = presenter.view(is_found=is_found, seconds=seconds)
        if watches:
            watched = tuple((text, self._watched(text, view)) for text in watches)
            view = msgspec.structs.replace(view, watched=watched)
        return presenter.with_window(view, min(window, LARGEST_WINDOW)) if window else view

    def _watched(self, text: str, view: InsideView) -> str:
        """Return the value of an expression in the thread that is shown."""
        run = self.stepper.run
        lane = 0 if view.threads is None else view.threads.here.shown % WARP
        found = Condition(run, self.stepper.start.body, text).value(run, lane)
        return "-" if found is None else shown(found)

    def report(self, machine: Machine, is_cancelled: Callable[[], bool] = lambda: False) -> LaunchReport:
        """Count what all launches of the kernel do to memory, in all of their blocks; the position stays.

        Raises:
            RunError: GP010 for what is not simulated, VM008 if it was cancelled.
        """
        counted = count_accesses(self.module, self.entry, self.args, is_cancelled)
        return present_launches(self.entry, counted, self.listing, machine)

    def heat(self, asked: HeatOf) -> HeatView:
        """Show a window of a memory."""
        return present_memory(self.stepper, asked)


def thread_walk(module: IRModule, name: str, args: tuple[Any, ...], chosen: ThreadsOf, listing: Listing) -> ThreadWalk:
    """Begin a run through the threads of a block, and follow it to its end if that does not take long.

    Raises:
        DiagnosedError: there is no such launch, or something in it is not simulated.
    """
    start = launch_of(module, name, args, chosen.launch)
    stepper = ThreadStepper(start, chosen.block, chosen.order, chosen.seed if chosen.seed >= 0 else None)
    if not 0 <= chosen.thread < start.grid.thread_count:
        message = f"there is no thread {chosen.thread}: a block has {start.grid.thread_count:,}"
        raise CompileError((Diagnostic("TI004", message, start.function.span),))
    stepper.explore()
    return ThreadWalk(stepper, listing, module, name, args)


def order_words(chosen: ThreadsOf) -> str:
    """Name the order in which warps go on."""
    return f"seed {chosen.seed}" if chosen.seed >= 0 else chosen.order
