"""Presents memory of a launch as grids: what it holds, who wrote each element, how often and when it was touched."""

from typing import Any, Final

import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.threads.looking import Root, owners_of, roots_of, touches_of, values_of
from relax_core.inside.threads.stepper import ThreadStepper
from relax_core.present.running.inside import shown
from relax_core.present.running.inside_heat import STEPS, Array, Asked, Grid, levels_of, window_of
from relax_core.present.running.inside_models import HeatView
from relax_core.simt.lanes import WARP

UNDEFINED: Final = "?"


def present_memory(stepper: ThreadStepper, asked: Asked) -> HeatView:
    """Present a window of a memory; registers, of which only values are known, have a row for each thread.

    Raises:
        CompileError: TI004, there is no such memory, or the axes are none of it.
    """
    stepper.move_to(asked.clock)
    roots = roots_of(stepper.run)
    root = next((item for item in roots if item.name == asked.buffer), None)
    if root is None:
        names = ", ".join(f"`{item.name}`" for item in roots)
        raise CompileError((Diagnostic("TI004", f"there is no buffer `{asked.buffer}`", hint=f"there are {names}"),))
    return window_of(_grid(stepper, root, asked.what), asked)


def _grid(stepper: ThreadStepper, root: Root, what: str) -> Grid:
    run = stepper.run
    counts, last = touches_of(run, root)
    match what:
        case "owner" if root.memory is not None:
            owners = owners_of(run, root)
            # Warps that are neighbours have different colours.
            levels = np.where(owners < 0, 0, owners // WARP % STEPS + 1).astype(np.uint8)
            warps = min(run.grid.warp_count, STEPS)
            legend = tuple(_warps(warp, run.grid.warp_count) for warp in range(warps))
            return Grid(root.name, owners, levels, legend, _thread, counts)
        case "age" if root.memory is not None:
            levels, legend = levels_of(last, "age", stepper.clock)
            return Grid(root.name, last, levels, legend, _thread, counts)
        case "count" if root.memory is not None:
            levels, legend = levels_of(counts, "count", stepper.clock)
            return Grid(root.name, counts, levels, legend, _count, counts, int(counts.max(initial=0)))
        case _:
            return _values(stepper, root, counts)


def _values(stepper: ThreadStepper, root: Root, counts: Array) -> Grid:
    values, undefined = values_of(stepper.run, root)
    known = np.where(undefined, np.nan, values.astype(np.float64))
    levels, legend = levels_of(known, "value", stepper.clock)
    cells = np.empty(values.shape, object)
    cells[...] = values
    cells[undefined] = None
    return Grid(root.name, cells, levels, legend, _value, counts)


def _warps(warp: int, count: int) -> str:
    return f"warp {warp}" + (f", {warp + STEPS}, ..." if warp + STEPS < count else "")


def _thread(item: Any) -> str:
    return "" if item < 0 else str(item)


def _count(item: Any) -> str:
    return str(item) if item else ""


def _value(item: Any) -> str:
    return UNDEFINED if item is None else shown(item, 3)
