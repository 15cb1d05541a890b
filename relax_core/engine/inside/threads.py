"""A run through the threads of a launch with all that is asked about it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.requests import HeatOf, ThreadsOf
from relax_core.inside.threads.conditions import Condition
from relax_core.inside.threads.moves import move_threads
from relax_core.inside.threads.stepper import ThreadStepper
from relax_core.ir.module import IRModule
from relax_core.present.running.inside import LARGEST_WINDOW, Listing, with_watches
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
        if window:
            view = presenter.with_window(view, min(window, LARGEST_WINDOW))
        if watches:
            view = with_watches(view, self.stepper, watches, lambda text: self.value_of(text, chosen.thread))
        return view

    def value_of(self, text: str, thread: int) -> Any:
        """Return the value of an expression in a thread if it takes part here, else in the first that does.

        It is `None` where one of its names says nothing.

        Raises:
            CompileError: VM030, VM031: it cannot be read, or names what there is not.
        """
        run = self.stepper.run
        condition = Condition(run, self.stepper.start.body, text)
        warp = run.running
        if warp is None or warp.next is None:
            return None
        active = np.flatnonzero(warp.state.lanes.full(warp.next[1]))
        is_own = thread // WARP == warp.number and thread % WARP in active
        return condition.value(run, thread % WARP if is_own else int(active[0]))

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
